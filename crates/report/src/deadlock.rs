//! Who waits for what, who holds it, and the cycles among them.

use raddle_core::{
    Action, BarrierOp, ChannelOp, CondvarOp, Effect, ObjectId, Op, ParkOp, Site, ThreadId,
    ThreadOp, Trace,
};
use raddle_results::Wait;

use crate::names::Names;

/// The headline of a deadlock.
pub(crate) fn headline(waits: &[Wait], names: &Names<'_>) -> String {
    match cycles(waits).first() {
        None => "deadlock: no thread can go on".into(),
        Some(cycle) if cycle.len() == 1 => {
            format!("deadlock: {} waits for itself", names.thread(cycle[0].wait.thread))
        }
        Some(cycle) => format!("deadlock: {} threads wait for one another", cycle.len()),
    }
}

/// The cycles, then every waiting thread.
pub(crate) fn explanation(waits: &[Wait], trace: &Trace, names: &Names<'_>) -> String {
    let mut text = String::new();
    for cycle in cycles(waits) {
        text += &drawn(&cycle, trace, names);
        text.push('\n');
    }
    for wait in waits {
        text += &waiting(wait, trace, names);
    }
    text
}

/// A thread in a cycle, and the holder of what it waits for that is next in it.
pub(crate) struct Hop<'a> {
    pub(crate) wait: &'a Wait,
    pub(crate) holder: (ThreadId, Site),
}

/// `thread 1 → mutex 2 (held by thread 2, taken at …) → thread 2 → … → thread 1`, a line for each.
fn drawn(cycle: &[Hop<'_>], trace: &Trace, names: &Names<'_>) -> String {
    let mut text = String::new();
    for (position, hop) in cycle.iter().enumerate() {
        let start = if position == 0 { "  cycle: " } else { "       → " };
        let object = names.name(hop.wait.object);
        let what = match waits_to_join(trace, hop.wait) {
            true => format!("the end of {object}"),
            false => format!("{object} ({})", holding(hop.holder, trace, names)),
        };
        text += &format!("{start}{} → {what}\n", names.thread(hop.wait.thread));
    }
    if let Some(first) = cycle.first() {
        text += &format!("       → {}\n", names.thread(first.wait.thread));
    }
    text
}

fn waiting(wait: &Wait, trace: &Trace, names: &Names<'_>) -> String {
    let what = match operation(trace, wait) {
        Some(op) => waits_for(op, names),
        None => format!("waits for {}", names.name(wait.object)),
    };
    let mut text = format!("  {} {what} at {}\n", names.thread(wait.thread), wait.site);
    if !waits_to_join(trace, wait) {
        for &holder in &wait.holders {
            text += &format!("    {}\n", holding(holder, trace, names));
        }
    }
    if let Some(step) = missed_notification(trace, wait) {
        let site = trace.events[step].site;
        text += &format!("    notified in step {}, at {site}, when nobody waited\n", step + 1);
    }
    text
}

fn holding((thread, site): (ThreadId, Site), trace: &Trace, names: &Names<'_>) -> String {
    let gone = if has_ended(trace, thread) { " and never given back: it has ended" } else { "" };
    format!("held by {}, taken at {site}{gone}", names.thread(thread))
}

fn waits_for(op: Op, names: &Names<'_>) -> String {
    let name = names.name(op.object());
    match op.action() {
        Action::Thread(ThreadOp::Join) => format!("waits for {name} to end"),
        Action::Condvar(CondvarOp::Consume { .. }) => {
            format!("waits for a notification of {name}")
        }
        Action::Barrier(BarrierOp::Leave { .. }) => format!("waits for the others at {name}"),
        Action::Once(_) => format!("waits until {name} is complete"),
        Action::Park(ParkOp::Park { .. }) => "waits to be unparked".into(),
        Action::Channel(ChannelOp::Send) => format!("waits for room in {name}"),
        Action::Channel(ChannelOp::AwaitTaken { .. }) => {
            format!("waits until its message to {name} is taken")
        }
        Action::Channel(ChannelOp::Receive { .. }) => format!("waits for a message from {name}"),
        Action::Mutex(_)
        | Action::RwLock(_)
        | Action::Thread(ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::IsFinished)
        | Action::Condvar(CondvarOp::Enqueue | CondvarOp::NotifyOne | CondvarOp::NotifyAll)
        | Action::Barrier(BarrierOp::Arrive)
        | Action::Park(ParkOp::Unpark)
        | Action::Channel(
            ChannelOp::TrySend
            | ChannelOp::TryReceive
            | ChannelOp::CloseSenders
            | ChannelOp::CloseReceiver,
        )
        | Action::Atomic(_)
        | Action::Cell(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => format!("waits for {name}"),
    }
}

fn operation(trace: &Trace, wait: &Wait) -> Option<Op> {
    trace.pending.iter().find(|pending| pending.thread == wait.thread).map(|pending| pending.op)
}

pub(crate) fn waits_to_join(trace: &Trace, wait: &Wait) -> bool {
    operation(trace, wait).is_some_and(|op| op.action() == Action::Thread(ThreadOp::Join))
}

fn has_ended(trace: &Trace, thread: ThreadId) -> bool {
    let exit = Action::Thread(ThreadOp::Exit);
    trace.events.iter().any(|event| event.id.thread == thread && event.op.action() == exit)
}

/// The last notification that came before the thread waited and so woke nobody.
fn missed_notification(trace: &Trace, wait: &Wait) -> Option<usize> {
    let consumes = match operation(trace, wait)?.action() {
        Action::Condvar(CondvarOp::Consume { .. }) => true,
        Action::Condvar(CondvarOp::Enqueue | CondvarOp::NotifyOne | CondvarOp::NotifyAll)
        | Action::Thread(_)
        | Action::Atomic(_)
        | Action::Cell(_)
        | Action::Mutex(_)
        | Action::RwLock(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => false,
    };
    let enqueue = trace.events.iter().rposition(|event| {
        event.id.thread == wait.thread && event.op.action() == Action::Condvar(CondvarOp::Enqueue)
    })?;
    let missed = |object: ObjectId| {
        trace.events[..enqueue].iter().rposition(|event| {
            let notifies = event.op.action() == Action::Condvar(CondvarOp::NotifyOne)
                || event.op.action() == Action::Condvar(CondvarOp::NotifyAll);
            notifies && event.op.object() == object && event.effect == Effect::No
        })
    };
    if consumes { missed(wait.object) } else { None }
}

/// Cycles that together have every thread that is in one.
pub(crate) fn cycles(waits: &[Wait]) -> Vec<Vec<Hop<'_>>> {
    let mut cycles: Vec<Vec<Hop<'_>>> = Vec::new();
    for wait in waits.iter().filter(|wait| wait.in_cycle) {
        let drawn = cycles.iter().flatten().any(|hop| hop.wait.thread == wait.thread);
        if !drawn {
            let mut path = Vec::new();
            if leads_to(waits, wait, wait.thread, &mut Vec::new(), &mut path) {
                cycles.push(path);
            }
        }
    }
    cycles
}

/// Whether following holders from `wait` leads to `goal`; `path` then has the way.
fn leads_to<'a>(
    waits: &'a [Wait],
    wait: &'a Wait,
    goal: ThreadId,
    seen: &mut Vec<ThreadId>,
    path: &mut Vec<Hop<'a>>,
) -> bool {
    for &holder in &wait.holders {
        path.push(Hop { wait, holder });
        if holder.0 == goal {
            return true;
        }
        if !seen.contains(&holder.0) {
            seen.push(holder.0);
            let next = waits.iter().find(|next| next.thread == holder.0);
            if next.is_some_and(|next| leads_to(waits, next, goal, seen, path)) {
                return true;
            }
        }
        path.pop();
    }
    false
}
