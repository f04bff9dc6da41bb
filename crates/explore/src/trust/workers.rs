//! The search on several OS threads at once: the same graphs, each once.
//!
//! Items do not depend on each other. A worker whose items are all visited takes one from a common stack. While others are
//! idle, each worker gives the older half of its items away, which are likely to lead to more graphs than the newer ones.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use raddle_core::{Choices, Schedule, Trace};
use raddle_engine::ThreadIds;
use raddle_results::Search;

use super::{Item, Trust};
use crate::parallel::Names;
use crate::{Covered, Explorer, Refusal};

/// A search by several workers.
#[derive(Debug)]
pub struct ParallelTrust {
    common: Mutex<Common>,
    /// Signals new items in the common stack, and the end.
    changed: Condvar,
    /// The number of idle workers.
    idle: AtomicUsize,
    is_over: AtomicBool,
    /// Whether the program is not covered: one worker has to search it alone.
    is_uncovered: AtomicBool,
    /// The number of further runs allowed.
    runs_left: AtomicU64,
    names: Arc<Names>,
}

#[derive(Debug)]
struct Common {
    items: Vec<Item>,
    /// The number of workers that have items of their own.
    working: usize,
    /// The share of the search that is done, without that of the workers at work.
    done: f64,
}

/// One worker of a search.
#[derive(Debug)]
pub struct TrustWorker<'a> {
    all: &'a ParallelTrust,
    trust: Trust,
    is_working: bool,
}

impl ParallelTrust {
    /// Makes a search of at most `runs` runs.
    pub fn new(runs: u64) -> ParallelTrust {
        ParallelTrust {
            common: Mutex::new(Common { items: vec![Item::default()], working: 0, done: 0.0 }),
            changed: Condvar::new(),
            idle: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            is_uncovered: AtomicBool::new(false),
            runs_left: AtomicU64::new(runs),
            names: Arc::default(),
        }
    }

    /// Adds a worker. It plans runs until all workers are done. The search ends for all when one of them is dropped.
    pub fn worker(&self) -> TrustWorker<'_> {
        let mut trust = Trust::default();
        trust.work.items.clear();
        TrustWorker { all: self, trust, is_working: false }
    }

    /// Returns whether the program is not covered. The search ended early then.
    pub(crate) fn is_uncovered(&self) -> bool {
        self.is_uncovered.load(Ordering::Relaxed)
    }

    /// Returns an estimate of all runs, after `runs` runs. What workers have not handed over counts as not done.
    pub(crate) fn estimate(&self, runs: u64) -> Option<f64> {
        (runs > 0).then(|| runs as f64 / self.common().done).filter(|total| total.is_finite())
    }

    fn common(&self) -> MutexGuard<'_, Common> {
        self.common.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, common: MutexGuard<'_, Common>) {
        self.is_over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
        drop(common);
    }
}

impl TrustWorker<'_> {
    /// Makes sure that this worker has an item. Returns `false` if the search is over.
    fn find_item(&mut self) -> bool {
        if !self.trust.work.items.is_empty() {
            return true;
        }
        let mut common = self.all.common();
        common.done += std::mem::take(&mut self.trust.done);
        common.working -= usize::from(std::mem::take(&mut self.is_working));
        loop {
            if self.all.is_over.load(Ordering::Relaxed) {
                return false;
            }
            if let Some(item) = common.items.pop() {
                common.working += 1;
                self.is_working = true;
                self.trust.work.items.push(item);
                return true;
            }
            if common.working == 0 {
                self.all.end(common);
                return false;
            }
            self.all.idle.fetch_add(1, Ordering::Relaxed);
            common = self.all.changed.wait(common).unwrap_or_else(PoisonError::into_inner);
            self.all.idle.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn give(&mut self) {
        let items = &mut self.trust.work.items;
        if self.all.idle.load(Ordering::Relaxed) == 0 || items.len() < 2 {
            return;
        }
        let mut common = self.all.common();
        if common.items.is_empty() {
            common.items.extend(items.drain(..items.len() / 2));
            common.done += std::mem::take(&mut self.trust.done);
            self.all.changed.notify_all();
        }
    }
}

impl Explorer for TrustWorker<'_> {
    fn thread_ids(&self) -> ThreadIds {
        ThreadIds::registered(self.all.names.clone())
    }

    fn next(&mut self, prefix: &mut Schedule) -> bool {
        if self.all.is_over.load(Ordering::Relaxed) || !self.find_item() {
            return false;
        }
        let one_less = |left: u64| left.checked_sub(1);
        let runs_left = &self.all.runs_left;
        if runs_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_err() {
            self.all.end(self.all.common());
            return false;
        }
        self.trust.next(prefix)
    }

    fn choices(&mut self) -> Choices<'_> {
        self.trust.choices()
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        self.trust.learn(run, trace);
        if self.trust.fallback.is_some() {
            self.all.is_uncovered.store(true, Ordering::Relaxed);
            self.all.end(self.all.common());
        } else if self.trust.is_cut_off {
            self.all.end(self.all.common());
        } else {
            self.give();
        }
    }

    fn covered(&self, is_done: bool) -> Covered {
        self.trust.covered(is_done)
    }

    fn repeats_no_class(&self) -> bool {
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.trust.refusal()
    }

    fn search(&self) -> Option<Search> {
        self.trust.search()
    }
}

impl Drop for TrustWorker<'_> {
    fn drop(&mut self) {
        self.all.end(self.all.common());
    }
}
