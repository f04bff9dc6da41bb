//! Deliberate mistakes, with which tests show that they would be found.

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
    /// A thread that sleeps at a state counts as explored there.
    SleepIsMark,
    /// A blocked thread does not wake the sleepers that could enable it.
    NoWaiters,
    /// Reads are no part of races.
    NoReads,
    /// Operations that were never performed are no part of races.
    PerformedOnly,
    /// No thread is tried before an event that the other thread had to wait for.
    NoReleases,
    /// No conservative points where a thread began to run.
    NoBlockStart,
    /// No conservative points where a thread was enabled or disabled.
    NoEnabledness,
}

impl Mistake {
    /// Returns whether a search with this mistake misses `race`.
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
