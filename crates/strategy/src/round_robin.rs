//! Round-robin: the threads take turns, one step each.
//!
//! Promise: fairness only. Every run is the same, so one is enough.

use raddle_core::{Choices, Chooser, Event, Pick, Point};

use crate::Sampler;

/// The chooser that takes the enabled thread with the next id.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin;

impl Chooser for RoundRobin {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let threads = match at {
            Point::Thread(threads) => threads,
            // An older store could be read again and again, and a loop would not end.
            Point::Source { options, .. } | Point::Place { options, .. } => {
                return Pick::Take(options.len() - 1);
            }
            Point::Value { .. } => return Pick::Take(0),
        };
        let last = past.last().map_or(0, |event| event.id.thread.0);
        // Ids up to the last thread's follow after the largest.
        let distance = |thread: u32| thread.wrapping_sub(last).wrapping_sub(1);
        let nearest = (0..threads.enabled.len())
            .min_by_key(|&option| distance(threads.enabled[option].0))
            .expect("raddle invariant broken: a thread point without options");
        Pick::Take(nearest)
    }
}

impl Sampler for RoundRobin {
    fn begin(&mut self, _seed: u64) {}

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }
}
