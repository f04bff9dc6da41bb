//! A one-time initialisation.

use raddle_core::{Effect, OnceOp, ThreadId};

use super::Shape;

/// The state of an initialisation.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Once {
    /// Nobody has begun.
    #[default]
    Untouched,
    /// A thread is at it.
    Running,
    /// It is done.
    Complete,
}

impl Shape for Once {
    type Op = OnceOp;

    #[inline(always)]
    fn enabled(&self, op: OnceOp, _by: ThreadId) -> bool {
        match op {
            OnceOp::Begin => *self != Once::Running,
            OnceOp::Complete | OnceOp::Reset | OnceOp::IsComplete => true,
        }
    }

    #[inline(always)]
    fn apply(&mut self, op: OnceOp, _by: ThreadId) -> Effect {
        match op {
            OnceOp::Begin => {
                let first = *self == Once::Untouched;
                if first {
                    *self = Once::Running;
                }
                Effect::of(first)
            }
            OnceOp::Complete => {
                *self = Once::Complete;
                Effect::None
            }
            OnceOp::Reset => {
                *self = Once::Untouched;
                Effect::None
            }
            OnceOp::IsComplete => Effect::of(*self == Once::Complete),
        }
    }
}
