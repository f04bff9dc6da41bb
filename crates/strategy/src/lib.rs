//! Choosers: the algorithms that decide inside one run, one file each. Those that sample, one run like
//! any other, are [`Sampler`]s.
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
mod rng;
mod round_robin;
mod surw;
mod urw;

pub use delay::Delay;
pub use pct::Pct;
pub use pctwm::Pctwm;
pub use portfolio::{Member, Portfolio};
pub use pos::Pos;
pub use random::Random;
pub use rapos::Rapos;
pub use rng::{Rng, mix};
pub use round_robin::RoundRobin;
pub use surw::Surw;
pub use urw::Urw;

use alloc::vec::Vec;

use raddle_core::{Chooser, Guarantee, Trace};

/// A chooser that is started afresh for each run from a seed, and may learn from earlier runs.
pub trait Sampler: Chooser + 'static {
    /// Whether all runs are drawn alike, whatever was learnt from others.
    const DRAWS_ALIKE: bool = false;

    /// A run begins.
    fn begin(&mut self, seed: u64);

    /// A run has ended.
    fn learn(&mut self, trace: &Trace);

    /// What is known of the bugs that escaped all runs so far, if anything.
    fn guarantees(&self) -> Vec<Guarantee> {
        Vec::new()
    }
}
