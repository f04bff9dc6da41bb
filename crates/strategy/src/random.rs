//! Random walk: a uniform draw among the options of every point.
//!
//! Promise: every execution has a positive probability, which falls with the number of its points.

use raddle_core::{Choices, Chooser, Event, Pick, Point, Rng};

use crate::Sampler;

/// The uniform sampler.
///
/// A run of it needs no calls of a chooser: see [`Choices::Uniform`]. As a [`Chooser`] it makes the same
/// draws.
#[derive(Clone, Debug)]
pub struct Random {
    rng: Rng,
}

impl Default for Random {
    fn default() -> Random {
        Random { rng: Rng::new(0) }
    }
}

impl Sampler for Random {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Uniform(self.rng.clone())
    }

    fn independent_runs(&self) -> bool {
        true
    }
}

impl Chooser for Random {
    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        Pick::Take(self.rng.below(at.options()))
    }
}
