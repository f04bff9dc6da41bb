//! What raddle found out about a failure after it was found: a smaller run that fails in the same way.

/// What raddle found out about a failing run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// How the run was shrunk.
    pub shrunk: Shrunk,
    /// The number of runs made to find this out. They are not among [`Report::executions`](crate::Report::executions).
    pub executions: u64,
    /// What ended the work early, if anything.
    pub cut_off: Option<CutOff>,
}

impl Explanation {
    /// Makes an explanation of a run that was shrunk.
    pub fn new(shrunk: Shrunk, executions: u64, cut_off: Option<CutOff>) -> Explanation {
        Explanation { shrunk, executions, cut_off }
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
pub enum CutOff {
    /// The number of runs.
    Executions,
    /// The time.
    Time,
    /// The number of threads that could not be cleared away.
    Leaks,
}
