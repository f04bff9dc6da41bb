//! The time limit of a run. The engine has no clock of its own.

use alloc::rc::Rc;
use core::fmt;

/// Decides inside a run whether the run has taken too long.
pub trait TimeLimit {
    /// Returns the number of steps after which to ask again, at least one. Returns `None` if the time is up: the run
    /// then ends as [`Ending::TimeLimit`](raddle_core::Ending::TimeLimit).
    fn steps_to_next_check(&self) -> Option<usize>;
}

/// When an engine asks its time limit.
pub(crate) struct TimeChecks {
    limit: Option<Rc<dyn TimeLimit>>,
    /// The number of steps between two checks.
    pub(crate) interval: usize,
}

impl TimeChecks {
    /// No time limit.
    pub(crate) const NONE: TimeChecks = TimeChecks { limit: None, interval: usize::MAX };

    /// The time limit is checked after the first step of a run, and then as often as it says.
    pub(crate) fn of(limit: Rc<dyn TimeLimit>) -> TimeChecks {
        TimeChecks { limit: Some(limit), interval: 1 }
    }

    /// Checks the time limit. Returns whether the time is up.
    pub(crate) fn is_time_up(&mut self) -> bool {
        let Some(limit) = &self.limit else { return false };
        match limit.steps_to_next_check() {
            None => true,
            Some(steps) => {
                self.interval = steps.max(1);
                false
            }
        }
    }
}

impl fmt::Debug for TimeChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeChecks").field("interval", &self.interval).finish_non_exhaustive()
    }
}
