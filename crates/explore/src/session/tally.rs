//! What a session has seen so far.

use raddle_analysis::MapCoverage;
use raddle_core::{Ending, Trace};
use raddle_results::Accesses;

use super::Settings;
use super::census::Census;
use super::oddities::Warnings;
use crate::{Classes, Strategy};

/// Fingerprints kept before the number of classes is estimated.
const CLASS_LIMIT: usize = 1 << 16;

/// What a session has seen so far.
pub(super) struct Tally {
    pub(super) executions: u64,
    pub(super) steps: u64,
    pub(super) choices: u64,
    pub(super) classes: Classes,
    pub(super) discarded: u64,
    pub(super) threads: u32,
    /// Failures after which the session went on.
    pub(super) census: Census,
    pub(super) warnings: Warnings,
    pub(super) coverage: Option<Box<MapCoverage>>,
}

impl Tally {
    pub(super) fn new(settings: &Settings) -> Tally {
        // Whoever looks for patterns wants to know.
        let looks_for_them = matches!(settings.strategy, Strategy::Pcr | Strategy::Mcr);
        let by = settings.coverage.or(looks_for_them.then(Accesses::default));
        // First, so that all else is written where it stays.
        let coverage = by.map(|by| Box::new(MapCoverage::new(by)));
        Tally {
            executions: 0,
            steps: 0,
            choices: 0,
            classes: Classes::new(CLASS_LIMIT),
            discarded: 0,
            threads: 0,
            census: Census::default(),
            warnings: Warnings::default(),
            coverage,
        }
    }

    /// About how likely a run of a class not seen before is (Good and Turing).
    pub(super) fn unseen(&self) -> Option<f64> {
        let all = self.executions.checked_sub(self.discarded).filter(|&all| all > 0)?;
        Some((self.classes.singles() as f64 / all as f64).min(1.0))
    }

    /// Whether there was never anything to choose.
    pub(super) fn is_trivial(&self) -> bool {
        self.choices == 0 && self.threads <= 1
    }

    /// Adds what somebody else has seen.
    pub(super) fn merge(&mut self, other: &Tally) {
        self.executions += other.executions;
        self.steps += other.steps;
        self.choices += other.choices;
        self.classes.merge(&other.classes);
        self.discarded += other.discarded;
        self.threads = self.threads.max(other.threads);
        self.warnings.merge(&other.warnings);
    }

    pub(super) fn add(&mut self, trace: &Trace, threads: u32) {
        self.choices += trace.choices;
        if let Some(coverage) = &mut self.coverage {
            coverage.learn(trace);
        }
        if matches!(trace.ending, Ending::Abandoned) {
            // A run that was given up is the beginning of others, no class of its own.
            self.count(trace, threads);
        } else {
            self.add_ordinary(trace, threads);
        }
    }

    /// As [`add`](Tally::add), for a run without choices of its own, where nobody asks what it covered.
    #[inline(always)]
    pub(super) fn add_ordinary(&mut self, trace: &Trace, threads: u32) {
        self.classes.insert(trace.fingerprint);
        self.count(trace, threads);
    }

    #[inline(always)]
    fn count(&mut self, trace: &Trace, threads: u32) {
        self.executions += 1;
        self.steps += trace.events.count() as u64;
        self.threads = self.threads.max(threads);
    }
}
