//! Depth-first search: every execution, one after the other, without reduction.
//!
//! Promise: when it ends, every interleaving has been run. The number of interleavings is the only
//! limit; this is the baseline that reductions are checked against.

use raddle_core::{
    Choice, Choices, Chooser, Ending, Event, IdleRounds, Needs, Pick, Point, Schedule, Trace,
};

use crate::branches::{Branch, Branches};
use crate::refusal::loops;
use crate::{Explorer, Refusal};

/// The search. Inside a run it takes the first option of every point and records the others.
#[derive(Clone, Debug, Default)]
pub struct Dfs {
    branches: Branches<Choice>,
    refusal: Option<Refusal>,
}

impl Explorer for Dfs {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        if !self.branches.advance() {
            return false;
        }
        prefix.clear();
        prefix.extend(self.branches.taken());
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn skips_equivalent(&self) -> bool {
        false
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        if trace.ending == Ending::StepLimit {
            self.refusal = loops(trace);
        }
    }

    fn restart(&mut self) -> bool {
        *self = Dfs::default();
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal.clone()
    }
}

impl Chooser for Dfs {
    fn needs(&self) -> Needs {
        Needs { idle_rounds: IdleRounds::Cut, ..Needs::default() }
    }

    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        if let Point::Value { by, bound } = at {
            self.refusal = Refusal::of_choice(by, *bound);
            if self.refusal.is_some() {
                return Pick::Abandon;
            }
        }
        self.branches.push(Branch::new((0..at.options()).map(|option| at.choice(option))));
        Pick::Take(0)
    }
}
