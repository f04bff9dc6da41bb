//! The life of a thread, as others see it.

use raddle_core::{Effect, ThreadId, ThreadOp};

use super::Shape;

/// The state of a thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Life {
    /// Its spawn is announced.
    #[default]
    Unborn,
    /// It runs.
    Running,
    /// It has ended.
    Ended,
}

impl Shape for Life {
    type Op = ThreadOp;

    #[inline(always)]
    fn enabled(&self, op: ThreadOp, _by: ThreadId) -> bool {
        match op {
            ThreadOp::Join => *self == Life::Ended,
            ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::IsFinished => true,
        }
    }

    #[inline(always)]
    fn apply(&mut self, op: ThreadOp, _by: ThreadId) -> Effect {
        match op {
            ThreadOp::Spawn => {
                *self = Life::Running;
                Effect::None
            }
            ThreadOp::Exit => {
                *self = Life::Ended;
                Effect::None
            }
            ThreadOp::Join => Effect::None,
            ThreadOp::IsFinished => Effect::of(*self == Life::Ended),
        }
    }
}
