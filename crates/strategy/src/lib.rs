//! Choosers: the algorithms that decide inside one run, one file each.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod pct;
mod random;
mod rng;
mod round_robin;

pub use pct::Pct;
pub use random::Random;
pub use rng::{Rng, mix};
pub use round_robin::RoundRobin;

use raddle_core::{Chooser, Trace};

/// A chooser that is started afresh for each run from a seed, and may learn from earlier runs.
pub trait Sampler: Chooser {
    /// A run begins.
    fn begin(&mut self, seed: u64);

    /// A run has ended.
    fn learn(&mut self, trace: &Trace);
}
