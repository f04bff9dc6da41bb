//! Exact replay: a schedule, and nothing after it.

use raddle_core::{Chooser, Event, Pick, Point, Schedule, Trace};
use raddle_engine::{Family, Memory, Rc11, Sc, Stuck, Substrate};

use crate::shelf;

/// Gives up: the program asks more questions than the schedule answers.
#[derive(Clone, Debug, Default)]
pub struct Stop;

impl Chooser for Stop {
    const WATCHES_CHANGES: bool = false;

    fn choose(&mut self, _at: &Point<'_>, _past: &[Event]) -> Pick {
        Pick::Abandon
    }
}

/// Runs `program` as `schedule` says and returns what happened.
///
/// A run that leaves the schedule ends as [`Diverged`](raddle_core::Ending::Diverged), one that goes
/// on after it as [`Abandoned`](raddle_core::Ending::Abandoned).
pub fn replay<S: Substrate>(
    substrate: &mut S,
    program: &S::Program,
    family: Family,
    schedule: Schedule,
    max_steps: usize,
) -> Result<Trace, Stuck> {
    let prescribe = |prefix: &mut Schedule| *prefix = schedule;
    follow::<Sc, S, Trace>(substrate, program, family, prescribe, max_steps, Trace::clone)
}

/// As [`replay`], under RC11.
pub fn replay_weak<S: Substrate>(
    substrate: &mut S,
    program: &S::Program,
    family: Family,
    schedule: Schedule,
    max_steps: usize,
) -> Result<Trace, Stuck> {
    let prescribe = |prefix: &mut Schedule| *prefix = schedule;
    follow::<Rc11, S, Trace>(substrate, program, family, prescribe, max_steps, Trace::clone)
}

/// As [`replay`], for whoever writes the schedule where it is followed, and only wants to `look` at what
/// happened.
pub(crate) fn follow<M: Memory + Default + 'static, S: Substrate, R>(
    substrate: &mut S,
    program: &S::Program,
    family: Family,
    prescribe: impl FnOnce(&mut Schedule),
    max_steps: usize,
    look: impl FnOnce(&Trace) -> R,
) -> Result<R, Stuck> {
    let mut engine = shelf::engine::<M, Stop>(family, max_steps, || Stop, |_| {});
    prescribe(&mut engine.plan_mut().prefix);
    substrate.execute(&mut *engine, program)?;
    let seen = look(engine.trace());
    shelf::put(engine);
    Ok(seen)
}
