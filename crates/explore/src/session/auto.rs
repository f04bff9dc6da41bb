//! The strategy `auto`: every class if that fits the budget, otherwise as much as the budget allows.
//!
//! Under sequential consistency, optimal reduction goes first and estimates the number of executions. If
//! there are too many, or if one of them does not end, a part of the budget goes to executions with few
//! preemptions (within a fair bound, if there are loops), and the rest to samples. Under RC11, a part of the
//! budget goes to a search of all execution graphs, and the rest to samples.

use raddle_core::MemoryModel;
use raddle_results::{Phase, PhaseEnd, Report, Search, Verdict};

use super::report::Details;
use super::run_loop::{Limits, Pace, Stop};
use super::tally::Tally;
use super::{Check, OnStepLimit, plans};
use crate::{Bound, Covered, Deepening, Explorer, Reduction, Refusal, Repeat, Strategy};

/// Programs whose executions have more steps than this are not searched.
const MAX_SEARCHED_STEPS: usize = 10_000;

/// The runs after which an estimate is believed.
const BELIEVED_RUNS: u64 = 50;

/// A search is given up if it needs more than this many times the budget.
const HOPELESS: f64 = 10.0;

/// The part of the budget that a search may use if it is not expected to end within the budget.
const PART: u32 = 4;

/// Executions with more preemptions than this are left to sampling.
const MAX_PREEMPTIONS: u32 = 5;

/// The fair bound for programs with loops.
const FAIR: u32 = 1;

/// What a phase of `auto` came to. Without a verdict, the next phase follows.
struct Outcome {
    phase: Phase,
    verdict: Option<Verdict>,
}

impl Check<'_> {
    /// Explores as far as the budget allows.
    pub(super) fn auto(&mut self) -> Result<Report, Refusal> {
        // A search ends at the first failure.
        if self.settings.keep_going && self.settings.memory == MemoryModel::Rc11 {
            return self.take_turns(&self.samplers());
        }
        let mut tally = Tally::new(self.settings.coverage);
        let mut search = None;
        let mut outcomes = Vec::new();
        if !self.settings.keep_going {
            outcomes.push(match self.settings.memory {
                MemoryModel::Sc => self.search_classes(&mut tally, &mut search),
                MemoryModel::Rc11 => self.search_graphs(&mut tally, &mut search),
            });
        }
        todo!()
    }
}
