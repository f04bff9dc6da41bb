//! Verdicts: what a run means, and whether a failure can be confirmed.
//!
//! Most runs end well and are not inspected; see [`Check::next_inspection`].

use raddle_analysis::{blind_spots, cause, leak, read_twice, wait_loops, waits};
use raddle_core::{Choices, Ending, ObjectKind, Trace};
use raddle_results::{Failure, Finding, Token, Verdict};

use super::freed::Cleared;
use super::run_loop::{Limits, Stop};
use super::tally::Tally;
use super::warnings::next_look;
use super::words::{choice, describe, possible, refused};
use super::{Check, Leaks, OnStepLimit};
use crate::executor::AnyEngine;
use crate::{Covered, Explorer, Refusal, Replay, replay};

impl Stop {
    /// Returns the verdict of a check with one phase.
    pub(super) fn verdict(self, explorer: &dyn Explorer) -> Result<Verdict, Refusal> {
        let is_done = matches!(self, Stop::Done);
        Ok(match self {
            Stop::Done | Stop::OutOfBudget | Stop::Enough => match explorer.covered(is_done) {
                Covered::Everything => Verdict::Exhausted,
                Covered::Within(bounds) => Verdict::Bounded(bounds),
                Covered::Nothing => Verdict::Sampled,
            },
            Stop::Trivial => Verdict::NothingToExplore,
            Stop::Failed(failure) => Verdict::Failed(failure),
            Stop::Refused(refusal) => return Err(refusal),
        })
    }
}

impl Check<'_> {
    /// Returns the number of the next run after `run` that is inspected although it is ordinary; the last
    /// one at the latest.
    pub(super) fn next_inspection(&self, run: u64, tally: &Tally, limits: &Limits) -> u64 {
        if self.inspects_all() || tally.coverage.is_some() {
            return 0;
        }
        next_look(run).min(tally.kept.next()).min(limits.runs.saturating_sub(1))
    }

    /// Returns whether a run that ended well, without plain accesses beside its events, can fail.
    fn inspects_all(&self) -> bool {
        self.settings.races && self.settings.plain_points
            || self.settings.warnings.leaks == Leaks::Fail
    }

    /// Inspects the run with the number `run`, the run `nth` of its explorer. `whole` is its trace with the end to which it
    /// was led, if it was. Returns how the phase ends, if it does.
    #[cold]
    pub(super) fn inspect(
        &mut self,
        (run, nth): (u64, u64),
        trace: &Trace,
        whole: Option<&Trace>,
        tally: &mut Tally,
        limits: &Limits,
    ) -> Option<Stop> {
        tally.blind_spots.merge(blind_spots(trace));
        let may_fail = self.settings.races && !trace.plain.is_empty()
            || !trace.ends.is_empty()
            || self.settings.read_twice && has_rwlocks(trace);
        if trace.ending != Ending::Finished || may_fail || self.inspects_all() {
            let cut_off = trace.ending == Ending::StepLimit;
            let has_ended = whole.is_some_and(|whole| whole.ending != Ending::StepLimit);
            if cut_off && has_ended {
                // A little later it ended after all. That end is inspected next.
                tally.led_on += 1;
            } else if trace.ending == Ending::Stopped && whole.is_some() {
                // Threads that were cut off in loops went on. Where they were cut off is no end of an execution.
            } else if cut_off && limits.on_step_limit == OnStepLimit::Discard {
                tally.discarded += 1;
            } else if let Some(finding) = self.finding(trace, &mut tally.cleared) {
                if !self.settings.keep_going || !is_of_one_run(&finding) {
                    let reproduced = self.confirm(trace);
                    return Some(self.failed(finding, run, trace, reproduced));
                }
                let member = self.settings.member(nth);
                tally.census.add(cause(&finding), member, || {
                    let reproduced = self.confirm(trace);
                    self.failure(finding, run, trace, reproduced)
                });
            }
        }
        self.look_for_warnings(&mut tally.warnings, run, trace)
    }

    /// Inspects a run that its explorer gave up, and that was led to its end. Returns how the phase ends if the
    /// run fails after all.
    #[cold]
    pub(super) fn inspect_given_up(
        &mut self,
        run: u64,
        whole: &Trace,
        is_beyond_bound: bool,
        tally: &mut Tally,
    ) -> Option<Stop> {
        if matches!(whole.ending, Ending::StepLimit | Ending::TimeLimit) {
            // It was not given the steps that other runs have.
            return None;
        }
        let finding = self.finding(whole, &mut tally.cleared)?;
        let reproduced = self.confirm(whole);
        let mut failure = self.failure(finding, run, whole, reproduced);
        failure.beyond_bound = is_beyond_bound;
        Some(Stop::Failed(Box::new(failure)))
    }

    /// Returns what is wrong with a run, if anything.
    pub(super) fn finding(&mut self, trace: &Trace, cleared: &mut Cleared) -> Option<Finding> {
        if trace.late_use.is_some() {
            return self.freed(trace, cleared);
        }
        match &trace.ending {
            Ending::Finished => {
                let found = self
                    .wrong_access(trace, cleared)
                    .or_else(|| if self.settings.read_twice { read_twice(trace) } else { None });
                let fails = self.settings.warnings.leaks == Leaks::Fail;
                found.or_else(|| leak(trace).filter(|_| fails).map(Finding::Leak))
            }
            // Threads that wait for a stopped one are not at fault.
            Ending::Stopped => {
                let found = self.wrong_access(trace, cleared);
                let waits = waits(trace);
                let is_cycle = waits.iter().any(|wait| wait.in_cycle);
                found.or_else(|| is_cycle.then_some(Finding::Deadlock(waits)))
            }
            Ending::Abandoned | Ending::TimeLimit => None,
            // The prefix holds choices that an earlier run made.
            Ending::Diverged(divergence) => Some(Finding::Nondeterminism {
                at: trace.events.len(),
                first: format!("{} was possible", choice(divergence.expected)),
                second: possible(trace),
            }),
            Ending::Panicked(panic) => Some(Finding::Panic(panic.clone())),
            Ending::Deadlock => Some(match wait_loops(trace) {
                loops if loops.is_empty() => Finding::Deadlock(waits(trace)),
                loops => Finding::WaitsForever { loops, waits: waits(trace) },
            }),
            Ending::StepLimit => Some(Finding::StepLimit { steps: self.settings.max_steps as u64 }),
        }
    }

    /// Ends the phase with a failure in the run with the number `run`.
    pub(super) fn failed(
        &self,
        finding: Finding,
        run: u64,
        trace: &Trace,
        reproduced: bool,
    ) -> Stop {
        Stop::Failed(Box::new(self.failure(finding, run, trace, reproduced)))
    }

    pub(super) fn failure(
        &self,
        finding: Finding,
        run: u64,
        trace: &Trace,
        reproduced: bool,
    ) -> Failure {
        let token = Token::new(&self.settings.name, &trace.threads, trace.schedule()).to_string();
        let (execution, trace) = (run + 1, trace.clone());
        Failure {
            finding,
            execution,
            trace,
            token,
            reproduced,
            beyond_bound: false,
            explanation: None,
            unexplained: None,
        }
    }

    /// Returns whether the choices of a failing run lead to the same failure again.
    pub(super) fn confirm(&mut self, trace: &Trace) -> bool {
        let is_same = |second: &Trace| {
            second.ending == trace.ending && trace.first_difference(second).is_none()
        };
        let replay = Replay::of(trace, self.settings.memory, self.settings.max_steps);
        replay.look(self.executor, is_same)
    }

    /// Repeats the run with the number `run`, which the engine made last. Returns how the phase ends if the
    /// second run differs from it or does not come to its end.
    #[cold]
    pub(super) fn check_repeatable(&mut self, engine: &mut AnyEngine, run: u64) -> Option<Stop> {
        let first = engine.take_trace();
        let stop = self.repeat(engine, run, &first);
        engine.reuse_trace(first);
        stop
    }

    fn repeat(&mut self, engine: &mut AnyEngine, run: u64, first: &Trace) -> Option<Stop> {
        let prefix = engine.prefix_mut();
        prefix.clear();
        first.append_schedule(prefix);
        let mut stop = replay::Stop::to_repeat(first);
        self.executor.execute(engine, Choices::Chooser(&mut stop));
        let second = engine.trace();
        if second.ending == Ending::TimeLimit {
            return Some(Stop::OutOfBudget);
        }
        let at = first.first_difference(second)?;
        if let Some(refused) = refused(second) {
            return Some(self.failed(refused, run + 1, second, true));
        }
        let finding = Finding::Nondeterminism {
            at,
            first: describe(Some(at), first),
            second: describe(Some(at), second),
        };
        Some(self.failed(finding, run, first, false))
    }
}

fn has_rwlocks(trace: &Trace) -> bool {
    trace.objects.iter().any(|object| object.kind == ObjectKind::RwLock)
}

/// Returns whether a finding leaves later runs trustworthy.
fn is_of_one_run(finding: &Finding) -> bool {
    match finding {
        Finding::Panic(_)
        | Finding::Deadlock(_)
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::Leak(_)
        | Finding::StepLimit { .. } => true,
        Finding::Nondeterminism { .. } => false,
        _ => raddle_results::new_variant(),
    }
}
