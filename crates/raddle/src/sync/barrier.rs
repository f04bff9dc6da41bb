//! Barriers, as [`std::sync::Barrier`].

use std::fmt;

use raddle_core::{Action, BarrierOp, Effect, ObjectId, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use crate::unexpected;

/// A barrier, at which threads wait for each other, as [`std::sync::Barrier`].
///
/// ```
/// use raddle::sync::{Arc, Barrier};
///
/// let barrier = Arc::new(Barrier::new(2));
/// let other = {
///     let barrier = barrier.clone();
///     raddle::thread::spawn(move || barrier.wait().is_leader())
/// };
/// let leader = barrier.wait().is_leader();
/// assert!(leader != other.join().unwrap());
/// ```
pub struct Barrier {
    name: Name,
    size: usize,
    outside: std::sync::Barrier,
}

/// Whether a thread is the leader of those that met at a [`Barrier`], as [`std::sync::BarrierWaitResult`].
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns whether this thread is the leader. Of the threads that met, one is.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.0).finish()
    }
}

impl Barrier {
    /// Returns a barrier for `n` threads.
    #[track_caller]
    pub const fn new(n: usize) -> Barrier {
        Barrier { name: Name::new(), size: n, outside: std::sync::Barrier::new(n) }
    }

    /// Waits until all threads of the barrier wait, as [`std::sync::Barrier::wait`].
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let site = Site::caller();
        match self.submit(BarrierOp::Arrive, site) {
            None => BarrierWaitResult(self.outside.wait().is_leader()),
            Some(Effect::LastTicket(_)) => BarrierWaitResult(true),
            Some(Effect::Ticket(generation)) => {
                self.submit(BarrierOp::Leave { generation }, site);
                BarrierWaitResult(false)
            }
            Some(other) => unexpected(other),
        }
    }

    /// Performs an operation on the barrier. Returns `None` outside a run.
    fn submit(&self, op: BarrierOp, site: Site) -> Option<Effect> {
        let initial = || Some(Initial::Barrier(self.size as u64));
        let op = Op::new(ObjectId::NONE, Action::Barrier(op));
        port::operate(Kind::Any, &self.name, initial, op, site)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
