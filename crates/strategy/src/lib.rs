//! Choosers: the algorithms that decide inside one run, one file each.
//!
//! A chooser that starts afresh for each run is a [`Sampler`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod delay;
mod pct;
mod pctwm;
mod portfolio;
mod pos;
mod random;
mod rapos;
mod repeats;
mod round_robin;
mod surw;
mod urw;

pub use delay::Delay;
pub use pct::Pct;
pub use pctwm::Pctwm;
pub use portfolio::Portfolio;
pub use pos::Pos;
pub use raddle_core::{Rng, mix};
pub use random::Random;
pub use rapos::Rapos;
pub use round_robin::RoundRobin;
pub use surw::Surw;
pub use urw::Urw;

use alloc::boxed::Box;
use alloc::vec::Vec;

use raddle_core::{Choices, Guarantee, Trace};

/// An algorithm that draws one run after the other, each from a seed, and may learn from earlier runs.
pub trait Sampler {
    /// Begins a run whose random choices all follow from `seed`.
    fn begin(&mut self, seed: u64);

    /// Returns what answers the points of the run that was begun last.
    fn choices(&mut self) -> Choices<'_>;

    /// Receives the trace of the run that was begun last.
    fn learn(&mut self, trace: &Trace) {
        let _ = trace;
    }

    /// Returns bounds on the bugs that escaped all runs so far. Empty if the algorithm gives none.
    fn guarantees(&self) -> Vec<Guarantee> {
        Vec::new()
    }

    /// Returns whether runs are drawn independently from one distribution: nothing is learnt between them.
    fn independent_runs(&self) -> bool {
        false
    }
}

impl<S: Sampler + ?Sized> Sampler for Box<S> {
    fn begin(&mut self, seed: u64) {
        (**self).begin(seed);
    }

    fn choices(&mut self) -> Choices<'_> {
        (**self).choices()
    }

    fn learn(&mut self, trace: &Trace) {
        (**self).learn(trace);
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        (**self).guarantees()
    }

    fn independent_runs(&self) -> bool {
        (**self).independent_runs()
    }
}
