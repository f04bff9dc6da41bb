//! The fewest preemptions with which a run fails in the same way, by a search of all runs with fewer.

use raddle_core::Trace;

use super::{Outcome, Trials};
use crate::{Bound, Covered, Deepening, Explorer, Reduction};

/// What a search for a failing run with fewer preemptions has found.
pub(crate) enum Fewest {
    /// A run with fewer preemptions fails in the same way, and none with still fewer does.
    Found(Box<Trace>),
    /// All runs with fewer preemptions were made, and none fails in the same way.
    None,
    /// The search did not end.
    Unknown,
}

/// Searches all runs with fewer than `preemptions` preemptions, those with the fewest first, with at most `max_steps`
/// events. `passed` receives the traces of runs that end well.
pub(crate) fn fewest(
    trials: &mut dyn Trials,
    preemptions: u32,
    max_steps: usize,
    passed: &mut dyn FnMut(u64, &Trace),
) -> Fewest {
    let Some(most) = preemptions.checked_sub(1) else { return Fewest::None };
    let mut explorer = Box::new(Deepening::new(Bound::preemptions(most), Reduction::Optimised));
    trials.begin(explorer.thread_ids(), max_steps);
    let mut prefix = Vec::new();
    let mut run = 0;
    while explorer.next(&mut prefix) {
        let Some(outcome) = trials.run(&prefix, explorer.choices()) else { return Fewest::Unknown };
        let trace = trials.trace();
        match outcome {
            Outcome::Same => return Fewest::Found(Box::new(trace.clone())),
            // Nothing is learnt of such a run, which may be too long to look at its races.
            Outcome::Incomplete => return Fewest::Unknown,
            Outcome::Passes => passed(run, trace),
            Outcome::Other | Outcome::GivenUp | Outcome::Stopped => {}
        }
        explorer.learn(run, trace);
        if explorer.refusal().is_some() {
            return Fewest::Unknown;
        }
        run += 1;
    }
    match explorer.covered(true) {
        Covered::Everything | Covered::Within(_) => Fewest::None,
        Covered::Nothing => Fewest::Unknown,
    }
}
