//! What acts between runs.

use raddle_core::{Chooser, Guarantee, Plan, Trace};
use raddle_engine::Family;
use raddle_results::{Bounds, PatternSearch, Search};

use crate::Refusal;

/// An algorithm that decides which run comes next.
pub trait Explorer {
    /// What chooses after a plan's prefix.
    type Then: Chooser + 'static;

    /// Whether planning a run takes much longer than making it. The clock is then looked at after every
    /// run, however short.
    const PLANS_LONG: bool = false;

    /// The chooser that plans will carry; the same one is passed back in every plan.
    fn chooser(&self) -> Self::Then;

    /// Makes a chooser that another explorer of this type has left what [`chooser`](Explorer::chooser)
    /// would make.
    fn renew(&self, used: &mut Self::Then) {
        *used = self.chooser();
    }

    /// The ids that threads are to have in all runs.
    fn family(&self) -> Family {
        Family::default()
    }

    /// Writes the next plan over the last one. False if no run is left to be made.
    fn next(&mut self, plan: &mut Plan<Self::Then>) -> bool;

    /// A run has ended. `run` counts from zero.
    fn learn(&mut self, run: u64, trace: &Trace, plan: &mut Plan<Self::Then>);

    /// No further run will be made. The chooser may be kept for another explorer, and needs no more memory
    /// than runs do.
    fn finish(&mut self, plan: &mut Plan<Self::Then>) {
        let _ = plan;
    }

    /// What has been tried; `is_done` if no run is left.
    ///
    /// A run that was cut off at the step limit counts as tried if nothing else depends on its end.
    fn covered(&self, is_done: bool) -> Covered {
        if is_done { Covered::Everything } else { Covered::Nothing }
    }

    /// Why no further run can be planned, if the last one showed that.
    fn refusal(&self) -> Option<Refusal> {
        None
    }

    /// What the search has taken so far, if this is one.
    fn search(&self) -> Option<Search> {
        None
    }

    /// What a search for memory-access patterns has done so far, if this is one.
    fn patterns(&self) -> Option<PatternSearch> {
        None
    }

    /// What is known after [`finish`](Explorer::finish) of bugs that were not found, if anything.
    fn guarantees(&self) -> Vec<Guarantee> {
        Vec::new()
    }

    /// Whether all runs are drawn alike, so that those seen tell something about those not seen.
    fn draws_alike(&self) -> bool {
        false
    }
}

/// How much a search has tried.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Covered {
    /// Nothing that could be named.
    Nothing,
    /// All executions within these bounds.
    Within(Bounds),
    /// All executions.
    Everything,
}

/// So that what an explorer has counted can be asked for after its search.
impl<E: Explorer> Explorer for &mut E {
    type Then = E::Then;

    const PLANS_LONG: bool = E::PLANS_LONG;

    fn chooser(&self) -> E::Then {
        (**self).chooser()
    }

    fn renew(&self, used: &mut E::Then) {
        (**self).renew(used);
    }

    fn family(&self) -> Family {
        (**self).family()
    }

    fn next(&mut self, plan: &mut Plan<E::Then>) -> bool {
        (**self).next(plan)
    }

    fn learn(&mut self, run: u64, trace: &Trace, plan: &mut Plan<E::Then>) {
        (**self).learn(run, trace, plan);
    }

    fn finish(&mut self, plan: &mut Plan<E::Then>) {
        (**self).finish(plan);
    }

    fn covered(&self, is_done: bool) -> Covered {
        (**self).covered(is_done)
    }

    fn refusal(&self) -> Option<Refusal> {
        (**self).refusal()
    }

    fn search(&self) -> Option<Search> {
        (**self).search()
    }

    fn patterns(&self) -> Option<PatternSearch> {
        (**self).patterns()
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        (**self).guarantees()
    }

    fn draws_alike(&self) -> bool {
        (**self).draws_alike()
    }
}
