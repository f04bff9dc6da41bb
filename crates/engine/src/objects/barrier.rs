//! A barrier: how many have arrived in which generation.

use raddle_core::{BarrierOp, Effect, ThreadId};

use super::Shape;

/// The state of a barrier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// Invariant: at least one.
    size: u64,
    /// Invariant: below `size`.
    arrived: u64,
    generation: u64,
}

impl Barrier {
    /// A barrier for `size` threads; as in `std`, one for none lets each pass.
    pub fn new(size: u64) -> Barrier {
        Barrier { size: size.max(1), arrived: 0, generation: 0 }
    }
}

impl Shape for Barrier {
    type Op = BarrierOp;

    #[inline(always)]
    fn enabled(&self, op: BarrierOp, _by: ThreadId) -> bool {
        match op {
            BarrierOp::Arrive => true,
            BarrierOp::Leave { generation } => generation < self.generation,
        }
    }

    #[inline(always)]
    fn apply(&mut self, op: BarrierOp, _by: ThreadId) -> Effect {
        match op {
            BarrierOp::Arrive => {
                let number = self.generation;
                self.arrived += 1;
                if self.arrived == self.size {
                    self.arrived = 0;
                    self.generation += 1;
                    Effect::LastTicket(number)
                } else {
                    Effect::Ticket(number)
                }
            }
            BarrierOp::Leave { .. } => Effect::None,
        }
    }
}
