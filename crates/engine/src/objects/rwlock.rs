//! Reader-writer locks. Neither readers nor writers are preferred.

use raddle_core::{Effect, RwLockOp, ThreadId};

use super::ObjectState;

/// The state of a reader-writer lock.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RwLock {
    /// The number of read locks. Invariant: zero while `written`.
    readers: u32,
    written: bool,
}

impl ObjectState for RwLock {
    type Op = RwLockOp;

    #[inline(always)]
    fn enabled(&self, op: RwLockOp, _by: ThreadId) -> bool {
        match op {
            RwLockOp::Read => !self.written,
            RwLockOp::Write => !self.written && self.readers == 0,
            RwLockOp::TryRead
            | RwLockOp::TryWrite
            | RwLockOp::UnlockRead
            | RwLockOp::UnlockWrite => true,
        }
    }

    #[inline(always)]
    fn apply(&mut self, op: RwLockOp, by: ThreadId) -> Effect {
        let effect = match op {
            RwLockOp::Read => {
                self.readers += 1;
                Effect::None
            }
            RwLockOp::Write => {
                self.written = true;
                Effect::None
            }
            RwLockOp::TryRead => {
                let free = self.enabled(RwLockOp::Read, by);
                self.readers += u32::from(free);
                Effect::of(free)
            }
            RwLockOp::TryWrite => {
                let free = self.enabled(RwLockOp::Write, by);
                self.written |= free;
                Effect::of(free)
            }
            RwLockOp::UnlockRead => {
                self.readers -= 1;
                Effect::None
            }
            RwLockOp::UnlockWrite => {
                self.written = false;
                Effect::None
            }
        };
        debug_assert!(!self.written || self.readers == 0);
        effect
    }
}
