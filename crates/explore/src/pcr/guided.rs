//! A chooser for the steps after a solver's order: first its goals, then random steps.

use raddle_core::{Chooser, Event, EventId, IdleRounds, Needs, Pick, Point, ThreadId};
use raddle_strategy::Rng;

/// Chooses at random once its goals are reached.
#[derive(Clone, Debug)]
pub(crate) struct Guided {
    rng: Rng,
    /// Announced steps that may be blocked, in order. Their threads are held back until then.
    goals: Vec<EventId>,
}

impl Default for Guided {
    fn default() -> Guided {
        Guided { rng: Rng::new(0), goals: Vec::new() }
    }
}

impl Guided {
    /// Begins a run.
    pub(crate) fn begin(&mut self, seed: u64, goals: &[EventId]) {
        self.rng = Rng::new(seed);
        self.goals.clear();
        self.goals.extend_from_slice(goals);
    }

    /// Returns the option that leads to the next goal: its thread if that is enabled, otherwise one that is not
    /// held back. `None` if there is no goal.
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
    fn needs(&self) -> Needs {
        Needs { idle_rounds: IdleRounds::Cut, ..Needs::default() }
    }

    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        if let Point::Thread(threads) = at {
            if let Some(option) = self.towards_goal(threads.enabled) {
                return Pick::Take(option);
            }
        }
        Pick::Take(self.rng.below(at.options()))
    }
}
