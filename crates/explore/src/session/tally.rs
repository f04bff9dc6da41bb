//! The counts of a check.

use raddle_analysis::MapCoverage;
use raddle_core::{Ending, Stopped, Trace};
use raddle_results::{Accesses, BlindSpots, HiddenState, Incomplete};

use super::census::Census;
use super::freed::Cleared;
use super::hidden_state::KeptRuns;
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
    /// The runs that reached the step limit, were led on, and ended after all. What else could follow is not known.
    pub(super) led_on: u64,
    /// The threads that could not be cleared away.
    pub(super) leaked: u64,
    pub(super) incomplete: Incomplete,
    pub(super) threads: u32,
    /// Failures after which the check continued.
    pub(super) census: Census,
    pub(super) warnings: WarningList,
    /// Suspicions that were cleared because the drops of `Arc` are not seen.
    pub(super) cleared: Cleared,
    pub(super) coverage: Option<Box<MapCoverage>>,
    /// Runs of a search that may be made again in another order.
    pub(super) kept: KeptRuns,
    /// The runs that were made again in another order.
    pub(super) equivalents: u64,
    pub(super) hidden_state: Option<Box<HiddenState>>,
    /// Whether there was no time to look for hidden state.
    pub(super) unchecked: bool,
    /// The runs that were made before the first phase.
    pub(super) probes: u64,
    pub(super) blind_spots: BlindSpots,
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
            led_on: 0,
            leaked: 0,
            incomplete: Incomplete::default(),
            threads: 0,
            census: Census::default(),
            warnings: WarningList::default(),
            cleared: Cleared::default(),
            coverage: coverage.map(|accesses| Box::new(MapCoverage::new(accesses))),
            kept: KeptRuns::new(),
            equivalents: 0,
            hidden_state: None,
            unchecked: false,
            probes: 0,
            blind_spots: BlindSpots::default(),
        }
    }

    /// Returns an estimate of the probability that a run is of a class not seen (Good and Turing).
    pub(super) fn unseen(&self) -> Option<f64> {
        let all = self.whole().filter(|&all| all > 0)?;
        Some((self.classes.singles() as f64 / all as f64).min(1.0))
    }

    /// Returns the number of runs that are whole executions and were not discarded.
    fn whole(&self) -> Option<u64> {
        self.executions.checked_sub(self.discarded + self.incomplete.total())
    }

    /// Returns whether no run had a choice.
    pub(super) fn is_trivial(&self) -> bool {
        self.choices == 0 && self.threads <= 1
    }

    /// Returns whether no run reached the step limit.
    pub(super) fn is_uncut(&self) -> bool {
        self.discarded == 0 && self.led_on == 0
    }

    /// Adds the counts of another tally.
    pub(super) fn merge(&mut self, other: &Tally) {
        self.executions += other.executions;
        self.steps += other.steps;
        self.choices += other.choices;
        self.classes.merge(&other.classes);
        self.discarded += other.discarded;
        self.led_on += other.led_on;
        self.leaked += other.leaked;
        self.incomplete.assumed += other.incomplete.assumed;
        self.incomplete.waits += other.incomplete.waits;
        self.incomplete.out_of_time += other.incomplete.out_of_time;
        self.threads = self.threads.max(other.threads);
        self.warnings.merge(&other.warnings);
        self.cleared.merge(&other.cleared);
        self.kept.merge(&other.kept);
        self.blind_spots.merge(other.blind_spots);
    }

    /// Adds what probes showed. Their runs are counted apart.
    pub(super) fn add_probes(&mut self, probes: &Tally) {
        self.probes += probes.completed();
        self.leaked += probes.leaked;
        self.warnings.merge(&probes.warnings);
        self.cleared.merge(&probes.cleared);
        self.blind_spots.merge(probes.blind_spots);
    }

    /// Adds a run in which at most `threads` threads were alive at once.
    pub(super) fn add(&mut self, trace: &Trace, threads: u32) {
        self.choices += trace.choices;
        if let Some(coverage) = &mut self.coverage {
            coverage.learn(trace);
        }
        match trace.ending {
            // An abandoned run is the beginning of others, no class of its own.
            Ending::Abandoned => self.count(trace, threads),
            Ending::Stopped => {
                let is_assumed = trace.stopped.iter().any(Stopped::is_assumption);
                self.incomplete.assumed += u64::from(is_assumed);
                self.incomplete.waits += u64::from(!is_assumed);
                self.count(trace, threads);
            }
            Ending::Finished
            | Ending::Deadlock
            | Ending::Panicked(_)
            | Ending::StepLimit
            | Ending::Diverged(_) => self.add_ordinary(trace, threads),
            Ending::TimeLimit => self.add_cut_off(trace, threads),
        }
    }

    /// Forgets the runs of a phase that began with the run `first` and begins again. They count as probes.
    #[cold]
    pub(super) fn begin_again(&mut self, first: u64, incomplete: Incomplete) {
        let completed = self.completed();
        (self.executions, self.incomplete) = (first, incomplete);
        self.probes += completed - self.completed();
        self.discarded = 0;
        self.led_on = 0;
    }

    /// Adds a run in which a thread waited that would have gone on.
    #[cold]
    pub(super) fn add_wait(&mut self, trace: &Trace, threads: u32) {
        self.incomplete.waits += 1;
        self.count(trace, threads);
    }

    /// Adds a run that did not end in time.
    pub(super) fn add_cut_off(&mut self, trace: &Trace, threads: u32) {
        self.incomplete.out_of_time += 1;
        self.count(trace, threads);
    }

    /// Returns whether the time limit cut off all runs, of which there was at least one.
    pub(super) fn is_out_of_time(&self) -> bool {
        let out_of_time = self.incomplete.out_of_time;
        out_of_time > 0 && out_of_time == self.executions && self.probes == 0
    }

    /// Returns the number of runs that came to their end.
    pub(super) fn completed(&self) -> u64 {
        self.executions - self.incomplete.total()
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
