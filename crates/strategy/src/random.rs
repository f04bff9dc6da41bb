//! Random walk: every option alike, at every point.
//!
//! Promise: every execution has a chance; a long one a small chance.

use raddle_core::{Chooser, Event, Pick, Point, Threads, Trace};

use crate::{Rng, Sampler};

/// The uniform chooser.
#[derive(Clone, Debug)]
pub struct Random {
    rng: Rng,
}

impl Default for Random {
    fn default() -> Random {
        Random { rng: Rng::new(0) }
    }
}

impl Chooser for Random {
    const WATCHES_CHANGES: bool = false;
    const WATCHES_PAST: bool = false;
    const IS_BLIND: bool = true;

    #[inline(always)]
    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        Pick::Take(self.rng.below(at.options()))
    }

    #[inline(always)]
    fn choose_thread(&mut self, at: &Threads<'_>, _past: &[Event]) -> Pick {
        Pick::Take(self.draw(at.enabled.len()))
    }

    #[inline(always)]
    fn draw(&mut self, options: usize) -> usize {
        self.rng.below(options)
    }
}

impl Sampler for Random {
    const DRAWS_ALIKE: bool = true;

    #[inline(always)]
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
    }

    #[inline(always)]
    fn learn(&mut self, _trace: &Trace) {}
}
