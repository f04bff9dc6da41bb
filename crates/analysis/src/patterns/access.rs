//! Which events of a run are accesses to data that threads share, and how each of them is one.
//!
//! Variables are read and written. What a lock protects is not seen, so that taking the lock is the
//! access: to read for a reader, to write for all others. Every other object is data of its own.

use raddle_core::{Access, Action, Effect, MutexOp, Op, RwLockOp};

/// How an operation with this effect accesses shared data; not at all if it only starts, awaits or
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
        // Several may hold it at once; what they protect is not changed.
        Action::RwLock(RwLockOp::Read | RwLockOp::TryRead) => Some(Access::Read),
        Action::Atomic(_)
        | Action::Cell(_)
        | Action::Mutex(MutexOp::Lock | MutexOp::TryLock)
        | Action::RwLock(RwLockOp::Write | RwLockOp::TryWrite)
        | Action::Condvar(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_) => Some(op.access_with(effect)),
    }
}
