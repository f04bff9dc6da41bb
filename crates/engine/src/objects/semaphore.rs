//! Semaphores: a count.

use raddle_core::{Effect, SemaphoreOp, ThreadId};

use super::ObjectState;

/// The state of a semaphore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Semaphore {
    count: u64,
}

impl Semaphore {
    pub(crate) fn new(count: u64) -> Semaphore {
        Semaphore { count }
    }
}

impl ObjectState for Semaphore {
    type Op = SemaphoreOp;

    fn enabled(&self, op: SemaphoreOp, _by: ThreadId) -> bool {
        match op {
            SemaphoreOp::Wait { timed: false } => self.count > 0,
            SemaphoreOp::Wait { timed: true }
            | SemaphoreOp::TryWait
            | SemaphoreOp::Post
            | SemaphoreOp::Value => true,
        }
    }

    fn apply(&mut self, op: SemaphoreOp, _by: ThreadId) -> Effect {
        match op {
            SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait => {
                let has_one = self.count > 0;
                self.count -= u64::from(has_one);
                Effect::of(has_one)
            }
            SemaphoreOp::Post => {
                self.count += 1;
                Effect::None
            }
            SemaphoreOp::Value => Effect::Value(self.count),
        }
    }
}
