//! What raddle does not see of a run, or does not explore.

use raddle_core::{Action, AtomicOp, Effect, Event, ObjectId, Order, ThreadId, ThreadOp, Trace};
use raddle_results::BlindSpots;

/// Returns what raddle does not see of a run under sequential consistency.
pub fn blind_spots(trace: &Trace) -> BlindSpots {
    BlindSpots {
        silent_threads: silent_threads(trace),
        weak_orderings: has_weak_orderings(trace),
        clock_loops: false,
        idle_rounds: false,
    }
}

/// Returns the number of spawned threads that ended without an operation.
fn silent_threads(trace: &Trace) -> u32 {
    let is_silent = |event: &&Event| {
        event.id.index == 0
            && event.id.thread != ThreadId::MAIN
            && event.op.action() == Action::Thread(ThreadOp::Exit)
            && !trace.plain.iter().any(|access| access.thread == event.id.thread)
    };
    trace.events.iter().filter(is_silent).count() as u32
}

/// Returns whether an atomic variable that several threads access is accessed with an ordering weaker than
/// `SeqCst`.
fn has_weak_orderings(trace: &Trace) -> bool {
    // By object: the first thread that accessed it, whether others did, and whether an access was weak.
    let mut objects: Vec<(Option<ThreadId>, bool, bool)> =
        vec![(None, false, false); trace.objects.len()];
    for event in trace.events.iter().filter(|event| event.op.object() != ObjectId::NONE) {
        let (first, is_shared, is_weak) = &mut objects[event.op.object().index()];
        *is_shared |= *first.get_or_insert(event.id.thread) != event.id.thread;
        *is_weak |= order(event).is_some_and(|order| order != Order::SeqCst);
    }
    objects.iter().any(|&(_, is_shared, is_weak)| is_shared && is_weak)
}

/// Returns the ordering of an access to an atomic variable.
fn order(event: &Event) -> Option<Order> {
    let Action::Atomic(op) = event.op.action() else { return None };
    Some(match op {
        AtomicOp::Load { order }
        | AtomicOp::Store { order, .. }
        | AtomicOp::Update { order, .. } => order,
        AtomicOp::CompareExchange { success, failure, .. } => {
            if matches!(event.effect, Effect::Exchanged(_)) { success } else { failure }
        }
    })
}
