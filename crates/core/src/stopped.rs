//! Threads that go no further in a run although nothing blocks them.

use alloc::vec::Vec;

use crate::{Event, Site, ThreadId};

/// A thread that has no next operation in this run, although it has not ended and is not blocked.
#[derive(Clone, PartialEq, Debug)]
pub struct Stopped {
    /// The thread.
    pub thread: ThreadId,
    /// The number of events of the run before it stopped.
    pub after: usize,
    /// The place in the program.
    pub site: Site,
    /// Why the thread stopped.
    pub why: StopReason,
}

/// Why a thread goes no further.
#[derive(Clone, PartialEq, Debug)]
pub enum StopReason {
    /// The program assumed something that does not hold in this run.
    Assumption,
    /// The thread is where it was before: these events since then, all its own, changed nothing.
    IdleRound {
        /// The events of the round, in order.
        looks: Vec<Event>,
        /// Whether each of them would have the same effect again at the end of the run.
        is_current: bool,
    },
}

impl Stopped {
    /// Returns whether an assumption stopped the thread.
    pub fn is_assumption(&self) -> bool {
        matches!(self.why, StopReason::Assumption)
    }
}
