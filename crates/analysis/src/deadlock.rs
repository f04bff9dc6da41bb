//! Deadlocks: which threads wait for which, and the cycles among them.

use raddle_core::{
    Action, AtomicOp, Effect, ObjectId, ObjectKind, Op, Pending, Rmw, Site, ThreadId, Trace,
};
use raddle_results::Wait;

use raddle_core::locks::Holdings;

/// Returns the blocked threads at the end of `trace`, each with the holders of what it waits for.
pub fn waits(trace: &Trace) -> Vec<Wait> {
    let mut waits: Vec<Wait> = trace
        .pending
        .iter()
        .filter(|pending| !pending.enabled)
        .map(|pending| Wait {
            thread: pending.thread,
            object: pending.op.object(),
            site: pending.site,
            holders: holders(trace, pending),
            in_cycle: false,
        })
        .collect();
    let reached: Vec<bool> =
        waits.iter().map(|wait| reaches(&waits, wait.thread, wait.thread)).collect();
    for (wait, in_cycle) in waits.iter_mut().zip(reached) {
        wait.in_cycle = in_cycle;
    }
    waits
}

/// A step of a cycle: a thread, and the holder of the object it waits for that comes next in the cycle.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The thread that waits.
    pub thread: ThreadId,
    /// The thread it waits for.
    pub holder: ThreadId,
}

/// Returns cycles that together contain every thread of `waits` that is in one.
pub fn cycles(waits: &[Wait]) -> Vec<Vec<Hop>> {
    let mut cycles: Vec<Vec<Hop>> = Vec::new();
    for wait in waits.iter().filter(|wait| wait.in_cycle) {
        let is_known = cycles.iter().flatten().any(|hop| hop.thread == wait.thread);
        let mut path = Vec::new();
        if !is_known && leads_to(waits, wait, wait.thread, &mut Vec::new(), &mut path) {
            cycles.push(path);
        }
    }
    cycles
}

/// Returns whether following holders from `wait` leads to `goal`; `path` then holds the way.
fn leads_to(
    waits: &[Wait],
    wait: &Wait,
    goal: ThreadId,
    seen: &mut Vec<ThreadId>,
    path: &mut Vec<Hop>,
) -> bool {
    for &(holder, _) in &wait.holders {
        path.push(Hop { thread: wait.thread, holder });
        if holder == goal {
            return true;
        }
        if !seen.contains(&holder) {
            seen.push(holder);
            let next = waits.iter().find(|next| next.thread == holder);
            if next.is_some_and(|next| leads_to(waits, next, goal, seen, path)) {
                return true;
            }
        }
        path.pop();
    }
    false
}

/// Returns whether following holders from `from` leads to `to`.
fn reaches(waits: &[Wait], from: ThreadId, to: ThreadId) -> bool {
    let mut seen = Vec::new();
    let mut open = vec![from];
    while let Some(thread) = open.pop() {
        let holders = waits.iter().filter(|wait| wait.thread == thread).flat_map(|w| &w.holders);
        for &(holder, _) in holders {
            if holder == to {
                return true;
            }
            if !seen.contains(&holder) {
                seen.push(holder);
                open.push(holder);
            }
        }
    }
    false
}

/// Returns the threads that block a pending operation, and where each acquired the object.
fn holders(trace: &Trace, pending: &Pending) -> Vec<(ThreadId, Site)> {
    let object = pending.op.object();
    match trace.objects[object.index()].kind {
        ObjectKind::Mutex | ObjectKind::RwLock => lock_holders(trace, object),
        // The thread that is joined blocks the joiner.
        ObjectKind::Thread(thread) => vec![(thread, Site::UNKNOWN)],
        // A lock that is built on a variable, which threads wait for by a futex.
        ObjectKind::Atomic(_) => owner(trace, object).into_iter().collect(),
        ObjectKind::Cell
        | ObjectKind::Condvar
        | ObjectKind::Barrier
        | ObjectKind::Once
        | ObjectKind::Parker(_)
        | ObjectKind::Channel
        | ObjectKind::Semaphore
        | ObjectKind::Notify => Vec::new(),
    }
}

/// Returns the thread that owns a variable, as far as its values tell, and where it took it: the thread that last changed
/// it from its initial value. Returns `None` if the variable has its initial value, or if it counts: such as one that a
/// notification increments.
fn owner(trace: &Trace, object: ObjectId) -> Option<(ThreadId, Site)> {
    let initial = trace.objects[object.index()].initial;
    let mut value = initial;
    let mut owner = None;
    for event in trace.events.iter().filter(|event| event.op.object() == object) {
        if !event.op.is_atomic() {
            continue;
        }
        let old = match event.effect {
            Effect::Value(old) | Effect::Exchanged(old) | Effect::Kept(old) => old,
            Effect::None
            | Effect::Yes
            | Effect::No
            | Effect::Ticket(_)
            | Effect::LastTicket(_)
            | Effect::Closed => value,
        };
        value = event.op.apply_to_atomic(old).0.unwrap_or(old);
        if value == initial {
            owner = None;
        } else if old == initial {
            owner = (!counts(&event.op)).then_some((event.id.thread, event.site));
        }
    }
    owner
}

/// Returns whether an operation adds to a variable or subtracts from it.
fn counts(op: &Op) -> bool {
    matches!(op.action(), Action::Atomic(AtomicOp::Update { function: Rmw::Add | Rmw::Sub, .. }))
}

fn lock_holders(trace: &Trace, object: ObjectId) -> Vec<(ThreadId, Site)> {
    let holdings = Holdings::after(trace);
    let holders = holdings.all().iter().filter(|held| held.lock == object);
    holders.map(|held| (held.thread, held.site)).collect()
}
