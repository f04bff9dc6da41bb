//! Threads, as objects that other threads spawn and join.

use raddle_core::{Effect, ThreadId, ThreadOp};

use super::ObjectState;

/// The state of a thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Life {
    /// The thread's spawn has been announced but not performed.
    #[default]
    NotStarted,
    /// The thread has been spawned and has not ended.
    Running,
    /// The thread has ended.
    Ended,
}

impl ObjectState for Life {
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
