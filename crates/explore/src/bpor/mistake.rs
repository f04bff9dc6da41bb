//! Mistakes that can be made on purpose, so that the tests can show that they would be found.

use raddle_core::{Access, Trace};

use super::races::{Race, Why};

/// A mistake in a reduced search.
#[doc(hidden)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// Sleep sets as the paper has them: everything that was not added conservatively.
    PaperSleep,
    /// Sleep sets hold conservatively added transitions too.
    ConservativeSleep,
    /// A thread that comes to a state asleep counts as explored there.
    SleepIsMark,
    /// A thread that waits does not wake who could end that.
    NoWaiters,
    /// Reads are no part of races.
    NoReads,
    /// Operations that were never performed are no part of races.
    PerformedOnly,
    /// Nobody is tried before an event that the other thread had to wait for.
    NoReleases,
    /// No conservative points where a thread began to run.
    NoBlockStart,
    /// No conservative points where somebody's ability to go on changed.
    NoEnabledness,
}

impl Mistake {
    /// Whether a search with this mistake does not see `race`.
    pub(super) fn overlooks(self, race: Race, trace: &Trace) -> bool {
        match self {
            Mistake::NoReads => trace.events[race.event].access() == Access::Read,
            Mistake::PerformedOnly => race.why == Why::Pending,
            Mistake::PaperSleep
            | Mistake::ConservativeSleep
            | Mistake::SleepIsMark
            | Mistake::NoWaiters
            | Mistake::NoReleases
            | Mistake::NoBlockStart
            | Mistake::NoEnabledness => false,
        }
    }
}
