//! The limits of a run: steps and time.

use alloc::rc::Rc;

use raddle_core::{Choices, Ending};

use super::{Engine, Turn};
use crate::time_limit::TimeChecks;
use crate::{Memory, TimeLimit};

impl<M: Memory> Engine<M> {
    /// Sets the time limit of the next runs, or none. It is checked inside of runs only.
    pub fn set_time_limit(&mut self, limit: Option<Rc<dyn TimeLimit>>) {
        self.time_checks = limit.map_or(TimeChecks::NONE, TimeChecks::of);
    }

    /// Sets the number of steps between two checks of the time limit.
    pub fn set_time_check_interval(&mut self, steps: usize) {
        self.time_checks.interval = steps;
    }

    /// Chooses the next thread in the tail of a run that was given up. Otherwise ends the run if a limit is reached, or
    /// chooses as usual.
    #[cold]
    pub(super) fn next_turn_at_limit(&mut self, choices: &mut Choices<'_>) -> Turn {
        if self.is_leading() {
            return self.lead();
        }
        let steps = self.trace.events.len();
        if steps >= self.max_steps {
            return self.continue_past_step_limit();
        }
        if self.time_checks.is_time_up() {
            return self.end_with(Ending::TimeLimit);
        }
        let must_pause = self.examine_long_run();
        let next_check = steps.saturating_add(self.time_checks.interval);
        self.asks_below = self.max_steps.min(next_check).min(self.idle.examined_at());
        self.set_fast_path();
        if must_pause {
            return Turn::END;
        }
        self.next_turn(choices)
    }
}
