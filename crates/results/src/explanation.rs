//! What raddle found out about a failure after it was found: a smaller run that fails in the same way, and what causes
//! the failure.

use raddle_core::{Op, Site, ThreadId};

use crate::{Repair, Unknown};

/// What raddle found out about a failing run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// How the run was shrunk.
    pub shrunk: Shrunk,
    /// The orderings that cause the failure, if they were found.
    pub causes: Option<Causes>,
    /// Why there are no causes.
    pub no_causes: Option<Unknown>,
    /// Changes of the program with which nothing fails.
    pub repairs: Vec<Repair>,
    /// Why there are no repairs.
    pub no_repairs: Option<Unknown>,
    /// The number of runs made to find this out. They are not among [`Report::executions`](crate::Report::executions).
    pub executions: u64,
    /// What ended the work early, if anything.
    pub cut_off: Option<CutOff>,
}

impl Explanation {
    /// Makes an explanation of a run that was shrunk.
    pub fn new(shrunk: Shrunk, executions: u64, cut_off: Option<CutOff>) -> Explanation {
        Explanation {
            shrunk,
            causes: None,
            no_causes: None,
            repairs: Vec::new(),
            no_repairs: None,
            executions,
            cut_off,
        }
    }
}

/// How a failing run was shrunk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shrunk {
    /// The size of the run that was found.
    pub from: RunSize,
    /// The size of the run that is reported.
    pub to: RunSize,
    /// Whether it is known that no run with fewer preemptions fails in the same way.
    pub minimal: bool,
    /// The token of the run that was found.
    pub found_token: String,
}

/// The size of a run. Sizes are compared field by field, in this order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct RunSize {
    /// The switches away from a thread that could have continued.
    pub preemptions: u32,
    /// The number of blocks: steps of one thread without a step of another in between.
    pub blocks: u32,
    /// The loads that did not read the newest store, the stores that did not become the newest, and the numbers chosen
    /// that are not zero.
    pub unusual_choices: u32,
    /// The number of events.
    pub steps: u64,
}

/// What ended the work on an explanation early.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CutOff {
    /// The number of runs.
    Executions,
    /// The time.
    Time,
    /// The number of threads that could not be cleared away.
    Leaks,
}

/// The orderings that cause a failure: every run that has them fails in the same way.
#[derive(Clone, Debug)]
pub struct Causes {
    /// The orderings. Empty if every run fails in the same way.
    pub orderings: Vec<OrderedPair>,
    /// What is known about them.
    pub certificate: Certificate,
}

/// An event that comes before another one.
#[derive(Clone, Debug)]
pub struct OrderedPair {
    /// The first event.
    pub before: CauseEvent,
    /// The second event. The failing run may not have come to it.
    pub after: CauseEvent,
}

/// An event, named so that other runs have it too.
#[derive(Copy, Clone, Debug)]
pub struct CauseEvent {
    /// The thread.
    pub thread: ThreadId,
    /// The operation, with its object in the failing run.
    pub op: Op,
    /// The place in the program.
    pub site: Site,
    /// How often the thread did the same at this place before.
    pub nth: u32,
    /// The position in the failing run. `None` if the run did not come to the event.
    pub position: Option<usize>,
}

/// What is known about the causes of a failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// Why the orderings are enough.
    pub sufficient: Sufficiency,
    /// The number of runs that show that no smaller set of orderings is enough. Each set that is smaller allows one of them,
    /// which does not fail in the same way or cannot continue.
    pub refuted: u64,
    /// Tokens of the first of these runs.
    pub counterexamples: Vec<String>,
}

/// Why orderings are enough for a failure.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Sufficiency {
    /// All runs that have them were made, and fail in the same way.
    Proved {
        /// The number of these runs, up to the order of independent steps.
        executions: u64,
    },
    /// All runs with them that were drawn fail in the same way.
    Sampled {
        /// The number of these runs.
        executions: u64,
    },
}
