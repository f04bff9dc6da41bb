//! The loop: makes the runs of one explorer on one engine.

use std::time::Duration;

use raddle_core::Ending;
use raddle_engine::{KnownLoop, LoopNature};
use raddle_results::{Failure, MAX_LEAKED, Progress};

use super::deadline::Deadline;
use super::tally::Tally;
use super::{Check, OnStepLimit, Settings};
use crate::executor::AnyEngine;
use crate::{Covered, Explorer, Refusal, engine_cache};

/// Progress is shown, and the caller asked whether it is enough, after about this many steps.
const STEPS_PER_PROGRESS: u64 = 4096;
/// The cost of a run besides its steps, in steps.
const STEPS_PER_RUN: u64 = 8;

/// How far a phase of a check may go.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    /// The number of runs of the whole check at which the phase ends.
    pub(super) runs: u64,
    /// The time since the beginning of the check at which the phase ends.
    pub(super) time: Option<Duration>,
    pub(super) max_steps: usize,
    pub(super) on_step_limit: OnStepLimit,
}

impl Limits {
    /// Returns the limits of a check with one phase.
    pub(super) fn of(settings: &Settings) -> Limits {
        let Settings { runs, max_steps, on_step_limit, .. } = *settings;
        Limits { runs, time: None, max_steps, on_step_limit }
    }
}

/// The progress of a phase.
#[derive(Copy, Clone, Debug)]
pub(super) struct Pace {
    pub(super) executions: u64,
    /// An estimate of all executions.
    pub(super) estimate: Option<f64>,
}

/// Why a phase ended.
#[derive(Debug)]
pub(super) enum Stop {
    /// The explorer has no run left.
    Done,
    /// There is only one execution.
    Trivial,
    /// A limit was reached.
    OutOfBudget,
    /// The caller wanted no further runs.
    Enough,
    /// A run failed.
    Failed(Box<Failure>),
    /// The explorer cannot continue.
    Refused(Refusal),
}

/// Returns whether the run with the number `run` is made a second time, to see whether the program is
/// deterministic. So is the last run of a phase.
fn is_repeated(run: u64) -> bool {
    run == 0 || run.is_power_of_two()
}

impl Check<'_> {
    /// Makes the runs of `explorer` until one fails or there is no reason to continue.
    pub(super) fn run_explorer(
        &mut self,
        explorer: &mut dyn Explorer,
        tally: &mut Tally,
        limits: &Limits,
    ) -> Stop {
        self.run_explorer_until(explorer, tally, limits, &mut |_| false)
    }

    /// Makes the runs of `explorer` as [`run_explorer`](Check::run_explorer) does, and asks `is_enough` now
    /// and then.
    pub(super) fn run_explorer_until(
        &mut self,
        explorer: &mut dyn Explorer,
        tally: &mut Tally,
        limits: &Limits,
        is_enough: &mut dyn FnMut(&Pace) -> bool,
    ) -> Stop {
        let thread_ids = explorer.thread_ids();
        let mut engine = engine_cache::take(self.settings.memory, thread_ids, limits.max_steps);
        engine.set_known_loops(self.loops.clone());
        let first = tally.executions;
        let stop = self.run_loop(&mut engine, explorer, tally, limits, is_enough);
        let stop = match (stop, tally.executions.checked_sub(1)) {
            (stop @ (Stop::Done | Stop::OutOfBudget | Stop::Enough), Some(last))
                if last >= first
                    && !is_repeated(last)
                    && engine.trace().ending != Ending::TimeLimit =>
            {
                engine.set_time_limit(None);
                self.check_repeatable(&mut engine, last).unwrap_or(stop)
            }
            (stop, _) => stop,
        };
        if !matches!(stop, Stop::Failed(_)) {
            // After a failure, the last run may not have come to its end.
            engine_cache::put(engine);
        }
        match (stop, tally.census.first()) {
            (stop @ (Stop::Failed(_) | Stop::Refused(_)), _) | (stop, None) => stop,
            (_, Some(first)) => Stop::Failed(Box::new(first.clone())),
        }
    }

    fn run_loop(
        &mut self,
        engine: &mut AnyEngine,
        explorer: &mut dyn Explorer,
        tally: &mut Tally,
        limits: &Limits,
        is_enough: &mut dyn FnMut(&Pace) -> bool,
    ) -> Stop {
        let (first, incomplete) = (tally.executions, tally.incomplete);
        let (independent_runs, plans_long) = (explorer.independent_runs(), explorer.plans_long());
        let keeps = explorer.skips_equivalent() && self.settings.hidden_state;
        tally.kept.begin(keeps.then_some(first));
        let mut next_inspection = 0;
        let mut leaked_before = self.executor.leaked();
        let is_first = tally.executions == 0 && tally.probes == 0;
        let end = if is_first { self.budget.first_limit() } else { self.end_of(limits) };
        let deadline = Deadline::new(self.budget, end);
        engine.set_time_limit(deadline.for_engine());
        let (mut steps_to_clock, mut steps_to_progress): (u64, u64) = (0, 0);
        loop {
            if independent_runs {
                engine.forget_threads();
            }
            if !explorer.next(engine.prefix_mut()) {
                return if tally.is_trivial() { Stop::Trivial } else { Stop::Done };
            }
            self.executor.execute(engine, explorer.choices());
            let run = tally.executions;
            let closely = run >= next_inspection || !engine.was_ordinary();
            if closely && engine.trace().ending == Ending::TimeLimit {
                tally.add_cut_off(engine.trace(), engine.max_alive());
                tally.leaked += self.executor.leaked() - leaked_before;
                return Stop::OutOfBudget;
            }
            if engine.has_unknown_rounds() {
                let wrong = self.examine_loops(engine);
                let is_wait = |known: &KnownLoop| known.nature == LoopNature::Waits;
                tally.blind_spots.idle_rounds |= self.loops.iter().any(is_wait);
                if let Some(site) = wrong {
                    if explorer.restart() {
                        tally.begin_again(first, incomplete);
                        tally.kept.begin(keeps.then_some(first));
                        next_inspection = 0;
                        continue;
                    }
                    if explorer.covered(true) != Covered::Nothing {
                        return Stop::Refused(Refusal::Counts { site });
                    }
                    // A sampler continues with the next run. This one did not come to its end.
                    tally.add_wait(engine.trace(), engine.max_alive());
                    explorer.learn(run - first, engine.trace());
                    continue;
                }
            }
            tally.blind_spots.clock_loops |= engine.has_waited_for_time();
            let (trace, threads) = (engine.trace(), engine.max_alive());
            if closely {
                tally.add(trace, threads);
            } else {
                tally.add_ordinary(trace, threads);
            }
            explorer.learn(run - first, trace);
            if closely {
                tally.kept.offer(run, trace);
                next_inspection = self.next_inspection(run, tally, limits);
                let mut stop =
                    self.inspect((run, run - first), trace, engine.given_up(), tally, limits);
                if let (None, Some(whole)) = (&stop, engine.given_up()) {
                    let is_beyond_bound = explorer.is_beyond_bound(engine.tail_preemptions());
                    stop = self.inspect_given_up(run, whole, is_beyond_bound, tally);
                }
                let leaked = self.executor.leaked();
                tally.leaked += leaked - leaked_before;
                leaked_before = leaked;
                if let Some(stop) = stop {
                    return stop;
                }
                if leaked >= MAX_LEAKED {
                    return Stop::OutOfBudget;
                }
            }
            if let Some(refusal) = explorer.refusal() {
                return Stop::Refused(refusal);
            }
            if closely && is_repeated(run) {
                if let Some(stop) = self.check_repeatable(engine, run) {
                    return stop;
                }
                if run == 0 && tally.is_trivial() && !self.settings.explore_trivial {
                    return Stop::Trivial;
                }
            }
            if tally.executions >= limits.runs {
                return Stop::OutOfBudget;
            }
            let cost = engine.trace().events.len() as u64 + STEPS_PER_RUN;
            match steps_to_clock.checked_sub(cost) {
                Some(left) if !plans_long => steps_to_clock = left,
                _ if self.is_out_of_time(limits) => return Stop::OutOfBudget,
                _ => {
                    let steps = deadline.steps_from(self.budget.elapsed());
                    engine.set_time_check_interval(steps);
                    steps_to_clock = steps as u64;
                    if run == first {
                        deadline.set_end(self.end_of(limits));
                    }
                }
            }
            match steps_to_progress.checked_sub(cost) {
                Some(left) if !plans_long => steps_to_progress = left,
                _ => {
                    steps_to_progress = STEPS_PER_PROGRESS;
                    let estimate = explorer.search().and_then(|search| search.estimate);
                    self.show_progress(tally, first, estimate);
                    let executions = tally.executions - first;
                    if is_enough(&Pace { executions, estimate }) {
                        return Stop::Enough;
                    }
                }
            }
        }
    }

    /// Returns the time since the beginning of the check at which a phase ends.
    fn end_of(&self, limits: &Limits) -> Option<Duration> {
        [self.budget.limit(), limits.time].into_iter().flatten().min()
    }

    /// Returns whether the time of a phase is up.
    pub(super) fn is_out_of_time(&self, limits: &Limits) -> bool {
        self.end_of(limits).is_some_and(|end| self.budget.elapsed() >= end)
    }

    fn show_progress(&self, tally: &Tally, first: u64, estimate: Option<f64>) {
        if tally.executions > 1 {
            self.budget.on_progress(&Progress {
                executions: tally.executions,
                classes: tally.classes.count(),
                // The estimate is of the runs of one explorer.
                total: estimate.map(|estimate| first as f64 + estimate),
            });
        }
    }
}
