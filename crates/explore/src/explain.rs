//! Explanations of failures: smaller runs that fail in the same way, and the orderings that cause the failure.
//!
//! Nothing here knows a front end: runs are made through [`Trials`], which the session implements
//! (`session/explain.rs`). Every result is a run that was made, and no claim rests on a sample unless it says so.
//! `docs/design/explain.md` has the definitions.

mod blocks;
mod causes;
mod changes;
mod fewest;
mod guide;
mod hitting;
mod holds;
mod labels;
mod lock_order;
mod orders;
mod shrink;
mod sweep;
mod wishes;

use raddle_core::{Choices, Schedule, Strengthened, Trace};
use raddle_engine::ThreadIds;
use raddle_results::Unknown;

pub(crate) use causes::{Found, causes};
pub(crate) use changes::changes;
pub(crate) use fewest::{Fewest, fewest};
pub(crate) use orders::orders;
pub(crate) use shrink::{Shrinker, SmallRun};

/// How much raddle does to explain a failure.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Explain {
    /// Nothing: the failure is reported as it was found.
    #[default]
    Off,
    /// What 2,000 executions allow.
    Quick,
    /// What 100,000 executions allow.
    Full,
}

/// What came of a trial run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// It fails like the run that is explained.
    Same,
    /// It fails in another way.
    Other,
    /// It does not fail.
    Passes,
    /// Its chooser gave it up.
    GivenUp,
    /// A thread was stopped, so that it is no whole execution.
    Stopped,
    /// It was cut off.
    Incomplete,
}

/// Makes trial runs of a program that fails, as long as the budget lasts.
pub(crate) trait Trials {
    /// Makes a run that follows `prefix` and then `choices`, whose chooser is on the heap: a run may happen in another
    /// process, which shares the heap of this one and not its stack. Returns `None` if the budget is used up; no run was made
    /// then.
    fn run(&mut self, prefix: &Schedule, choices: Choices<'_>) -> Option<Outcome>;

    /// Returns the trace of the last run, up to where its chooser gave it up.
    fn trace(&self) -> &Trace;

    /// Returns a token of the last run, up to its end.
    fn token(&self) -> String;

    /// Returns why the last run was not made.
    fn limit(&self) -> Unknown;

    /// Makes memory orderings stronger in the runs that are [begun](Trials::begin) from now on.
    fn strengthen(&mut self, orders: &[Strengthened]);

    /// Sets the ids that threads have in the next runs, and the most events that these may have.
    fn begin(&mut self, thread_ids: ThreadIds, max_steps: usize);
}
