//! Iterative deepening: everything without preemptions first, then with one, and so on.
//!
//! Promise: a failure is found with the fewest preemptions that it needs. After each bound there is a
//! result that holds for all executions within it. Once a bound has excluded nothing, larger bounds have
//! nothing left, and the result holds for all executions (within the fair bound, if there is one).

use raddle_core::{Choices, Schedule, Trace};
use raddle_results::Search;

use crate::bpor::{Bound, Bpor, Counts, Reduction};
use crate::{Covered, Explorer, Refusal};

/// Bounded reduction with one bound on preemptions after the other.
#[derive(Clone, Debug)]
pub struct Deepening {
    search: Bpor,
    reduction: Reduction,
    /// The last bound.
    last: Bound,
    completed: Vec<Completed>,
}

/// A bound whose executions have all been run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Completed {
    /// The bound.
    pub bound: Bound,
    /// The counts of its search.
    pub counts: Counts,
    /// What the search covered.
    pub covered: Covered,
}

impl Deepening {
    /// Makes a search up to `last`, whose bound on preemptions is the one that grows.
    pub fn new(last: Bound, reduction: Reduction) -> Deepening {
        let first = Bound { preemptions: Some(0), ..last };
        Deepening { search: Bpor::new(first, reduction), reduction, last, completed: Vec::new() }
    }

    /// Returns the completed bounds, in order.
    pub fn completed(&self) -> &[Completed] {
        &self.completed
    }

    /// Returns whether the last completed bound excluded nothing.
    pub fn is_exhaustive(&self) -> bool {
        self.completed.last().is_some_and(|completed| !completed.counts.pruned)
    }

    /// Returns the bound of the current search, and its counts so far.
    pub fn current(&self) -> (Bound, Counts) {
        (self.search.bound(), self.search.counts())
    }
}

impl Explorer for Deepening {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        while !self.search.next(prefix) {
            let (bound, counts) = self.current();
            if self.completed.last().is_none_or(|last| last.bound != bound) {
                let covered = self.search.covered(true);
                self.completed.push(Completed { bound, counts, covered });
            }
            let preemptions = bound.preemptions.unwrap_or(0);
            let most = self.last.preemptions.unwrap_or(u32::MAX);
            if self.is_exhaustive() || preemptions >= most {
                return false;
            }
            let deeper = Bound { preemptions: Some(preemptions + 1), ..bound };
            self.search = Bpor::new(deeper, self.reduction);
        }
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        self.search.choices()
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        self.search.learn(run, trace);
    }

    fn covered(&self, _is_done: bool) -> Covered {
        self.completed.last().map_or(Covered::Nothing, |completed| completed.covered)
    }

    fn restart(&mut self) -> bool {
        *self = Deepening::new(self.last, self.reduction);
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.search.refusal()
    }

    fn is_beyond_bound(&self, preemptions: u32) -> bool {
        self.search.is_beyond_bound(preemptions)
    }

    fn search(&self) -> Option<Search> {
        self.search.search()
    }
}
