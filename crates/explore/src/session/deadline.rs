//! The time limit of a phase, checked between runs and inside of long ones.
//!
//! Reading the clock takes as long as a few steps. So it is read after a number of steps that doubles while steps are
//! fast and shrinks if they are slow, both between runs and, by the engine, inside of them.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use raddle_engine::TimeLimit;

use super::{Budget, Elapsed};

/// The time between two readings of the clock, about.
const INTERVAL: Duration = Duration::from_millis(1);
/// The maximum number of steps between two readings, also if they take less time.
const MAX_STEPS: usize = 4096;

/// The end of a phase, and how often the clock is read before it.
pub(super) struct Deadline {
    /// The time since the beginning of the check. `None` if the budget has no clock for the inside of runs.
    elapsed: Option<Elapsed>,
    /// The time since the beginning of the check at which a run is cut off.
    end: Cell<Duration>,
    /// The time of the last reading.
    last: Cell<Duration>,
    steps: Cell<usize>,
}

impl Deadline {
    /// Makes a deadline at the time `end` since the beginning of the check; `None` for no limit.
    pub(super) fn new(budget: &dyn Budget, end: Option<Duration>) -> Rc<Deadline> {
        Rc::new(Deadline {
            elapsed: budget.clock(),
            end: Cell::new(end.unwrap_or(Duration::MAX)),
            last: Cell::new(budget.elapsed()),
            steps: Cell::new(1),
        })
    }

    /// Moves the deadline.
    pub(super) fn set_end(&self, end: Option<Duration>) {
        self.end.set(end.unwrap_or(Duration::MAX));
    }

    /// Returns the deadline for an engine. `None` if the time cannot be read inside of runs.
    pub(super) fn for_engine(self: &Rc<Self>) -> Option<Rc<dyn TimeLimit>> {
        self.elapsed.as_ref()?;
        Some(self.clone())
    }

    /// Receives a reading of the clock, and returns the number of steps to the next one.
    pub(super) fn steps_from(&self, now: Duration) -> usize {
        let taken = now.saturating_sub(self.last.replace(now));
        let steps = self.steps.get();
        let next = if taken < INTERVAL / 2 {
            (steps * 2).min(MAX_STEPS)
        } else {
            let ratio = INTERVAL.as_secs_f64() / taken.as_secs_f64();
            ((steps as f64 * ratio) as usize).clamp(1, MAX_STEPS)
        };
        self.steps.set(next);
        next
    }
}

impl TimeLimit for Deadline {
    fn steps_to_next_check(&self) -> Option<usize> {
        let now = self.elapsed.as_ref().map_or(Duration::ZERO, |elapsed| elapsed());
        (now < self.end.get()).then(|| self.steps_from(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline() -> Deadline {
        let (end, last) = (Cell::new(Duration::from_secs(10)), Cell::new(Duration::ZERO));
        Deadline { elapsed: None, end, last, steps: Cell::new(1) }
    }

    #[test]
    fn fast_steps_are_checked_ever_less_often() {
        let deadline = deadline();
        let steps = (1..20).map(|reading| deadline.steps_from(Duration::from_micros(reading)));
        assert_eq!(steps.last(), Some(MAX_STEPS));
    }

    #[test]
    fn slow_steps_are_checked_one_by_one() {
        let deadline = deadline();
        for reading in 1..20 {
            deadline.steps_from(Duration::from_micros(reading));
        }
        // All steps take 20 ms each from now on.
        let mut now = Duration::from_micros(20);
        let mut checks = Vec::new();
        for _ in 0..4 {
            now += Duration::from_millis(20) * deadline.steps.get() as u32;
            checks.push(deadline.steps_from(now));
        }
        assert_eq!(checks, [1, 1, 1, 1]);
    }
}
