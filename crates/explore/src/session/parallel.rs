//! A search on several OS threads.
//!
//! When one of them finds a failure all stop, and the search is made again on one OS thread up to its
//! first failure: which failure several come upon first depends on chance, the one reported does not.
//! That costs the time of a search on one OS thread up to there. If what is left of the budget does
//! not reach that far, the failure that was found is reported.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use raddle_core::MemoryModel;
use raddle_engine::Substrate;
use raddle_results::{Failure, Finding, Progress, Report, Search, Verdict};
use raddle_strategy::{Pos, Random, Rapos};

use super::{Budget, Limits, Session, Settings, Stop, Tally};
use crate::{Covered, Dpor, Explorer, ParallelDpor, Refusal, Sharing, Strategy};

/// On how many OS threads to search.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Workers {
    /// How many.
    pub count: NonZeroUsize,
    /// When they give away a part of what they have to do.
    pub sharing: Sharing,
}

impl Workers {
    /// The OS thread that runs the check.
    pub const ONE: Workers = Workers::new(NonZeroUsize::MIN);

    /// So many.
    pub const fn new(count: NonZeroUsize) -> Workers {
        Workers { count, sharing: Sharing::OnDemand }
    }
}

impl<S: Substrate> Session<'_, S>
where
    S::Program: Sync,
{
    /// Explores with the strategy of the settings on as many OS threads as they say, if it is one
    /// that can: [`Strategy::Dpor`], and those that sample without learning from earlier runs. All
    /// others use one, and so does a check that goes on after failures or tells which
    /// patterns were seen. `make` makes the substrates of
    /// the other OS threads.
    pub fn run_with(self, make: &(dyn Fn() -> S + Sync)) -> Result<Report, Refusal> {
        let Settings { workers, keep_going, coverage, .. } = self.settings;
        let is_weak = self.settings.memory != MemoryModel::Sc;
        if workers.count == NonZeroUsize::MIN || *keep_going || coverage.is_some() || is_weak {
            return self.run();
        }
        match self.settings.strategy {
            Strategy::Dpor => self.search_together(make),
            Strategy::Random => self.sample_together(Random::default(), make),
            Strategy::BasicPos => self.sample_together(Pos::basic(), make),
            Strategy::Pos => self.sample_together(Pos::plain(), make),
            Strategy::PosStar => self.sample_together(Pos::default(), make),
            Strategy::Rapos => self.sample_together(Rapos::default(), make),
            _ => self.run(),
        }
    }

    fn search_together(mut self, make: &(dyn Fn() -> S + Sync)) -> Result<Report, Refusal> {
        let limits = Limits::of(self.settings);
        let sharing = self.settings.workers.sharing;
        let all = ParallelDpor::new(limits.runs, sharing);
        let parts = self.work_together(&all, &limits, make);

        let mut tally = Tally::new(self.settings);
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
                    // This session's own comes first: its substrate may be of no use any more.
                    Some(Found::Failure(_)) => {}
                    Some(Found::Refusal(_)) | None => found = Some(Found::Failure(failure)),
                },
                Stop::Refused(refusal) => found = found.or(Some(Found::Refusal(refusal))),
            }
        }
        search.planned += all.most_planned();
        search.estimate = all.estimate(tally.executions);
        let verdict = match found {
            Some(found) => self.search_again(found, &mut tally, &limits)?,
            None if tally.is_trivial() => Verdict::NothingToExplore,
            None if !is_complete || !is_in_time || tally.executions >= limits.runs => {
                Verdict::Sampled
            }
            None => Verdict::Exhausted,
        };
        Ok(Report { search: Some(search), ..self.report(tally, verdict) })
    }

    fn work_together(
        &mut self,
        all: &ParallelDpor,
        limits: &Limits,
        make: &(dyn Fn() -> S + Sync),
    ) -> Vec<Part> {
        let (program, settings, budget) = (self.program, self.settings, self.budget);
        let sum = Sum::default();
        let work_on = |substrate: &mut S| {
            let share = Share { budget, all, sum: &sum, told: Sum::default() };
            Session::new(substrate, program, settings, &share).work(all, limits)
        };
        let work = || work_on(&mut make());
        thread::scope(|scope| {
            // Where no more OS threads are to be had, fewer do.
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..settings.workers.count.get()).map_while(spawn).collect();
            let mut parts = vec![work_on(self.substrate)];
            for other in others {
                parts.push(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            parts
        })
    }

    /// Searches with others until all are done, or one of them has a reason to stop.
    fn work(&mut self, all: &ParallelDpor, limits: &Limits) -> Part {
        // Runs are counted by all together.
        let limits = Limits { runs: u64::MAX, ..limits.clone() };
        let mut worker = all.worker();
        let mut tally = Tally::new(self.settings);
        let stop = self.go(&mut worker, &mut tally, &limits, &mut |_| false);
        let search = worker.search().unwrap_or_default();
        let is_complete = worker.covered(true) == Covered::Everything;
        Part { stop, tally, search, is_complete }
    }

    /// Looks for what a search on one OS thread finds first.
    fn search_again(
        &mut self,
        found: Found,
        tally: &mut Tally,
        limits: &Limits,
    ) -> Result<Verdict, Refusal> {
        let mut again = Tally::new(self.settings);
        let runs = limits.runs.saturating_sub(tally.executions);
        let limits = Limits { runs, ..limits.clone() };
        let stop = match &found {
            Found::Failure(failure) if !self.can_fail_alone(failure) => None,
            _ if runs == 0 => None,
            _ => Some(self.go(&mut Dpor::default(), &mut again, &limits, &mut |_| false)),
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

    /// Whether it makes sense to look for a failure again on one OS thread.
    fn can_fail_alone(&mut self, failure: &Failure) -> bool {
        match failure.finding {
            Finding::Nondeterminism { .. } => true,
            // Not if it came of executions that share something, or no further run can be trusted.
            Finding::Panic(_)
            | Finding::Deadlock(_)
            | Finding::Race { .. }
            | Finding::StepLimit { .. }
            | Finding::Leak(_)
            | Finding::Stuck { .. } => failure.reproduced && self.confirm(&failure.trace),
        }
    }
}

/// What one of several has done.
struct Part {
    stop: Stop,
    tally: Tally,
    search: Search,
    is_complete: bool,
}

/// Why several have stopped.
enum Found {
    Failure(Box<Failure>),
    Refusal(Refusal),
}

/// What several have seen together, or one of them.
#[derive(Default)]
struct Sum {
    executions: AtomicU64,
    classes: AtomicU64,
}

/// The budget of one of several, which adds up what all have done.
struct Share<'a> {
    budget: &'a dyn Budget,
    all: &'a ParallelDpor,
    sum: &'a Sum,
    /// What of the sum is this one's.
    told: Sum,
}

impl Budget for Share<'_> {
    fn elapsed(&self) -> Duration {
        self.budget.elapsed()
    }

    fn limit(&self) -> Option<Duration> {
        self.budget.limit()
    }

    fn hear(&self, progress: &Progress) {
        let add = |sum: &AtomicU64, told: &AtomicU64, now: u64| {
            let news = now.saturating_sub(told.swap(now, Ordering::Relaxed));
            sum.fetch_add(news, Ordering::Relaxed) + news
        };
        let executions = add(&self.sum.executions, &self.told.executions, progress.executions);
        // Every class is run by one of them only.
        let classes = add(&self.sum.classes, &self.told.classes, progress.classes);
        let total = self.all.estimate(executions);
        self.budget.hear(&Progress { executions, classes, total });
    }
}
