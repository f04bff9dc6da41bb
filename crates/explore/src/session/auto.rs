//! The strategy `auto`: every class if that fits the budget, otherwise as much as the budget allows.
//!
//! A few [probes](super::probes) go first. Under sequential consistency, optimal reduction follows, which also
//! estimates the number of executions. If there are too many, or if one of them does not end, a part of the
//! budget goes to executions with few preemptions (within a fair bound, if there are loops), and the rest to
//! samples. Under RC11, a search of all execution graphs takes the place of both searches.

use std::sync::LazyLock;

use raddle_core::MemoryModel;
use raddle_results::{Phase, PhaseEnd, Report, Verdict};

use super::plans::sampler_of;
use super::report::Details;
use super::run_loop::{Limits, Pace, Stop};
use super::tally::Tally;
use super::{Check, DPOR, OnStepLimit};
use crate::{
    Bound, Covered, Deepening, Dpor, Explorer, Reduction, Refusal, Repeat, Strategy, Trust,
};

/// Programs whose executions have more steps than this are not searched.
pub(super) const MAX_SEARCHED_STEPS: usize = 10_000;

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

/// What samples under sequential consistency.
const SAMPLER: &str = "pos-star";

/// What samples if threads share state that raddle does not see: it does not depend on what raddle sees.
const BLIND_SAMPLER: &str = "random";

/// What samples under RC11.
static WEAK_SAMPLERS: LazyLock<Strategy> =
    LazyLock::new(|| Strategy::known("portfolio:c11-random+pctwm:1:2+pctwm:2:2+pct"));

/// A phase, and the verdict if it settles the check.
type Outcome = (Phase, Option<Verdict>);

impl Check<'_> {
    /// Explores as far as the budget allows.
    pub(super) fn auto(&mut self) -> Result<Report, Refusal> {
        let mut tally = Tally::new(self.settings.coverage);
        let mut details = Details::default();
        let verdict = if self.settings.keep_going {
            // A search ends at the first failure, and probes would spoil the rate of failures.
            None
        } else {
            self.probe(&mut tally, &mut details).or_else(|| match self.settings.memory {
                MemoryModel::Sc => self.search_classes(&mut tally, &mut details),
                MemoryModel::Rc11 => self.search_graphs(&mut tally, &mut details),
            })
        };
        let verdict = match verdict {
            Some(verdict) => verdict,
            None => self.sample_the_rest(&mut tally, &mut details)?,
        };
        // Other phases run classes again.
        details.repeats_no_class &=
            details.phases.len() == 1 && matches!(verdict, Verdict::Exhausted);
        self.report(tally, verdict, details)
    }

    /// Searches all classes; if there are too many, those with few preemptions.
    fn search_classes(&mut self, tally: &mut Tally, details: &mut Details) -> Option<Verdict> {
        let (phase, verdict) = self.search_all(Box::new(Dpor::default()), tally, details);
        let is_claimed = phase.end == PhaseEnd::Exhausted;
        let (phase, verdict) = self.check_phase(phase, verdict, tally);
        if is_claimed && verdict.is_none() {
            details.phases.push(phase);
            return None;
        }
        let lead = (phase.end == PhaseEnd::TooLong).then_some(FAIR);
        details.phases.push(phase);
        if verdict.is_some() {
            return verdict;
        }
        let (phase, verdict) = self.search_bounded(tally, lead);
        let (phase, verdict) = self.check_phase(phase, verdict, tally);
        details.phases.push(phase);
        verdict
    }

    /// Returns a phase and its verdict after looking for what may make a claim wrong, if the phase claims something: state
    /// that raddle does not see, loops that read the clock.
    fn check_phase(
        &mut self,
        phase: Phase,
        verdict: Option<Verdict>,
        tally: &mut Tally,
    ) -> Outcome {
        let claim = match phase.end {
            PhaseEnd::Exhausted => Verdict::Exhausted,
            PhaseEnd::Bounded(bounds) => Verdict::Bounded(bounds),
            _ => return (phase, verdict),
        };
        match self.check_claim(claim, tally) {
            failed @ Verdict::Failed(_) => (Phase { end: PhaseEnd::Failed, ..phase }, Some(failed)),
            // There was no time to check the claim, and none is left for samples.
            Verdict::Sampled if tally.unchecked => {
                (Phase { end: PhaseEnd::OutOfBudget, ..phase }, Some(Verdict::Sampled))
            }
            Verdict::Sampled => {
                let end = match (&tally.hidden_state, tally.blind_spots.clock_loops) {
                    (Some(_), _) => PhaseEnd::HiddenState,
                    (None, true) => PhaseEnd::Clock,
                    (None, false) => PhaseEnd::TooLong,
                };
                (Phase { end, ..phase }, None)
            }
            _ => (phase, verdict),
        }
    }

    /// Tries to run one execution of every class. Returns no verdict if there are too many.
    fn search_all(
        &mut self,
        mut explorer: Box<dyn Explorer>,
        tally: &mut Tally,
        details: &mut Details,
    ) -> Outcome {
        let all = Limits::of(self.settings);
        let limits = searching(all.clone());
        let budget = self.budget;
        let mut is_hopeless = |pace: &Pace| {
            let done = pace.executions as f64;
            // The budget, counted in runs.
            let by_time = budget.limit().map_or(f64::INFINITY, |limit| {
                done * limit.as_secs_f64() / budget.elapsed().as_secs_f64().max(1e-6)
            });
            let allowed = by_time.min(all.runs as f64);
            let is_partly_spent = done * f64::from(PART) > allowed;
            let is_too_much = match pace.estimate {
                None => is_partly_spent,
                Some(all) => all > HOPELESS * allowed || all > allowed && is_partly_spent,
            };
            pace.executions >= BELIEVED_RUNS && is_too_much
        };
        let stop = self.run_explorer_until(&mut *explorer, tally, &limits, &mut is_hopeless);
        details.search = explorer.search();
        details.repeats_no_class = explorer.repeats_no_class();
        let estimate = details.search.and_then(|search| search.estimate).unwrap_or(1.0);
        let (end, verdict) = match stop {
            Stop::Done if explorer.covered(true) == Covered::Everything => {
                (PhaseEnd::Exhausted, Some(Verdict::Exhausted))
            }
            Stop::Trivial if tally.is_uncut() => {
                (PhaseEnd::Exhausted, Some(Verdict::NothingToExplore))
            }
            Stop::Done | Stop::Trivial => {
                // The run that was cut off is made again, in full, by sampling.
                tally.discarded = 0;
                (PhaseEnd::TooLong, None)
            }
            Stop::Enough => (PhaseEnd::TooMany(estimate), None),
            Stop::OutOfBudget => (PhaseEnd::TooMany(estimate), Some(Verdict::Sampled)),
            Stop::Refused(Refusal::ChoiceTooWide { bound, .. }) => {
                (PhaseEnd::TooMany(f64::from(bound)), None)
            }
            Stop::Refused(_) => (PhaseEnd::TooLong, None),
            Stop::Failed(failure) => (PhaseEnd::Failed, Some(Verdict::Failed(failure))),
        };
        (phase(DPOR, tally.completed(), end), verdict)
    }

    /// Tries all executions with few preemptions, within a part of the budget. Returns no verdict if there
    /// are others and none of these fails.
    fn search_bounded(&mut self, tally: &mut Tally, lead: Option<u32>) -> Outcome {
        let (before, completed) = (tally.executions, tally.completed());
        let all = Limits::of(self.settings);
        let time = self.budget.limit().map(|limit| {
            let spent = self.budget.elapsed();
            spent + limit.saturating_sub(spent) / PART
        });
        let runs = before + all.runs.saturating_sub(before) / u64::from(PART);
        let limits = Limits { runs, time, ..searching(all) };
        let last = Bound { preemptions: Some(MAX_PREEMPTIONS), lead };
        let mut explorer = Deepening::new(last, Reduction::Optimised);
        let stop = self.run_explorer(&mut explorer, tally, &limits);
        let covered = explorer.covered(matches!(stop, Stop::Done));
        let (end, verdict) = match (stop, covered) {
            (Stop::Failed(failure), _) => (PhaseEnd::Failed, Some(Verdict::Failed(failure))),
            (_, Covered::Everything) => (PhaseEnd::Exhausted, Some(Verdict::Exhausted)),
            (_, Covered::Within(bounds)) => (PhaseEnd::Bounded(bounds), None),
            (_, Covered::Nothing) => (PhaseEnd::OutOfBudget, None),
        };
        // Runs that were cut off are not set aside, but left to sampling.
        tally.discarded = 0;
        let word = format!("bpor:0-{}", explorer.current().0);
        (phase(&word, tally.completed() - completed, end), verdict)
    }

    /// Tries to run every execution graph. Returns no verdict if there are too many.
    fn search_graphs(&mut self, tally: &mut Tally, details: &mut Details) -> Option<Verdict> {
        let (phase, verdict) = self.search_all(Box::new(Trust::default()), tally, details);
        let (phase, verdict) = self.check_phase(phase, verdict, tally);
        details.phases.push(phase);
        verdict
    }

    /// Samples until the budget is used up.
    fn sample_the_rest(
        &mut self,
        tally: &mut Tally,
        details: &mut Details,
    ) -> Result<Verdict, Refusal> {
        let before = tally.completed();
        let strategy = match self.settings.memory {
            MemoryModel::Sc if tally.hidden_state.is_some() => Strategy::known(BLIND_SAMPLER),
            MemoryModel::Sc => Strategy::known(SAMPLER),
            MemoryModel::Rc11 => *WEAK_SAMPLERS,
        };
        let mut explorer = Repeat::new(sampler_of(strategy), self.settings.seed);
        let stop = self.run_explorer(&mut explorer, tally, &Limits::of(self.settings));
        let end = match stop {
            Stop::Failed(_) => PhaseEnd::Failed,
            Stop::Done | Stop::Trivial | Stop::OutOfBudget | Stop::Enough | Stop::Refused(_) => {
                PhaseEnd::OutOfBudget
            }
        };
        let failing = tally.census.of_member(0);
        let phase = phase(&strategy.word(), tally.completed() - before, end);
        details.phases.push(Phase { failing, ..phase });
        stop.verdict(&explorer)
    }
}

/// Returns the limits of a search.
fn searching(all: Limits) -> Limits {
    Limits {
        max_steps: all.max_steps.min(MAX_SEARCHED_STEPS),
        on_step_limit: OnStepLimit::Discard,
        ..all
    }
}

fn phase(strategy: &str, executions: u64, end: PhaseEnd) -> Phase {
    Phase { strategy: strategy.to_owned(), executions, failing: 0, end }
}
