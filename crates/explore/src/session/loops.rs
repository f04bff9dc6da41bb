//! Loops that wait: whether something counts their rounds that no local state shows.

use raddle_core::{Choices, Site};
use raddle_engine::{KnownLoop, LoopNature};

use super::Check;
use crate::alone::{Alone, Stays};
use crate::executor::AnyEngine;
use crate::{engine_cache, replay};

impl Check<'_> {
    /// Runs the threads alone that closed a round in the last run of `engine`, in loops that are not known. Returns the
    /// place of a loop that does not wait as it seemed to, if there is one: the run is not what it seemed to be.
    #[cold]
    pub(super) fn examine_loops(&mut self, engine: &mut AnyEngine) -> Option<Site> {
        let mut wrong = None;
        for round in engine.take_unknown_rounds() {
            let places: Vec<Site> = round.looks.iter().map(|look| look.site).collect();
            let known = self.loops.iter().position(|known: &KnownLoop| {
                known.thread == round.thread && known.places == places
            });
            // An undisturbed round may show what disturbed ones did not.
            let is_clear =
                |at: usize| round.is_disturbed || self.loops[at].nature != LoopNature::Unclear;
            if known.is_some_and(is_clear) {
                continue;
            }
            let trace = engine.trace();
            let Some(mut alone) = Alone::new(trace, &round) else { continue };
            let ids = replay::thread_ids_of(trace);
            let mut other = engine_cache::take(self.settings.memory, ids, alone.max_steps());
            self.executor.execute(&mut other, Choices::Chooser(&mut alone));
            let nature = match alone.stays(other.trace()) {
                Stays::Yes => LoopNature::Waits,
                Stays::No => LoopNature::Counts,
                Stays::Unknown if round.is_disturbed => LoopNature::Unclear,
                Stays::Unknown => LoopNature::Waits,
            };
            engine_cache::put(other);
            if nature != LoopNature::Waits {
                wrong = wrong.or(places.first().copied());
            }
            let now = KnownLoop { thread: round.thread, places, nature };
            match known {
                Some(at) => self.loops[at] = now,
                None => self.loops.push(now),
            }
        }
        engine.set_known_loops(self.loops.clone());
        wrong
    }
}
