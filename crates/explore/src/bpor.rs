//! Bounded partial-order reduction (Coons, Musuvathi and McKinley, OOPSLA 2013).
//!
//! Promise: when it ends, every class of executions of which some member stays within the bound has
//! been run, deadlocks and panics included. (The paper promises the local states reachable within the
//! bound; a complete execution has no proper extension, so it is reached itself.)

mod bound;
mod clock;
mod mistake;
mod races;
mod sleep;
mod tree;

use raddle_core::{Plan, Trace};

use crate::Explorer;

pub use bound::Bound;
pub use mistake::Mistake;
pub use tree::ReducedChooser;
pub(crate) use tree::Tree;

/// How much a reduced search leaves out.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Reduction {
    /// What the paper's algorithms leave out, and sleep sets.
    Plain,
    /// Also races that follow from others, and conservative points that serve nothing.
    #[default]
    Optimised,
}

/// What a reduced search has done so far.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Runs made.
    pub runs: u64,
    /// Runs given up because whatever could go on had been explored or exceeded the bound.
    pub blocked: u64,
    /// Whether the bound kept anything out.
    pub pruned: bool,
    /// The most states on the stack.
    pub max_stack: usize,
    /// Places at which a thread was marked because of a race.
    pub ordinary: u64,
    /// Places at which a thread was marked to make up for the bound.
    pub conservative: u64,
}

/// Bounded partial-order reduction.
#[derive(Clone, Debug)]
pub struct Bpor {
    tree: Tree,
}

impl Bpor {
    /// A search of everything within `bound`.
    pub fn new(bound: Bound, reduction: Reduction) -> Bpor {
        Bpor { tree: Tree::new(bound, reduction) }
    }

    /// The same search with a mistake in it.
    #[doc(hidden)]
    pub fn with_mistake(self, mistake: Mistake) -> Bpor {
        Bpor { tree: self.tree.with_mistake(mistake) }
    }

    /// The bound.
    pub fn bound(&self) -> Bound {
        self.tree.bound()
    }

    /// What it has done so far.
    pub fn counts(&self) -> Counts {
        self.tree.counts()
    }
}

impl Explorer for Bpor {
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
}
