//! Findings and warnings, with what the execution says about them.

use raddle_analysis::{Missed, Repetition, Wakeups, Words, cycles};
use raddle_core::{ObjectId, Panic, PlainAccess, Trace};
use raddle_results::document::{
    Access, Finding, Freed, Holder, Hop, LeakKind, LockOrder, Looked, Notification, Place,
    Repeated, Wait, WaitLoop, WarningKind,
};
use raddle_results::{self as results, Leak};

use super::stack::{program_frames, program_place};

/// The maximal number of repeated operations in a document.
const MAX_REPEATED: usize = 5;

pub(super) fn finding(finding: &results::Finding, trace: &Trace, words: &Words<'_>) -> Finding {
    match finding {
        results::Finding::Panic(Panic { thread, message, place, backtrace }) => Finding::Panic {
            thread: thread.0,
            message: message.clone(),
            place: place.clone(),
            backtrace: backtrace.clone(),
        },
        results::Finding::Deadlock(waits) => {
            let hop =
                |hop: &raddle_analysis::Hop| Hop { thread: hop.thread.0, holder: hop.holder.0 };
            let cycle = |cycle: &Vec<raddle_analysis::Hop>| cycle.iter().map(hop).collect();
            Finding::Deadlock {
                waits: waits.iter().map(|blocked| wait(blocked, trace, words)).collect(),
                cycles: cycles(waits).iter().map(cycle).collect(),
            }
        }
        results::Finding::WaitsForever { loops, waits } => Finding::WaitsForever {
            loops: loops.iter().map(|one| wait_loop(one, trace, words)).collect(),
            waits: waits.iter().map(|blocked| wait(blocked, trace, words)).collect(),
        },
        results::Finding::Race { first, second } => {
            Finding::Race { first: access(first, trace), second: access(second, trace) }
        }
        results::Finding::UseAfterFree { freed: end, access: used, is_late, stack } => {
            let mut used = access(used, trace);
            if *is_late {
                used.step = None;
            }
            Finding::UseAfterFree {
                freed: freed(end),
                access: used,
                is_late: *is_late,
                stack: stack.as_deref().map(program_frames),
            }
        }
        results::Finding::FreedTwice { first, second } => {
            Finding::FreedTwice { first: freed(first), second: freed(second) }
        }
        results::Finding::ReadTwice { thread, object, first, second, writer, written } => {
            Finding::ReadTwice {
                thread: thread.0,
                object: object.0,
                first: (*first).into(),
                second: (*second).into(),
                writer: writer.0,
                written: (*written).into(),
            }
        }
        results::Finding::StepLimit { steps } => {
            let Repetition { steps: recent, operations } = Repetition::of(trace);
            let shown = operations.iter().take(MAX_REPEATED);
            Finding::StepLimit {
                steps: *steps,
                recent_steps: recent as u64,
                repeated: shown.map(|operation| repeated(operation, words)).collect(),
                other_operations: operations.len().saturating_sub(MAX_REPEATED) as u64,
            }
        }
        results::Finding::Nondeterminism { at, first, second } => Finding::Nondeterminism {
            step: *at as u64 + 1,
            first: first.clone(),
            second: second.clone(),
        },
        results::Finding::Leak(left) => {
            let (what, thread, object, site, bytes) = leak(left);
            Finding::Leak { what, thread, object, site, bytes }
        }
        _ => raddle_results::new_variant(),
    }
}

pub(super) fn warning_kind(kind: &results::WarningKind) -> WarningKind {
    match kind {
        results::WarningKind::Leak(left) => {
            let (what, thread, object, site, bytes) = leak(left);
            WarningKind::Leak { what, thread, object, site, bytes }
        }
        results::WarningKind::LockOrder(orders) => {
            let order = |order: &results::LockOrder| LockOrder {
                thread: order.thread.0,
                held: order.held.0,
                taken_at: order.taken_at.into(),
                wanted: order.wanted.0,
                wanted_at: order.wanted_at.into(),
            };
            WarningKind::LockOrder { orders: orders.iter().map(order).collect() }
        }
        _ => raddle_results::new_variant(),
    }
}

fn leak(leak: &Leak) -> (LeakKind, u32, u32, Place, Option<u64>) {
    let (what, thread, object, site, bytes) = match *leak {
        Leak::Thread { thread, object, site } => (LeakKind::Thread, thread, object, site, None),
        Leak::Lock { thread, object, site } => (LeakKind::Lock, thread, object, site, None),
        Leak::Memory { thread, object, site, bytes } => {
            (LeakKind::Memory, thread, object, site, Some(bytes as u64))
        }
        _ => raddle_results::new_variant(),
    };
    (what, thread.0, object.0, site.into(), bytes)
}

fn wait(wait: &results::Wait, trace: &Trace, words: &Words<'_>) -> Wait {
    let pending = trace.pending.iter().find(|pending| pending.thread == wait.thread);
    let notification = |Missed { step, taken_by }: Missed| Notification {
        step: step as u64 + 1,
        site: trace.events[step].site.into(),
        taken_by: taken_by.map(|thread| thread.0),
    };
    Wait {
        thread: wait.thread.0,
        object: wait.object.0,
        text: pending.map_or_else(
            || format!("waits for {}", words.names.name(wait.object)),
            |pending| words.waits_for(pending.op),
        ),
        site: wait.site.into(),
        holders: wait
            .holders
            .iter()
            .map(|&(holder, taken)| Holder { thread: holder.0, taken: taken.into() })
            .collect(),
        in_cycle: wait.in_cycle,
        missed_notification: Wakeups::of(trace).missed(trace, wait).map(notification),
    }
}

fn wait_loop(one: &results::WaitLoop, trace: &Trace, words: &Words<'_>) -> WaitLoop {
    let looked = |looked: &results::Looked| Looked {
        step: looked.at as u64 + 1,
        object: (looked.object != ObjectId::NONE).then_some(looked.object.0),
        text: words.performed(looked.at),
        site: looked.site.into(),
        changed: looked.changed.map(|at| at as u64 + 1),
        changed_by: looked.changed.map(|at| trace.events[at].id.thread.0),
    };
    WaitLoop { thread: one.thread.0, looks: one.looks.iter().map(looked).collect() }
}

fn freed(freed: &results::Freed) -> Freed {
    let results::Freed { end, stack } = freed;
    Freed {
        object: end.object.0,
        thread: end.thread.0,
        after: end.after as u64,
        place: stack.as_deref().and_then(program_place),
        stack: stack.as_deref().map(program_frames),
    }
}

fn access(access: &PlainAccess, trace: &Trace) -> Access {
    let after = access.after as u64;
    Access {
        thread: access.thread.0,
        after,
        step: (!trace.plain.contains(access)).then_some(after + 1),
        object: access.object.0,
        writes: access.writes,
        site: access.site.into(),
    }
}

fn repeated(operation: &raddle_analysis::Repeated<'_>, words: &Words<'_>) -> Repeated {
    let event = operation.event;
    Repeated {
        times: operation.times,
        thread: event.id.thread.0,
        text: words.announced(event.op),
        site: event.site.into(),
    }
}
