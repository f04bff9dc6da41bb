//! Loops that wait: whether something counts their rounds that no local state shows.

use raddle_core::{Choices, Site};
use raddle_engine::KnownLoop;

use super::Check;
use crate::alone::{Alone, Stays};
use crate::executor::AnyEngine;
use crate::{engine_cache, replay};

impl Check<'_> {
    /// Runs the threads alone that closed a round in the last run of `engine`, in loops that are not known. Returns the
    /// place of a loop that its thread left, if there is one: the run is not what it seemed to be.
    #[cold]
    pub(super) fn examine_loops(&mut self, engine: &mut AnyEngine) -> Option<Site> {
        let mut left = None;
        for round in engine.take_unknown_rounds() {
            let places: Vec<Site> = round.looks.iter().map(|look| look.site).collect();
            let is_known =
                |known: &KnownLoop| known.thread == round.thread && known.places == places;
            if self.loops.iter().any(is_known) {
                continue;
            }
            let trace = engine.trace();
            let Some(mut alone) = Alone::new(trace, &round) else { continue };
            let ids = replay::thread_ids_of(trace);
            let mut other = engine_cache::take(self.settings.memory, ids, alone.max_steps());
            self.executor.execute(&mut other, Choices::Chooser(&mut alone));
            let stays = alone.stays(other.trace());
            engine_cache::put(other);
            let counts = stays == Stays::No;
            left = left.or(if counts { places.first().copied() } else { None });
            self.loops.push(KnownLoop { thread: round.thread, places, counts });
        }
        engine.set_known_loops(self.loops.clone());
        left
    }
}
