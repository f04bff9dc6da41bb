//! Short ways to run programs.

use raddle_core::{Chooser, Schedule, Trace};
use raddle_engine::{Engine, Family, Memory, Sc, Substrate};
use raddle_explore::Explorer;

/// Far more steps than any generated program has.
const MAX_STEPS: usize = 10_000;

/// An engine that has not seen any program.
pub fn engine<C: Chooser>(chooser: C) -> Engine<Sc, C> {
    Engine::new(Sc, Family::default(), chooser, MAX_STEPS)
}

/// Runs `program` once: as `prefix` says, then as `chooser` does.
pub fn run_once<S, C>(
    substrate: &mut S,
    program: &S::Program,
    prefix: Schedule,
    chooser: C,
) -> Trace
where
    S: Substrate,
    C: Chooser,
{
    let mut engine = engine(chooser);
    engine.plan_mut().prefix = prefix;
    substrate.execute(&mut engine, program).expect("scripted threads do not get stuck");
    engine.into_trace()
}

/// Runs `program` as `explorer` says until it is done, and shows every trace to `each`. `None` if
/// that takes more than `limit` runs.
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

/// As [`explore`], under another memory model.
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
    let mut engine = Engine::new(memory, explorer.family(), explorer.chooser(), MAX_STEPS);
    let mut run = 0;
    while explorer.next(engine.plan_mut()) {
        if run == limit {
            explorer.finish(engine.plan_mut());
            return None;
        }
        substrate.execute(&mut engine, program).expect("scripted threads do not get stuck");
        let (trace, plan) = engine.trace_and_plan_mut();
        explorer.learn(run, trace, plan);
        each(trace);
        run += 1;
    }
    explorer.finish(engine.plan_mut());
    Some(run)
}
