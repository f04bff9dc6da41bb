//! Which events of a run access shared data, and whether they read or write it.
//!
//! Variables are read and written. The data that a lock protects is not visible, so that acquiring the lock
//! counts as the access: a read for a reader, a write for others. Every other object is data of its own.

use raddle_core::{Access, Action, Effect, MutexOp, Op, RwLockOp};

/// Returns how an operation with this effect accesses shared data. Returns `None` if it only starts, awaits or
/// releases something.
#[inline]
pub fn data_access(op: Op, effect: Effect) -> Option<Access> {
    if op.is_atomic() {
        return Some(op.access_with(effect));
    }
    match op.action() {
        Action::Mutex(MutexOp::Unlock)
        | Action::RwLock(RwLockOp::UnlockRead | RwLockOp::UnlockWrite)
        | Action::Thread(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => None,
        // Several readers may hold the lock; the data is not changed.
        Action::RwLock(RwLockOp::Read | RwLockOp::TryRead) => Some(Access::Read),
        Action::Atomic(_)
        | Action::Cell(_)
        | Action::Mutex(MutexOp::Lock | MutexOp::TryLock)
        | Action::RwLock(RwLockOp::Write | RwLockOp::TryWrite)
        | Action::Condvar(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Semaphore(_)
        | Action::Futex(_) => Some(op.access_with(effect)),
    }
}
