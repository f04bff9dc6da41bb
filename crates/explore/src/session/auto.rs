//! The strategy for those who do not want to choose: everything if that fits the budget, otherwise
//! what can be had for it.
//!
//! Optimal reduction goes first and estimates how many executions there are. If that is too many, or
//! if one of them does not end, the rest of the budget goes to sampling.

use raddle_core::{Phase, PhaseEnd, Report, Search, Verdict};
use raddle_engine::Substrate;
use raddle_strategy::Random;

use super::{Limits, OnStepLimit, Progress, Session, Stop, Tally};
use crate::{Dpor, Explorer, Refusal, Repeat, Strategy};

/// Programs whose executions have more steps than this are not searched.
const SEARCHED_STEPS: usize = 10_000;

/// An estimate is believed after so many runs.
const BELIEVED_RUNS: u64 = 50;

/// A search is given up if it needs more than so many times the budget, and after so large a part
/// of the budget in any case if it is not expected to end in time.
const HOPELESS: f64 = 10.0;
const PART: u64 = 4;

impl<S: Substrate> Session<'_, S> {
    /// Explores as far as the budget goes.
    pub(super) fn auto(mut self) -> Result<Report, Refusal> {
        let mut tally = Tally::new();
        let (phase, search, verdict) = self.search_all(&mut tally);
        let mut phases = vec![phase];
        let verdict = match verdict {
            Some(verdict) => verdict,
            None => {
                let (phase, verdict) = self.sample_the_rest(&mut tally)?;
                phases.push(phase);
                verdict
            }
        };
        Ok(Report { phases, search, ..self.report(tally, verdict) })
    }

    /// Tries to run one execution of every class. No verdict if there are too many.
    fn search_all(&mut self, tally: &mut Tally) -> (Phase, Option<Search>, Option<Verdict>) {
        let all = Limits::of(self.settings);
        let limits = Limits {
            max_steps: all.max_steps.min(SEARCHED_STEPS),
            on_step_limit: OnStepLimit::Discard,
            ..all.clone()
        };
        let budget = self.budget;
        let mut is_hopeless = |progress: &Progress| {
            let estimate = progress.search.and_then(|search| search.estimate).unwrap_or(1.0);
            let done = progress.executions as f64;
            // What the budget allows, counted in runs.
            let by_time = budget.limit().map_or(f64::INFINITY, |limit| {
                done * limit.as_secs_f64() / budget.elapsed().as_secs_f64().max(1e-6)
            });
            let allowed = by_time.min(all.runs as f64);
            let needed = estimate / allowed;
            progress.executions >= BELIEVED_RUNS
                && (needed > HOPELESS || needed > 1.0 && done * PART as f64 > allowed)
        };
        let mut explorer = Dpor::default();
        let stop = self.go(&mut explorer, tally, &limits, &mut is_hopeless);
        let search = explorer.search();
        let estimate = search.and_then(|search| search.estimate).unwrap_or(1.0);
        let (end, verdict) = match stop {
            Stop::Done if explorer.is_complete() => (PhaseEnd::Exhausted, Some(Verdict::Exhausted)),
            Stop::Trivial => (PhaseEnd::Exhausted, Some(Verdict::NothingToExplore)),
            Stop::Done => {
                // The run that was cut off is made again, in full, by sampling.
                tally.discarded = 0;
                (PhaseEnd::TooLong, None)
            }
            Stop::Enough => (PhaseEnd::TooMany(estimate), None),
            Stop::OutOfBudget => (PhaseEnd::TooMany(estimate), Some(Verdict::Sampled)),
            Stop::Refused(Refusal::Circles { .. }) => (PhaseEnd::TooLong, None),
            Stop::Refused(Refusal::ChoiceTooWide { bound, .. }) => {
                (PhaseEnd::TooMany(f64::from(bound)), None)
            }
            Stop::Failed(failure) => (PhaseEnd::Failed, Some(Verdict::Failed(failure))),
        };
        let strategy = Strategy::Dpor.to_string();
        (Phase { strategy, executions: tally.executions, end }, search, verdict)
    }

    /// Uses up what is left of the budget.
    fn sample_the_rest(&mut self, tally: &mut Tally) -> Result<(Phase, Verdict), Refusal> {
        let before = tally.executions;
        let limits = Limits::of(self.settings);
        let mut explorer = Repeat::new(Random::default(), self.settings.seed);
        let stop = self.go(&mut explorer, tally, &limits, &mut |_| false);
        let end = match stop {
            Stop::Failed(_) => PhaseEnd::Failed,
            Stop::Done | Stop::Trivial | Stop::OutOfBudget | Stop::Enough | Stop::Refused(_) => {
                PhaseEnd::OutOfBudget
            }
        };
        let strategy = Strategy::Random.to_string();
        let phase = Phase { strategy, executions: tally.executions - before, end };
        Ok((phase, stop.verdict(&explorer)?))
    }
}
