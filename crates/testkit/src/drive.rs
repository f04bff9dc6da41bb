//! Functions that run programs.

use raddle_core::{Choices, Schedule, Trace};
use raddle_engine::{Engine, Memory, Sc, Substrate, ThreadIds};
use raddle_explore::Explorer;

/// More steps than any generated program has.
const MAX_STEPS: usize = 10_000;

/// Returns a new engine.
pub fn engine() -> Engine<Sc> {
    Engine::new(Sc, ThreadIds::default(), MAX_STEPS)
}

/// Runs `program` once, with the choices of `prefix` and then those of `choices`.
pub fn run_once<S: Substrate>(
    substrate: &mut S,
    program: &S::Program,
    prefix: Schedule,
    choices: Choices<'_>,
) -> Trace {
    let mut engine = engine();
    *engine.prefix_mut() = prefix;
    substrate.execute(&mut engine, choices, program);
    engine.into_trace()
}

/// Runs `program` under `explorer` until it is done, and calls `each` with every trace. Returns the number of runs, or
/// `None` if there are more than `limit`.
pub fn explore<S, E>(
    substrate: &mut S,
    program: &S::Program,
    explorer: E,
    limit: u64,
    each: impl FnMut(&Trace),
) -> Option<u64>
where
    S: Substrate,
    E: Explorer,
{
    explore_in(Sc, substrate, program, explorer, limit, each)
}

/// Runs `program` under `explorer` as [`explore`] does, under another memory model.
pub fn explore_in<M, S, E>(
    memory: M,
    substrate: &mut S,
    program: &S::Program,
    mut explorer: E,
    limit: u64,
    mut each: impl FnMut(&Trace),
) -> Option<u64>
where
    M: Memory,
    S: Substrate,
    E: Explorer,
{
    let mut engine = Engine::new(memory, explorer.thread_ids(), MAX_STEPS);
    let mut run = 0;
    while explorer.next(engine.prefix_mut()) {
        if run == limit {
            return None;
        }
        substrate.execute(&mut engine, explorer.choices(), program);
        let trace = engine.trace();
        explorer.learn(run, trace);
        each(trace);
        run += 1;
    }
    Some(run)
}
