//! One-time initialisations.

use raddle_core::{Effect, OnceOp, ThreadId};

use super::ObjectState;

/// The state of a one-time initialisation.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Once {
    /// The initialisation has not begun, or has failed.
    #[default]
    Incomplete,
    /// A thread runs the initialisation.
    Running,
    /// The initialisation is complete.
    Complete,
}

impl ObjectState for Once {
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
                let first = *self == Once::Incomplete;
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
                *self = Once::Incomplete;
                Effect::None
            }
            OnceOp::IsComplete => Effect::of(*self == Once::Complete),
        }
    }
}
