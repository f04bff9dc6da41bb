//! A search on several OS threads.
//!
//! When one of them finds a failure all stop, and the search is repeated on one OS thread up to its first
//! failure: which failure several find first depends on timing, the one reported does not. That costs the
//! time of a search on one OS thread up to there. If the rest of the budget does not suffice, the failure
//! that was found is reported.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use raddle_core::MemoryModel;
use raddle_results::{Failure, Finding, Progress, Report, Search, Verdict};

use super::report::Details;
use super::run_loop::{Limits, Stop};
use super::tally::Tally;
use super::{Budget, Check, DPOR, Elapsed, Settings, WithExecutor};
use crate::executor::Executor;
use crate::{Covered, Dpor, Explorer, ParallelDpor, ParallelTrust, Refusal, Sharing, Trust};

/// The OS threads of a search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Workers {
    /// The number of OS threads.
    pub count: NonZeroUsize,
    /// When a worker gives a part of its work away.
    pub sharing: Sharing,
}

impl Workers {
    /// The OS thread that runs the check.
    pub const ONE: Workers = Workers::new(NonZeroUsize::MIN);

    /// Returns `count` workers that share their work on demand.
    pub const fn new(count: NonZeroUsize) -> Workers {
        Workers { count, sharing: Sharing::OnDemand }
    }
}

/// A search by several workers.
trait Together: Sync {
    fn worker(&self) -> Box<dyn Explorer + '_>;

    /// Returns the same search by one worker.
    fn alone(&self) -> Box<dyn Explorer>;

    /// Returns whether one worker has to search alone: the others cannot help.
    fn is_for_one(&self) -> bool;

    /// Returns the most steps that the workers had planned together.
    fn most_planned(&self) -> u64;

    /// Returns an estimate of all runs, after `runs` runs.
    fn estimate(&self, runs: u64) -> Option<f64>;
}

impl Together for ParallelDpor {
    fn worker(&self) -> Box<dyn Explorer + '_> {
        Box::new(self.worker())
    }

    fn alone(&self) -> Box<dyn Explorer> {
        Box::new(Dpor::default())
    }

    fn is_for_one(&self) -> bool {
        false
    }

    fn most_planned(&self) -> u64 {
        self.most_planned()
    }

    fn estimate(&self, runs: u64) -> Option<f64> {
        self.estimate(runs)
    }
}

impl Together for ParallelTrust {
    fn worker(&self) -> Box<dyn Explorer + '_> {
        Box::new(self.worker())
    }

    fn alone(&self) -> Box<dyn Explorer> {
        Box::new(Trust::default())
    }

    fn is_for_one(&self) -> bool {
        self.is_uncovered()
    }

    fn most_planned(&self) -> u64 {
        0
    }

    fn estimate(&self, runs: u64) -> Option<f64> {
        self.estimate(runs)
    }
}

impl Check<'_> {
    /// Explores as the settings say, on several OS threads if they say so and the strategy can.
    pub(super) fn run_with(&mut self, others: &WithExecutor<'_>) -> Result<Report, Refusal> {
        self.settings.check()?;
        let Settings { workers, keep_going, coverage, memory, .. } = self.settings;
        let is_alone = workers.count == NonZeroUsize::MIN || *keep_going || coverage.is_some();
        if is_alone {
            return self.run();
        }
        if self.settings.custom.is_none() && self.settings.strategy.word() == DPOR {
            let runs = self.settings.runs;
            return match memory {
                MemoryModel::Sc => {
                    self.search_together(&ParallelDpor::new(runs, workers.sharing), others)
                }
                MemoryModel::Rc11 => self.search_together(&ParallelTrust::new(runs), others),
            };
        }
        if *memory != MemoryModel::Sc {
            return self.run();
        }
        match self.settings.sampler() {
            Some(sampler) if sampler.independent_runs() => self.sample_together(others),
            Some(_) | None => self.run(),
        }
    }

    fn search_together(
        &mut self,
        all: &dyn Together,
        others: &WithExecutor<'_>,
    ) -> Result<Report, Refusal> {
        let limits = Limits::of(self.settings);
        let parts = self.work_together(all, &limits, others);
        if all.is_for_one() {
            return self.run();
        }

        let mut tally = Tally::new(None);
        let mut search = Search::default();
        let (mut is_complete, mut is_in_time) = (true, true);
        let mut found = None;
        for part in parts {
            tally.merge(&part.tally);
            search.blocked += part.search.blocked;
            search.points = search.points.max(part.search.points);
            search.planned += part.search.planned;
            is_complete &= part.is_complete;
            match part.stop {
                Stop::Done | Stop::Trivial | Stop::Enough => {}
                Stop::OutOfBudget => is_in_time = false,
                Stop::Failed(failure) => match found {
                    // This check's own failure comes first: its substrate may not be usable any more.
                    Some(Found::Failure(_)) => {}
                    Some(Found::Refusal(_)) | None => found = Some(Found::Failure(failure)),
                },
                Stop::Refused(refusal) => found = found.or(Some(Found::Refusal(refusal))),
            }
        }
        search.planned += all.most_planned();
        search.estimate = all.estimate(tally.executions);
        if let Some(Found::Refusal(Refusal::Counts { .. })) = found {
            return self.explore(&mut Dpor::default());
        }
        let verdict = match found {
            Some(found) => self.search_again(all, found, &mut tally, &limits)?,
            None if tally.is_trivial() => Verdict::NothingToExplore,
            None if !is_complete || !is_in_time || tally.executions >= limits.runs => {
                Verdict::Sampled
            }
            None => Verdict::Exhausted,
        };
        let verdict = self.check_claim(verdict, &mut tally);
        // A failure is searched for twice.
        let repeats_no_class = matches!(verdict, Verdict::Exhausted);
        let search = Some(search);
        self.report(tally, verdict, Details { search, repeats_no_class, ..Details::default() })
    }

    fn work_together(
        &mut self,
        all: &dyn Together,
        limits: &Limits,
        others: &WithExecutor<'_>,
    ) -> Vec<Part> {
        let (settings, budget) = (self.settings, self.budget);
        let sum = Sum::default();
        let work_on = |executor: &mut dyn Executor| {
            let share = Share { budget, all, sum: &sum, told: Sum::default() };
            Check::new(executor, settings, &share).work(all, limits)
        };
        let work = || {
            let mut part = None;
            others(&mut |executor| part = Some(work_on(executor)));
            part
        };
        thread::scope(|scope| {
            // If the system has no more OS threads, fewer work.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..settings.workers.count.get()).map_while(spawn).collect();
            let mut parts = vec![work_on(self.executor)];
            for other in others {
                parts.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            parts
        })
    }

    /// Searches with others until all are done, or one of them has a reason to stop.
    fn work(&mut self, all: &dyn Together, limits: &Limits) -> Part {
        // All workers together count the runs.
        let limits = Limits { runs: u64::MAX, ..limits.clone() };
        let mut worker = all.worker();
        let mut tally = Tally::new(None);
        let stop = self.run_explorer(&mut *worker, &mut tally, &limits);
        let search = worker.search().unwrap_or_default();
        let is_complete = worker.covered(true) == Covered::Everything;
        Part { stop, tally, search, is_complete }
    }

    /// Repeats the search on one OS thread, and returns what it finds first.
    fn search_again(
        &mut self,
        all: &dyn Together,
        found: Found,
        tally: &mut Tally,
        limits: &Limits,
    ) -> Result<Verdict, Refusal> {
        let mut again = Tally::new(None);
        let runs = limits.runs.saturating_sub(tally.executions);
        let limits = Limits { runs, ..limits.clone() };
        let stop = match &found {
            Found::Failure(failure) if !self.can_fail_alone(failure) => None,
            _ if runs == 0 => None,
            _ => Some(self.run_explorer(&mut *all.alone(), &mut again, &limits)),
        };
        let execution = tally.executions;
        tally.merge(&again);
        match (stop, found) {
            (Some(Stop::Failed(failure)), _) => Ok(Verdict::Failed(failure)),
            (Some(Stop::Refused(refusal)), _) | (_, Found::Refusal(refusal)) => Err(refusal),
            (stop, Found::Failure(failure)) => {
                let reproduced = failure.reproduced && (stop.is_some() || runs == 0);
                let failure = Failure { execution, reproduced, ..*failure };
                Ok(Verdict::Failed(Box::new(failure)))
            }
        }
    }

    /// Returns whether a failure can occur on one OS thread.
    fn can_fail_alone(&mut self, failure: &Failure) -> bool {
        match failure.finding {
            Finding::Nondeterminism { .. } => true,
            // It cannot if executions share something, or if no further run can be trusted.
            Finding::Panic(_)
            | Finding::Deadlock(_)
            | Finding::WaitsForever { .. }
            | Finding::Race { .. }
            | Finding::UseAfterFree { .. }
            | Finding::FreedTwice { .. }
            | Finding::ReadTwice { .. }
            | Finding::StepLimit { .. }
            | Finding::Leak(_) => failure.reproduced && self.confirm(&failure.trace),
            _ => raddle_results::new_variant(),
        }
    }
}

/// The part of one worker.
struct Part {
    stop: Stop,
    tally: Tally,
    search: Search,
    is_complete: bool,
}

/// Why the workers stopped.
enum Found {
    Failure(Box<Failure>),
    Refusal(Refusal),
}

/// Counts of all workers, or of one.
#[derive(Default)]
struct Sum {
    executions: AtomicU64,
    classes: AtomicU64,
}

/// The budget of one worker, which adds its progress to that of all.
struct Share<'a> {
    budget: &'a dyn Budget,
    all: &'a dyn Together,
    sum: &'a Sum,
    /// This worker's part of the sum.
    told: Sum,
}

impl Budget for Share<'_> {
    fn elapsed(&self) -> Duration {
        self.budget.elapsed()
    }

    fn limit(&self) -> Option<Duration> {
        self.budget.limit()
    }

    fn first_limit(&self) -> Option<Duration> {
        self.budget.first_limit()
    }

    fn clock(&self) -> Option<Elapsed> {
        self.budget.clock()
    }

    fn on_progress(&self, progress: &Progress) {
        let add = |sum: &AtomicU64, told: &AtomicU64, now: u64| {
            let more = now.saturating_sub(told.swap(now, Ordering::Relaxed));
            sum.fetch_add(more, Ordering::Relaxed) + more
        };
        let executions = add(&self.sum.executions, &self.told.executions, progress.executions);
        // Every class is run by one worker only.
        let classes = add(&self.sum.classes, &self.told.classes, progress.classes);
        let total = self.all.estimate(executions);
        self.budget.on_progress(&Progress { executions, classes, total });
    }
}
