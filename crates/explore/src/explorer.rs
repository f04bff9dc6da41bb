//! What acts between runs.

use raddle_core::{Chooser, Plan, Trace};

/// An algorithm that decides which run comes next.
pub trait Explorer {
    /// What chooses after a plan's prefix.
    type Then: Chooser;

    /// The chooser that plans will carry; the same one is passed back in every plan.
    fn chooser(&self) -> Self::Then;

    /// Writes the next plan over the last one. False if no run is left to be made.
    fn next(&mut self, plan: &mut Plan<Self::Then>) -> bool;

    /// A run has ended. `run` counts from zero.
    fn learn(&mut self, run: u64, trace: &Trace, plan: &mut Plan<Self::Then>);
}

/// So that what an explorer has counted can be asked for after its search.
impl<E: Explorer> Explorer for &mut E {
    type Then = E::Then;

    fn chooser(&self) -> E::Then {
        (**self).chooser()
    }

    fn next(&mut self, plan: &mut Plan<E::Then>) -> bool {
        (**self).next(plan)
    }

    fn learn(&mut self, run: u64, trace: &Trace, plan: &mut Plan<E::Then>) {
        (**self).learn(run, trace, plan);
    }
}
