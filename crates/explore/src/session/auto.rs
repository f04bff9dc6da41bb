//! The strategy for those who do not want to choose: everything if that fits the budget, otherwise
//! what can be had for it.
//!
//! Optimal reduction goes first and estimates how many executions there are. If that is too many, or
//! if one of them does not end, a part of the budget goes to those with few preemptions (within a
//! fair bound, if there are loops), and the rest to sampling.

use raddle_engine::Substrate;
use raddle_results::{Phase, PhaseEnd, Report, Search, Verdict};
use raddle_strategy::Pos;

use super::{Limits, OnStepLimit, Pace, Session, Stop, Tally};
use crate::{Bound, Covered, Deepening, Dpor, Explorer, Reduction, Refusal, Repeat, Strategy};

/// Programs whose executions have more steps than this are not searched.
const SEARCHED_STEPS: usize = 10_000;

/// An estimate is believed after so many runs.
const BELIEVED_RUNS: u64 = 50;

/// A search is given up if it needs more than so many times the budget, and after so large a part
/// of the budget in any case if it is not expected to end in time.
const HOPELESS: f64 = 10.0;
const PART: u64 = 4;

/// More preemptions than this are left to sampling.
const MOST_PREEMPTIONS: u32 = 5;

/// How much more often than others a thread in a loop may go round.
const FAIR: u32 = 1;

impl<S: Substrate> Session<'_, S> {
    /// Explores as far as the budget goes.
    pub(super) fn auto(mut self) -> Result<Report, Refusal> {
        let mut tally = Tally::new(self.settings);
        if self.settings.keep_going {
            // Searches end at the first failure.
            let (phase, verdict) = self.sample_the_rest(&mut tally)?;
            return Ok(Report { phases: vec![phase], ..self.report(tally, verdict) });
        }
        let (phase, search, verdict) = self.search_all(&mut tally);
        let lead = (phase.end == PhaseEnd::TooLong).then_some(FAIR);
        let mut phases = vec![phase];
        let mut verdict = verdict;
        if verdict.is_none() {
            let (phase, found) = self.search_bounded(&mut tally, lead);
            phases.push(phase);
            verdict = found;
        }
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
        let mut is_hopeless = |pace: &Pace| {
            let estimate = pace.estimate.unwrap_or(1.0);
            let done = pace.executions as f64;
            // What the budget allows, counted in runs.
            let by_time = budget.limit().map_or(f64::INFINITY, |limit| {
                done * limit.as_secs_f64() / budget.elapsed().as_secs_f64().max(1e-6)
            });
            let allowed = by_time.min(all.runs as f64);
            let needed = estimate / allowed;
            pace.executions >= BELIEVED_RUNS
                && (needed > HOPELESS || needed > 1.0 && done * PART as f64 > allowed)
        };
        let mut explorer = Dpor::default();
        let stop = self.go(&mut explorer, tally, &limits, &mut is_hopeless);
        let search = explorer.search();
        let estimate = search.and_then(|search| search.estimate).unwrap_or(1.0);
        let (end, verdict) = match stop {
            Stop::Done if explorer.covered(true) == Covered::Everything => {
                (PhaseEnd::Exhausted, Some(Verdict::Exhausted))
            }
            Stop::Trivial if tally.discarded == 0 => {
                (PhaseEnd::Exhausted, Some(Verdict::NothingToExplore))
            }
            Stop::Done | Stop::Trivial => {
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
            Stop::Refused(
                refusal @ (Refusal::NotAPortfolio
                | Refusal::NotWeak { .. }
                | Refusal::OnlyWeak { .. }
                | Refusal::CannotKeepGoing { .. }
                | Refusal::OneThread
                | Refusal::NothingShared),
            ) => {
                unreachable!("raddle invariant broken: {refusal} in a search")
            }
            Stop::Failed(failure) => (PhaseEnd::Failed, Some(Verdict::Failed(failure))),
        };
        let strategy = Strategy::Dpor.to_string();
        (Phase { strategy, executions: tally.executions, failing: 0, end }, search, verdict)
    }

    /// Tries all executions with few preemptions, as far as a part of the budget goes. No verdict if
    /// there are others and none of these fails.
    fn search_bounded(&mut self, tally: &mut Tally, lead: Option<u32>) -> (Phase, Option<Verdict>) {
        let before = tally.executions;
        let all = Limits::of(self.settings);
        let time = self.budget.limit().map(|limit| {
            let spent = self.budget.elapsed();
            spent + limit.saturating_sub(spent) / PART as u32
        });
        let limits = Limits {
            runs: before + all.runs.saturating_sub(before) / PART,
            time,
            max_steps: all.max_steps.min(SEARCHED_STEPS),
            on_step_limit: OnStepLimit::Discard,
        };
        let last = Bound { preemptions: Some(MOST_PREEMPTIONS), lead };
        let mut explorer = Deepening::new(last, Reduction::Optimised);
        let stop = self.go(&mut explorer, tally, &limits, &mut |_| false);
        let covered = explorer.covered(matches!(stop, Stop::Done));
        let (end, verdict) = match (stop, covered) {
            (Stop::Failed(failure), _) => (PhaseEnd::Failed, Some(Verdict::Failed(failure))),
            (_, Covered::Everything) => (PhaseEnd::Exhausted, Some(Verdict::Exhausted)),
            (_, Covered::Within(bounds)) => (PhaseEnd::Bounded(bounds), None),
            (_, Covered::Nothing) => (PhaseEnd::OutOfBudget, None),
        };
        // What was cut off is not set aside, but left to sampling.
        tally.discarded = 0;
        let strategy = Strategy::BporUpTo(explorer.current().0).to_string();
        (Phase { strategy, executions: tally.executions - before, failing: 0, end }, verdict)
    }

    /// Uses up what is left of the budget.
    fn sample_the_rest(&mut self, tally: &mut Tally) -> Result<(Phase, Verdict), Refusal> {
        let before = tally.executions;
        let limits = Limits::of(self.settings);
        let mut explorer = Repeat::new(Pos::default(), self.settings.seed);
        let stop = self.go(&mut explorer, tally, &limits, &mut |_| false);
        let end = match stop {
            Stop::Failed(_) => PhaseEnd::Failed,
            Stop::Done | Stop::Trivial | Stop::OutOfBudget | Stop::Enough | Stop::Refused(_) => {
                PhaseEnd::OutOfBudget
            }
        };
        let strategy = Strategy::PosStar.to_string();
        let failing = tally.census.of_part(0);
        let phase = Phase { strategy, executions: tally.executions - before, failing, end };
        Ok((phase, stop.verdict(&explorer)?))
    }
}
