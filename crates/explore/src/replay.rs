//! Exact replay: a schedule, and nothing after it.

use raddle_core::{Chooser, Event, Pick, Point, Schedule, Trace};
use raddle_engine::{Engine, Family, Memory, Sc, Stuck, Substrate};

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
    replay_in(Sc, substrate, program, family, schedule, max_steps)
}

/// As [`replay`], under another memory model.
pub fn replay_in<M: Memory, S: Substrate>(
    memory: M,
    substrate: &mut S,
    program: &S::Program,
    family: Family,
    schedule: Schedule,
    max_steps: usize,
) -> Result<Trace, Stuck> {
    let mut engine = Engine::new(memory, family, Stop, max_steps);
    engine.plan_mut().prefix = schedule;
    substrate.execute(&mut engine, program)?;
    Ok(engine.into_trace())
}
