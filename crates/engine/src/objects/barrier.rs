//! Barriers.

use raddle_core::{BarrierOp, Effect, ThreadId};

use super::ObjectState;

/// The state of a barrier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Barrier {
    /// The number of threads of a generation. Invariant: at least one.
    size: u64,
    /// The number of threads that have arrived in this generation. Invariant: below `size`.
    arrived: u64,
    generation: u64,
}

impl Barrier {
    /// Returns a barrier for `size` threads. As in `std`, size 0 means 1.
    pub fn new(size: u64) -> Barrier {
        Barrier { size: size.max(1), arrived: 0, generation: 0 }
    }
}

impl ObjectState for Barrier {
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
                let generation = self.generation;
                self.arrived += 1;
                if self.arrived == self.size {
                    self.arrived = 0;
                    self.generation += 1;
                    Effect::LastTicket(generation)
                } else {
                    Effect::Ticket(generation)
                }
            }
            BarrierOp::Leave { .. } => Effect::None,
        }
    }
}
