//! The counts of a check.

use raddle_analysis::MapCoverage;
use raddle_core::{Ending, Trace};
use raddle_results::Accesses;

use super::census::Census;
use super::freed::Cleared;
use super::warnings::WarningList;
use crate::Classes;

/// The fingerprints kept before the number of classes is estimated.
const CLASS_LIMIT: usize = 1 << 16;

/// The counts of a check so far.
pub(super) struct Tally {
    pub(super) executions: u64,
    pub(super) steps: u64,
    pub(super) choices: u64,
    pub(super) classes: Classes,
    pub(super) discarded: u64,
    pub(super) threads: u32,
    /// Failures after which the check continued.
    pub(super) census: Census,
    pub(super) warnings: WarningList,
    /// Suspicions that were cleared because the drops of `Arc` are not seen.
    pub(super) cleared: Cleared,
    pub(super) coverage: Option<Box<MapCoverage>>,
}

impl Tally {
    /// Makes an empty tally. `coverage` says whether patterns are recorded, and how accesses are identified.
    pub(super) fn new(coverage: Option<Accesses>) -> Tally {
        Tally {
            executions: 0,
            steps: 0,
            choices: 0,
            classes: Classes::new(CLASS_LIMIT),
            discarded: 0,
            threads: 0,
            census: Census::default(),
            warnings: WarningList::default(),
            cleared: Cleared::default(),
            coverage: coverage.map(|accesses| Box::new(MapCoverage::new(accesses))),
        }
    }

    /// Returns an estimate of the probability that a run is of a class not seen (Good and Turing).
    pub(super) fn unseen(&self) -> Option<f64> {
        let all = self.executions.checked_sub(self.discarded).filter(|&all| all > 0)?;
        Some((self.classes.singles() as f64 / all as f64).min(1.0))
    }

    /// Returns whether no run had a choice.
    pub(super) fn is_trivial(&self) -> bool {
        self.choices == 0 && self.threads <= 1
    }

    /// Adds the counts of another tally.
    pub(super) fn merge(&mut self, other: &Tally) {
        self.executions += other.executions;
        self.steps += other.steps;
        self.choices += other.choices;
        self.classes.merge(&other.classes);
        self.discarded += other.discarded;
        self.threads = self.threads.max(other.threads);
        self.warnings.merge(&other.warnings);
        self.cleared.merge(&other.cleared);
    }

    /// Adds a run in which at most `threads` threads were alive at once.
    pub(super) fn add(&mut self, trace: &Trace, threads: u32) {
        self.choices += trace.choices;
        if let Some(coverage) = &mut self.coverage {
            coverage.learn(trace);
        }
        if matches!(trace.ending, Ending::Abandoned) {
            // An abandoned run is the beginning of others, no class of its own.
            self.count(trace, threads);
        } else {
            self.add_ordinary(trace, threads);
        }
    }

    /// Adds an ordinary run, while patterns are not recorded.
    #[inline(always)]
    pub(super) fn add_ordinary(&mut self, trace: &Trace, threads: u32) {
        self.classes.insert(trace.fingerprint);
        self.count(trace, threads);
    }

    #[inline(always)]
    fn count(&mut self, trace: &Trace, threads: u32) {
        self.executions += 1;
        self.steps += trace.events.len() as u64;
        self.threads = self.threads.max(threads);
    }
}
