//! Optimal reduction by several OS threads at once: the same classes, each once.
//!
//! Promise: that of [`Dpor`]. Which worker makes which run, and the order of the runs, depend on timing;
//! the set of classes does not.
//!
//! Everything below the last step of a planned sequence can be searched on its own, because the sleep set
//! there is empty. That is a task. The continuations it finds for points above go into a shared tree
//! ([`Commons`]). Sequences that are under way or done stay in the tree: what is found later may branch
//! off in the middle of them. An idle worker gets unfinished points of another one.
//!
//! Earlier continuations of a point sleep while later ones are run, although they may still be under way:
//! they will have been run in the end.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use raddle_core::{Choices, Ending, Schedule, ThreadId, ThreadInfo, Trace};
use raddle_engine::{Register, ThreadIds};
use raddle_results::Search;

use crate::{Covered, Dpor, Explorer, Refusal};

mod commons;

use commons::{Commons, Place};

/// When a worker gives a part of its work away.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Sharing {
    /// When another worker is idle.
    #[default]
    OnDemand,
    /// After this many runs, the first point that it can give. For tests.
    Every(u64),
    /// All that it can give, after every run. For tests: the shared tree is slow.
    Always,
}

/// A search by several workers.
#[derive(Debug)]
pub struct ParallelDpor {
    commons: Mutex<Commons>,
    /// Signals new leaves to be searched, and the end.
    changed: Condvar,
    /// The number of idle workers.
    idle: AtomicUsize,
    is_over: AtomicBool,
    /// The number of further runs allowed.
    runs_left: AtomicU64,
    sharing: Sharing,
    names: Arc<Names>,
}

/// One worker of a search.
#[derive(Debug)]
pub struct DporWorker<'a> {
    all: &'a ParallelDpor,
    dpor: Dpor,
    /// The way to the leaf being searched. `None` if there is none.
    task: Option<Vec<Place>>,
    /// Whether no run of the leaf has been made.
    is_new: bool,
    runs: u64,
}

/// What a worker does next.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// Makes the run that it has planned.
    Run,
    /// Asks again after others have made runs: they have begun all that is left.
    Later,
    /// Ends: the search is over.
    Over,
}

impl ParallelDpor {
    /// Makes a search of at most `runs` runs.
    pub fn new(runs: u64, sharing: Sharing) -> ParallelDpor {
        ParallelDpor {
            commons: Mutex::new(Commons::new()),
            changed: Condvar::new(),
            idle: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            runs_left: AtomicU64::new(runs),
            sharing,
            names: Arc::default(),
        }
    }

    /// Adds a worker. It plans runs until all workers are done. The search ends for all when one of them is
    /// dropped.
    pub fn worker(&self) -> DporWorker<'_> {
        DporWorker { all: self, dpor: Dpor::default(), task: None, is_new: false, runs: 0 }
    }

    /// Returns the most steps that the shared tree had at once, including those that were done.
    pub(crate) fn most_planned(&self) -> u64 {
        self.commons().most_ways()
    }

    /// Returns an estimate of all runs, after `runs` runs. While workers run, their current leaves count as
    /// not done.
    pub(crate) fn estimate(&self, runs: u64) -> Option<f64> {
        (runs > 0)
            .then(|| runs as f64 / self.commons().share_done())
            .filter(|total| total.is_finite())
    }

    fn commons(&self) -> MutexGuard<'_, Commons> {
        self.commons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_idle_worker(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > 0
    }

    /// Ends the search for all workers.
    fn end(&self, commons: MutexGuard<'_, Commons>) {
        self.is_over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
        drop(commons);
    }

    /// Returns whether one more run may be made, and counts it.
    fn may_run(&self) -> bool {
        let one_less = |left: u64| left.checked_sub(1);
        let left = self.runs_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        if left.is_err() {
            self.end(self.commons());
        }
        left.is_ok()
    }

    /// Waits until there may be a leaf to be searched again.
    fn wait(&self) {
        let commons = self.commons();
        if !self.is_over.load(Ordering::Relaxed) && commons.open() == 0 {
            self.idle.fetch_add(1, Ordering::Relaxed);
            drop(self.changed.wait(commons));
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl DporWorker<'_> {
    /// Plans the next run as [`next`](Explorer::next) does, but does not wait.
    pub fn try_next(&mut self, prefix: &mut Schedule) -> Next {
        if self.all.is_over.load(Ordering::Relaxed) {
            return Next::Over;
        }
        let continues = self.task.is_some() && self.dpor.backtrack(prefix);
        if !continues {
            match self.change_task(prefix) {
                Next::Run => {}
                next => return next,
            }
        }
        if self.all.may_run() { Next::Run } else { Next::Over }
    }

    /// Finishes the current leaf, if there is one, and begins another.
    fn change_task(&mut self, prefix: &mut Schedule) -> Next {
        let mut commons = self.all.commons();
        let places = self.task.take();
        if let Some(places) = &places {
            commons.finish(places);
        }
        let mut next = commons.take(places.as_deref().unwrap_or_default());
        if let Some(places) = &places {
            // Leaves that were held back may be run now.
            commons.tidy(places);
            next = next.or_else(|| commons.take(&[]));
            if commons.open() > 0 && self.all.has_idle_worker() {
                self.all.changed.notify_all();
            }
        }
        let Some(task) = next else {
            if !commons.is_finished() {
                return Next::Later;
            }
            self.all.end(commons);
            return Next::Over;
        };
        drop(commons);
        self.dpor.begin(task.steps, task.sleepers, prefix);
        self.task = Some(task.places);
        self.is_new = true;
        Next::Run
    }

    /// Hands over the continuations that the last run found for points above, and points of its own if other
    /// workers are idle.
    fn share(&mut self, trace: &Trace) {
        let found = self.dpor.take_found();
        let is_new = std::mem::take(&mut self.is_new);
        let can_give = match self.all.sharing {
            Sharing::OnDemand => self.all.has_idle_worker() && self.dpor.can_give(),
            Sharing::Every(runs) => self.runs % runs == 0,
            Sharing::Always => true,
        };
        let Some(places) = &mut self.task else { return };
        let choices = if is_new { self.dpor.choices_above(trace) } else { Vec::new() };
        if found.is_empty() && choices.is_empty() && !can_give {
            return;
        }
        let mut commons = self.all.commons();
        for (at, event, bound) in choices {
            commons.choose(places[at], event, bound);
        }
        for (at, mut steps) in found {
            commons.insert(places[at], &mut steps, self.dpor.past_mut(), trace);
        }
        // The leaves that were found just now may be enough.
        let is_enough = match self.all.sharing {
            Sharing::OnDemand => commons.open() >= self.all.idle.load(Ordering::Relaxed),
            Sharing::Every(_) | Sharing::Always => false,
        };
        if can_give && !is_enough {
            loop {
                let given = self.dpor.give(trace);
                let is_all = given.is_empty();
                commons.adopt(places, given);
                if is_all || self.all.sharing != Sharing::Always {
                    break;
                }
            }
        }
        if commons.open() > 0 && self.all.has_idle_worker() {
            self.all.changed.notify_all();
        }
    }
}

impl Explorer for DporWorker<'_> {
    fn thread_ids(&self) -> ThreadIds {
        ThreadIds::registered(self.all.names.clone())
    }

    fn next(&mut self, prefix: &mut Schedule) -> bool {
        loop {
            match self.try_next(prefix) {
                Next::Run => return true,
                Next::Over => return false,
                Next::Later => self.all.wait(),
            }
        }
    }

    fn choices(&mut self) -> Choices<'_> {
        self.dpor.choices()
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        self.dpor.learn(run, trace);
        self.runs += 1;
        if trace.ending == Ending::StepLimit {
            self.all.end(self.all.commons());
            return;
        }
        self.share(trace);
    }

    fn covered(&self, is_done: bool) -> Covered {
        self.dpor.covered(is_done)
    }

    fn repeats_no_class(&self) -> bool {
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.dpor.refusal()
    }

    fn search(&self) -> Option<Search> {
        self.dpor.search()
    }
}

impl Drop for DporWorker<'_> {
    fn drop(&mut self) {
        let mut commons = self.all.commons();
        if let Some(places) = self.task.take() {
            commons.leave(&places, self.dpor.part_done());
        }
        self.all.end(commons);
    }
}

/// The ids of threads in the runs of all workers.
#[derive(Debug)]
pub(crate) struct Names(Mutex<Vec<ThreadInfo>>);

impl Default for Names {
    fn default() -> Names {
        let main = ThreadInfo { id: ThreadId::MAIN, parent: ThreadId::MAIN, position: 0 };
        Names(Mutex::new(vec![main]))
    }
}

impl Names {
    fn known(&self) -> MutexGuard<'_, Vec<ThreadInfo>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Register for Names {
    fn child(&self, parent: ThreadId, position: u32) -> ThreadId {
        let mut known = self.known();
        let is_child = |info: &&ThreadInfo| info.parent == parent && info.position == position;
        if let Some(child) = known[1..].iter().find(is_child) {
            return child.id;
        }
        let id = ThreadId(known.len() as u32);
        known.push(ThreadInfo { id, parent, position });
        id
    }

    fn info(&self, thread: ThreadId) -> ThreadInfo {
        self.known()[thread.index()]
    }
}
