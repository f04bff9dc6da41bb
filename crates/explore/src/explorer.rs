//! What acts between runs.

use crate::Refusal;
use raddle_core::{Bound, Chooser, Plan, Search, Trace};
use raddle_engine::Family;

/// An algorithm that decides which run comes next.
pub trait Explorer {
    /// What chooses after a plan's prefix.
    type Then: Chooser;

    /// The chooser that plans will carry; the same one is passed back in every plan.
    fn chooser(&self) -> Self::Then;

    /// The ids that threads are to have in all runs.
    fn family(&self) -> Family {
        Family::default()
    }

    /// Writes the next plan over the last one. False if no run is left to be made.
    fn next(&mut self, plan: &mut Plan<Self::Then>) -> bool;

    /// A run has ended. `run` counts from zero.
    fn learn(&mut self, run: u64, trace: &Trace, plan: &mut Plan<Self::Then>);

    /// Whether everything (within the [`bound`](Explorer::bound)) has been tried, once no run is
    /// left, provided that a run that was cut off at the step limit counts as tried.
    fn is_complete(&self) -> bool {
        true
    }

    /// Within which bounds everything has been tried, once no run is left: `None` if within none,
    /// that is, everything has.
    fn bound(&self) -> Option<Bound> {
        None
    }

    /// Why no further run can be planned, if the last one showed that.
    fn refusal(&self) -> Option<Refusal> {
        None
    }

    /// What the search has taken so far, if this is one.
    fn search(&self) -> Option<Search> {
        None
    }
}
