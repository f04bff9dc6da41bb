//! Park tokens of threads.

use raddle_core::{Effect, ParkOp, ThreadId};

use super::ObjectState;

/// The state of a park token.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parker {
    token: bool,
}

impl ObjectState for Parker {
    type Op = ParkOp;

    #[inline(always)]
    fn enabled(&self, op: ParkOp, _by: ThreadId) -> bool {
        match op {
            ParkOp::Park { timed } => timed || self.token,
            ParkOp::Unpark => true,
        }
    }

    #[inline(always)]
    fn apply(&mut self, op: ParkOp, _by: ThreadId) -> Effect {
        match op {
            ParkOp::Park { .. } => Effect::of(core::mem::replace(&mut self.token, false)),
            ParkOp::Unpark => Effect::of(!core::mem::replace(&mut self.token, true)),
        }
    }
}
