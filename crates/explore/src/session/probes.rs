//! Probes: a few runs of other strategies before `auto` searches.
//!
//! A search begins with runs that are alike. A fair run and a few with random priorities find at once what a search may
//! reach late or never, such as two threads that retry in step. They are counted apart, because they are of classes that
//! the search runs too.

use raddle_results::{Phase, PhaseEnd, Verdict};
use raddle_strategy::RoundRobin;

use super::auto::MAX_SEARCHED_STEPS;
use super::plans::sampler_of;
use super::report::Details;
use super::run_loop::{Limits, Stop};
use super::tally::Tally;
use super::{Check, OnStepLimit};
use crate::{Explorer, Repeat, Strategy};

/// The word of the fair run, which is the first.
const FAIR: &str = "round-robin";
/// The strategy of the other runs.
const OTHER: &str = "pct";
/// The maximum number of probes.
const MAX_PROBES: u64 = 12;
/// Probes are at most one of this many runs of the budget.
const RUNS_PER_PROBE: u64 = 8;
/// Probes take at most one of this many parts of the time.
const TIME_PARTS: u32 = 4;

impl Check<'_> {
    /// Makes the probes. Returns the verdict if one fails, or if no run ended in time; `tally` then has their counts.
    pub(super) fn probe(&mut self, tally: &mut Tally, details: &mut Details) -> Option<Verdict> {
        let runs = MAX_PROBES.min(self.settings.runs / RUNS_PER_PROBE);
        if runs == 0 {
            return None;
        }
        let mut probes = Tally::new(None);
        let time = self.budget.limit().map(|limit| limit / TIME_PARTS);
        let limits = Limits { runs, time, ..Limits::of(self.settings) };
        let mut fair = Repeat::once(RoundRobin, self.settings.seed);
        let mut verdict = self.probe_with(FAIR, &mut fair, &limits, &mut probes, details);
        let is_short = probes.steps <= MAX_SEARCHED_STEPS as u64 && !probes.is_trivial();
        if verdict.is_none() && is_short && !probes.is_out_of_time() {
            // These runs need not be fair, and so need not end.
            let max_steps = limits.max_steps.min(MAX_SEARCHED_STEPS);
            let on_step_limit = OnStepLimit::Discard;
            let limits = Limits { max_steps, on_step_limit, ..limits };
            let mut other = Repeat::new(sampler_of(Strategy::known(OTHER)), self.settings.seed);
            verdict = self.probe_with(OTHER, &mut other, &limits, &mut probes, details);
        }
        if verdict.is_none() && probes.is_out_of_time() {
            verdict = Some(Verdict::Sampled);
        }
        if verdict.is_some() {
            *tally = probes;
        } else {
            tally.add_probes(&probes);
        }
        verdict
    }

    /// Makes the probes of one strategy. Returns the verdict if one fails.
    fn probe_with(
        &mut self,
        word: &str,
        explorer: &mut dyn Explorer,
        limits: &Limits,
        probes: &mut Tally,
        details: &mut Details,
    ) -> Option<Verdict> {
        let before = probes.completed();
        match self.run_explorer(explorer, probes, limits) {
            Stop::Failed(failure) => {
                let executions = probes.completed() - before;
                let (strategy, end) = (word.to_owned(), PhaseEnd::Failed);
                details.phases.push(Phase { strategy, executions, failing: 0, end });
                Some(Verdict::Failed(failure))
            }
            Stop::Done | Stop::Trivial | Stop::OutOfBudget | Stop::Enough | Stop::Refused(_) => {
                None
            }
        }
    }
}
