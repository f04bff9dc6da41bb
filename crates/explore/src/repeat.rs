//! Sampling: the same chooser again and again, with a new seed each time.

use raddle_core::{Guarantee, Plan, Trace};
use raddle_strategy::{Sampler, mix};

use crate::{Covered, Explorer};

/// Repeats a sampler for ever. Run r depends on the session's seed and r alone, and on what the
/// sampler learnt before.
#[derive(Clone, Debug)]
pub struct Repeat<S> {
    sampler: S,
    seed: u64,
    run: u64,
}

impl<S: Sampler + Clone> Repeat<S> {
    /// Repeats `sampler`, seeded from `seed`.
    pub fn new(sampler: S, seed: u64) -> Repeat<S> {
        Repeat::from(sampler, seed, 0)
    }

    /// As [`new`](Repeat::new), but the first run is that with the number `run`.
    pub(crate) fn from(sampler: S, seed: u64, run: u64) -> Repeat<S> {
        Repeat { sampler, seed, run }
    }

    /// The sampler as it is after the last run.
    pub fn sampler(&self) -> &S {
        &self.sampler
    }
}

impl<S: Sampler + Clone> Explorer for Repeat<S> {
    type Then = S;

    fn chooser(&self) -> S {
        self.sampler.clone()
    }

    #[inline]
    fn next(&mut self, plan: &mut Plan<S>) -> bool {
        plan.prefix.clear();
        plan.then.begin(mix(self.seed, self.run));
        self.run += 1;
        true
    }

    #[inline]
    fn learn(&mut self, _run: u64, trace: &Trace, plan: &mut Plan<S>) {
        plan.then.learn(trace);
    }

    fn finish(&mut self, plan: &mut Plan<S>) {
        self.sampler = plan.then.clone();
    }

    fn covered(&self, _is_done: bool) -> Covered {
        Covered::Nothing
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        self.sampler.guarantees()
    }

    fn draws_alike(&self) -> bool {
        S::DRAWS_ALIKE
    }
}
