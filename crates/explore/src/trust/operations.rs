//! What the search knows of operations.

use raddle_core::{Action, Op, RwLockOp, ThreadOp};

use super::Ends;

/// What an operation is to the search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Role {
    /// No other thread can observe when it is performed.
    Unobserved,
    /// The end of a thread. Other threads can observe its time if they ask for it.
    End,
    /// An attempt to write-lock a reader-writer lock.
    Attempt,
    /// Lets a reader into a reader-writer lock, in some state.
    Reader,
    /// Another operation on an object.
    Other,
}

impl Role {
    fn of(op: &Op) -> Role {
        match op.action() {
            Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. }
            | Action::Thread(ThreadOp::Spawn | ThreadOp::Join) => Role::Unobserved,
            Action::Thread(ThreadOp::Exit) => Role::End,
            Action::RwLock(RwLockOp::TryWrite) => Role::Attempt,
            Action::RwLock(RwLockOp::Read | RwLockOp::TryRead) => Role::Reader,
            Action::Thread(ThreadOp::IsFinished)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(RwLockOp::Write | RwLockOp::UnlockRead | RwLockOp::UnlockWrite)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_) => Role::Other,
        }
    }
}

/// Returns whether other threads can observe when an operation is performed.
#[inline]
pub(super) fn is_ordered(op: &Op, ends: Ends) -> bool {
    op.is_atomic() || is_ordered_on_object(op, ends)
}

fn is_ordered_on_object(op: &Op, ends: Ends) -> bool {
    match Role::of(op) {
        Role::Unobserved => false,
        Role::End => ends == Ends::Ordered,
        Role::Attempt | Role::Reader | Role::Other => true,
    }
}

/// Returns whether an operation lets a reader into a lock, in some state.
pub(super) fn comes(op: &Op) -> bool {
    Role::of(op) == Role::Reader
}

/// Returns whether an operation is an attempt to write-lock a reader-writer lock.
pub(super) fn is_attempt(op: &Op) -> bool {
    Role::of(op) == Role::Attempt
}
