//! The kinds of operations that have code of their own on the fast path.

use raddle_core::{Action, MutexOp, Op};

/// What the caller knows of an operation at compile time.
///
/// The functions of a step are inlined for each kind, so that the compiler drops the branches of the others. A new kind
/// is worth it only if it pays 5 % of a whole speed table; `docs/notes/speed.md` has what these four pay.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Any operation.
    Any,
    /// An operation on an atomic variable. It never blocks.
    Atomic,
    /// A mutex is locked, after waiting for it.
    Lock,
    /// A mutex is unlocked.
    Unlock,
}

impl Kind {
    /// Returns the most specific kind of an operation.
    pub const fn of(op: &Op) -> Kind {
        match op.action() {
            Action::Atomic(_) => Kind::Atomic,
            Action::Mutex(MutexOp::Lock) => Kind::Lock,
            Action::Mutex(MutexOp::Unlock) => Kind::Unlock,
            Action::Mutex(MutexOp::TryLock)
            | Action::Thread(_)
            | Action::Cell(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => Kind::Any,
        }
    }

    /// Returns whether `op`, an operation of this kind, can be disabled by a state of its object.
    #[inline(always)]
    pub(crate) const fn may_block(self, op: &Op) -> bool {
        match self {
            Kind::Any => op.may_block(),
            Kind::Lock => true,
            Kind::Atomic | Kind::Unlock => false,
        }
    }
}
