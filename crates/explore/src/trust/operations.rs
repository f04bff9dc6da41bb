//! What the search knows of operations.

use raddle_core::{Action, Op, RwLockOp, ThreadOp, Trace};

use super::Ends;

/// Returns whether other threads can observe when an operation is performed.
#[inline]
pub(super) fn is_ordered(op: &Op, ends: Ends) -> bool {
    op.is_atomic() || is_ordered_on_object(op, ends)
}

fn is_ordered_on_object(op: &Op, ends: Ends) -> bool {
    match op.action() {
        Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. }
        | Action::Thread(ThreadOp::Spawn | ThreadOp::Join) => false,
        Action::Thread(ThreadOp::Exit) => ends == Ends::Ordered,
        Action::Thread(ThreadOp::IsFinished)
        | Action::Atomic(_)
        | Action::Cell(_)
        | Action::Mutex(_)
        | Action::RwLock(_)
        | Action::Condvar(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Semaphore(_)
        | Action::Futex(_) => true,
    }
}

/// Returns whether the search covers all operations of a run.
pub(super) fn is_covered(trace: &Trace) -> bool {
    let is_covered = |op: &Op| {
        op.is_atomic()
            || match op.action() {
                Action::Atomic(_)
                | Action::Fence(_)
                | Action::Pause(_)
                | Action::Choose { .. }
                | Action::Thread(_)
                | Action::Cell(_)
                | Action::Mutex(_)
                | Action::Condvar(_)
                | Action::Barrier(_)
                | Action::Once(_)
                | Action::Park(_)
                | Action::Channel(_)
                | Action::Semaphore(_)
                | Action::RwLock(
                    RwLockOp::Read
                    | RwLockOp::Write
                    | RwLockOp::TryRead
                    | RwLockOp::UnlockRead
                    | RwLockOp::UnlockWrite,
                ) => true,
                Action::RwLock(RwLockOp::TryWrite) | Action::Futex(_) => false,
            }
    };
    trace.events.iter().all(|event| is_covered(&event.op))
        && trace.pending.iter().all(|pending| is_covered(&pending.op))
}
