//! A chooser for what comes after a solver's order: first what could not be ordered yet, then anything.

use raddle_core::{Chooser, Event, EventId, Pick, Point, ThreadId};
use raddle_strategy::Rng;

/// Random, once its goals are reached.
#[derive(Clone, Debug)]
pub(crate) struct Guided {
    rng: Rng,
    /// Steps that are announced and may have to wait. Their threads are held until they can go on.
    goals: Vec<EventId>,
}

impl Default for Guided {
    fn default() -> Guided {
        Guided { rng: Rng::new(0), goals: Vec::new() }
    }
}

impl Guided {
    /// A run begins.
    pub(crate) fn begin(&mut self, seed: u64, goals: &[EventId]) {
        self.rng = Rng::new(seed);
        self.goals.clear();
        self.goals.extend_from_slice(goals);
    }

    /// The thread to go on with, if there is a goal: the goal's as soon as it can, until then others.
    fn towards_goal(&mut self, enabled: &[ThreadId]) -> Option<usize> {
        let goal = self.goals.first()?.thread;
        if let Some(option) = enabled.iter().position(|&thread| thread == goal) {
            self.goals.remove(0);
            return Some(option);
        }
        let is_free = |thread: &ThreadId| self.goals.iter().all(|goal| goal.thread != *thread);
        let free = enabled.iter().filter(|thread| is_free(thread)).count();
        if free == 0 {
            self.goals.clear();
            return None;
        }
        let chosen = self.rng.below(free);
        (0..enabled.len()).filter(|&option| is_free(&enabled[option])).nth(chosen)
    }
}

impl Chooser for Guided {
    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        if let Point::Thread(threads) = at {
            if let Some(option) = self.towards_goal(threads.enabled) {
                return Pick::Take(option);
            }
        }
        Pick::Take(self.rng.below(at.options()))
    }
}
