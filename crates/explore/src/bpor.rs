//! Bounded partial-order reduction (Coons, Musuvathi and McKinley, OOPSLA 2013).
//!
//! Promise: when it ends, every class of executions of which some member stays within the bound has
//! been run, deadlocks and panics included, and nothing else. (The paper promises the local states
//! that are reachable within the bound. Its sets are *local sufficient*: every sequence within the
//! bound is a prefix of one that is explored, up to equivalence; a complete execution is a prefix of
//! nothing but itself. Tests compare with brute force, for every bound.) It never makes more runs than a
//! search of the same bound without reduction. With a bound that excludes nothing, it makes exactly the
//! runs of a search without a bound.
//!
//! That is `dpor-classic`: dynamic partial-order reduction as first published (Flanagan and Godefroid,
//! POPL 2005), with sleep sets, in the form of the paper (Alg. 2): the most recent dependent event of
//! *each* thread, because reads commute. It runs every class at least once.
//!
//! Algorithms 2 to 4 and §5.3 are followed, with these deviations:
//!
//! - **Sleep sets.** Those of §5.4 miss executions. `sleep.rs` says why, and what replaces them.
//! - **Sleepers are not explored.** A thread that is to be tried at a state but sleeps there is not run
//!   there, so its races there are not seen. All other threads are tried instead. (This is needed without
//!   a bound, too: three threads are enough, see `tests/all/bounds/mistakes.rs`.)
//! - **Conservative points come last**, and only if the bound excluded something below their state. That
//!   is §5.4's "when all states are reachable within the bound", decided when it is known.
//! - **Block starts.** The conservative point of Alg. 3 is where the thread began to run, and none is
//!   needed if that is the event itself; a thread that yielded begins anew.
//! - **Releases** are events that did enable a thread, and spawns, not kinds of operations.
//! - **The second optimisation of §5** (if the thread is disabled, try one that it needs) is left out. As Flanagan and Godefroid have it, it may settle for the thread of the event itself, which
//!   presupposes that releases are not considered, and misses executions here. If that thread does
//!   not count, it missed none of 40,000 random programs and saved 11 of 83,620 runs.
//! - **A panic** ends a run, so the event before it is dependent with everything.
//! - Numbers that the program asks for are all tried and cost nothing.
//!
//! A run that reaches the step limit is cut off, and races beyond it are not seen. After such a run the
//! promise is void; the session counts them. Programs that spin need the fair bound.

mod bound;
mod chooser;
mod clock;
mod mistake;
mod races;
mod sleep;
mod tree;

use raddle_core::{Choices, Schedule, Trace};
use raddle_results::Search;

use crate::{Covered, Explorer, Refusal};

pub use bound::{Bound, Ties};
pub use mistake::Mistake;
pub(crate) use tree::Tree;

/// What a reduced search leaves out.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Reduction {
    /// Nothing: every interleaving within the bound is run.
    None,
    /// What the paper's algorithms and sleep sets leave out.
    Plain,
    /// Also races that follow from others, and conservative points that are not needed.
    #[default]
    Optimised,
}

/// The counts of a reduced search.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Runs made.
    pub runs: u64,
    /// Runs abandoned because every enabled thread was explored or exceeded the bound.
    pub blocked: u64,
    /// Whether the bound excluded anything.
    pub pruned: bool,
    /// The most states on the stack.
    pub max_stack: usize,
    /// Places at which a thread was marked because of a race.
    pub ordinary: u64,
    /// Places at which a thread was marked to make up for the bound.
    pub conservative: u64,
}

impl From<Counts> for Search {
    fn from(counts: Counts) -> Search {
        Search {
            blocked: counts.blocked,
            points: counts.max_stack as u64,
            planned: 0,
            estimate: None,
        }
    }
}

/// The search: everything within one bound.
#[derive(Clone, Debug)]
pub struct Bpor {
    tree: Tree,
}

impl Bpor {
    /// Makes a search of everything within `bound`.
    pub fn new(bound: Bound, reduction: Reduction) -> Bpor {
        Bpor { tree: Tree::new(bound, reduction) }
    }

    /// Makes the same search with a mistake in it.
    #[doc(hidden)]
    pub fn with_mistake(self, mistake: Mistake) -> Bpor {
        Bpor { tree: self.tree.with_mistake(mistake) }
    }

    /// Makes the same search with another first thread among those that cost the same.
    #[doc(hidden)]
    pub fn with_ties(self, ties: Ties) -> Bpor {
        Bpor { tree: self.tree.with_ties(ties) }
    }

    /// Returns the bound.
    pub fn bound(&self) -> Bound {
        self.tree.bound()
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> Counts {
        self.tree.counts()
    }
}

impl Explorer for Bpor {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        self.tree.next(prefix)
    }

    fn choices(&mut self) -> Choices<'_> {
        self.tree.choices()
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        self.tree.learn(trace);
    }

    fn covered(&self, is_done: bool) -> Covered {
        self.tree.covered(is_done)
    }

    fn restart(&mut self) -> bool {
        self.tree = Tree::new(self.tree.bound(), self.tree.reduction()).with_ties(self.tree.ties());
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.tree.refusal()
    }

    fn is_beyond_bound(&self, preemptions: u32) -> bool {
        self.tree.is_beyond_bound(preemptions)
    }

    fn search(&self) -> Option<Search> {
        Some(self.counts().into())
    }
}
