//! Depth-first search: every execution, one after the other, without reduction.
//!
//! Promise: when it ends, every interleaving has been run. The number of interleavings is the only
//! limit; this is the baseline that reductions are checked against.

use raddle_core::{Choice, Chooser, Event, Pick, Plan, Point, Trace};

use crate::branches::{Branch, Branches};
use crate::{Explorer, Refusal};

/// The search.
#[derive(Clone, Debug, Default)]
pub struct Dfs {
    branches: Branches<Choice>,
    refusal: Option<Refusal>,
}

/// Takes the first option everywhere and remembers the others.
#[derive(Clone, Debug, Default)]
pub struct DfsChooser {
    met: Vec<Branch<Choice>>,
    refusal: Option<Refusal>,
}

impl Chooser for DfsChooser {
    const WATCHES_CHANGES: bool = false;

    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        if let Point::Value { by, bound } = at {
            self.refusal = Refusal::of_choice(by, *bound);
            if self.refusal.is_some() {
                return Pick::Abandon;
            }
        }
        self.met.push(Branch::new((0..at.options()).map(|option| at.choice(option))));
        Pick::Take(0)
    }
}

impl Explorer for Dfs {
    type Then = DfsChooser;

    fn chooser(&self) -> DfsChooser {
        DfsChooser::default()
    }

    fn next(&mut self, plan: &mut Plan<DfsChooser>) -> bool {
        if !self.branches.advance() {
            return false;
        }
        plan.prefix.clear();
        plan.prefix.extend(self.branches.taken());
        true
    }

    fn learn(&mut self, _run: u64, _trace: &Trace, plan: &mut Plan<DfsChooser>) {
        self.branches.append(&mut plan.then.met);
        self.refusal = plan.then.refusal;
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }
}
