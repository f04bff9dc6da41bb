//! Whether any execution of a changed program fails.

use raddle_core::{Schedule, Trace};
use raddle_results::Unknown;

use super::{Outcome, Trials};
use crate::{Covered, Explorer};

/// Whether no execution fails.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    /// None does. This many were made, which are all of them up to the order of independent steps.
    Yes { executions: u64 },
    /// One does.
    No,
}

/// Searches all executions with `explorer` until one fails. `seen` receives the trace of every run.
pub(super) fn holds(
    trials: &mut dyn Trials,
    mut explorer: Box<dyn Explorer>,
    max_steps: usize,
    seen: &mut dyn FnMut(&Trace),
) -> Result<Holds, Unknown> {
    trials.begin(explorer.thread_ids(), max_steps);
    let (mut prefix, mut run, mut executions) = (Schedule::new(), 0, 0);
    while explorer.next(&mut prefix) {
        let outcome = trials.run(&prefix, explorer.choices()).ok_or_else(|| trials.limit())?;
        let trace = trials.trace();
        seen(trace);
        explorer.learn(run, trace);
        match outcome {
            Outcome::Same | Outcome::Other => return Ok(Holds::No),
            Outcome::Incomplete => return Err(Unknown::Steps),
            Outcome::Passes => executions += 1,
            Outcome::GivenUp | Outcome::Stopped => {}
        }
        if explorer.refusal().is_some() {
            return Err(Unknown::NoChange);
        }
        run += 1;
    }
    match explorer.covered(true) {
        Covered::Everything => Ok(Holds::Yes { executions }),
        Covered::Within(_) | Covered::Nothing => Err(Unknown::NoChange),
    }
}
