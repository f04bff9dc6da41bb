//! Dynamic partial-order reduction as it was first (Flanagan and Godefroid, POPL 2005), with sleep
//! sets; in the form that BPOR gives it (Coons et al., OOPSLA 2013, Alg. 2): the most recent
//! dependent event of *each* thread, because reads commute.
//!
//! Promise: when it ends, every class of executions has been run at least once, deadlocks and panics
//! included. It is the baseline that optimal reduction and bounded search are compared with.
//!
//! It is bounded reduction without a bound: what there is to say about deviations stands in `bpor.rs`.

use raddle_core::{Plan, Search, Trace};

use crate::bpor::{Bound, Counts, Mistake, ReducedChooser, Reduction, Tree};
use crate::{Covered, Explorer, Refusal};

/// The search.
#[derive(Clone, Debug)]
pub struct DporClassic {
    tree: Tree,
}

impl DporClassic {
    /// A search of everything.
    pub fn new(reduction: Reduction) -> DporClassic {
        DporClassic { tree: Tree::new(Bound::NONE, reduction) }
    }

    /// The same search with a mistake in it.
    #[doc(hidden)]
    pub fn with_mistake(self, mistake: Mistake) -> DporClassic {
        DporClassic { tree: self.tree.with_mistake(mistake) }
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        self.tree.counts()
    }
}

impl Explorer for DporClassic {
    type Then = ReducedChooser;

    fn chooser(&self) -> ReducedChooser {
        self.tree.chooser()
    }

    fn next(&mut self, plan: &mut Plan<ReducedChooser>) -> bool {
        self.tree.next(plan)
    }

    fn learn(&mut self, _run: u64, trace: &Trace, plan: &mut Plan<ReducedChooser>) {
        self.tree.learn(trace, plan);
    }

    fn covered(&self, is_done: bool) -> Covered {
        self.tree.covered(is_done)
    }

    fn refusal(&self) -> Option<Refusal> {
        self.tree.refusal()
    }

    fn search(&self) -> Option<Search> {
        Some(self.counts().into())
    }
}
