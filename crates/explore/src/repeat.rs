//! Sampling: one sampler, again and again, with a new seed for each run.

use raddle_core::{Choices, Guarantee, Schedule, Trace, mix};
use raddle_strategy::Sampler;

use crate::{Covered, Explorer};

/// Repeats a sampler. A run depends on the session's seed, the run's number, and on what the sampler learnt
/// before.
#[derive(Clone, Debug)]
pub struct Repeat<S> {
    sampler: S,
    seed: u64,
    /// The number of the next run.
    run: u64,
    /// The number of the first run that is not made.
    end: u64,
}

impl<S: Sampler> Repeat<S> {
    /// Repeats `sampler` without end, seeded from `seed`.
    pub fn new(sampler: S, seed: u64) -> Repeat<S> {
        Repeat::starting_at(sampler, seed, 0)
    }

    /// Makes one run of `sampler`.
    pub fn once(sampler: S, seed: u64) -> Repeat<S> {
        Repeat { sampler, seed, run: 0, end: 1 }
    }

    /// Repeats `sampler` without end, as [`new`](Repeat::new) does from the run with the number `run` on.
    pub(crate) fn starting_at(sampler: S, seed: u64, run: u64) -> Repeat<S> {
        Repeat { sampler, seed, run, end: u64::MAX }
    }

    /// Returns the sampler in its state after the last run.
    pub fn sampler(&self) -> &S {
        &self.sampler
    }
}

impl<S: Sampler> Explorer for Repeat<S> {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        if self.run == self.end {
            return false;
        }
        prefix.clear();
        self.sampler.begin(mix(self.seed, self.run));
        self.run += 1;
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        self.sampler.choices()
    }

    fn skips_equivalent(&self) -> bool {
        false
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        self.sampler.learn(trace);
    }

    fn covered(&self, _is_done: bool) -> Covered {
        Covered::Nothing
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        self.sampler.guarantees()
    }

    fn independent_runs(&self) -> bool {
        self.sampler.independent_runs()
    }
}
