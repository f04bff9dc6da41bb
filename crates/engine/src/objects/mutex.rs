//! Mutexes.

use raddle_core::{Effect, MutexOp, ThreadId};

use super::ObjectState;

/// The state of a mutex.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Mutex {
    held: bool,
}

impl ObjectState for Mutex {
    type Op = MutexOp;

    #[inline(always)]
    fn enabled(&self, op: MutexOp, _by: ThreadId) -> bool {
        match op {
            MutexOp::Lock => !self.held,
            MutexOp::TryLock | MutexOp::Unlock => true,
        }
    }

    #[inline(always)]
    fn apply(&mut self, op: MutexOp, _by: ThreadId) -> Effect {
        match op {
            MutexOp::Lock => {
                self.held = true;
                Effect::None
            }
            MutexOp::TryLock => Effect::of(!core::mem::replace(&mut self.held, true)),
            MutexOp::Unlock => {
                self.held = false;
                Effect::None
            }
        }
    }
}
