//! Threads that an assumption stops: every search finds the classes that the oracle finds.

use std::collections::BTreeSet;

use raddle_core::{Action, Ending, Rng, Stopped, Trace};
use raddle_explore::{Bound, Bpor, Dfs, Dpor, Explorer, Reduction};
use raddle_testkit::oracle::{Outcome, World, classes};
use raddle_testkit::{
    IdentifyingInterpreter, Kind, Program, Shape, Step, explore, for_all, scaled,
};

/// Programs with more interleavings are skipped.
const LIMIT: u64 = 5_000;

/// Returns the program with assumptions, most of them after an operation on an atomic variable.
fn with_assumptions(program: &Program, rng: &mut Rng) -> Program {
    let mut program = program.clone();
    for script in &mut program.scripts {
        let is_atomic = |step: &Step| matches!(step, Step::On(_, Action::Atomic(_)));
        let atomic = script.iter().rposition(is_atomic).filter(|_| rng.below(4) > 0);
        let place = atomic.map_or_else(|| rng.below(script.len() + 1), |atomic| atomic + 1);
        if atomic.is_some() || rng.below(8) == 0 {
            script.insert(place, Step::AssumeOdd);
        }
    }
    program
}

/// Returns the classes that a search runs, with whether each was stopped, and the number of runs that were not abandoned.
fn search(program: &Program, explorer: impl Explorer) -> (BTreeSet<(u64, bool)>, u64) {
    let (mut found, mut runs) = (BTreeSet::new(), 0);
    let each = |trace: &Trace| {
        if trace.ending == Ending::Abandoned {
            return;
        }
        let is_stopped = trace.ending == Ending::Stopped;
        // A cycle of threads that wait for each other is a deadlock, whichever threads were stopped.
        if trace.ending != Ending::Deadlock {
            assert_eq!(is_stopped, trace.stopped.iter().any(Stopped::is_assumption));
        }
        let is_pending =
            |stopped: &Stopped| trace.pending.iter().any(|p| p.thread == stopped.thread);
        assert!(!trace.stopped.iter().any(is_pending), "a stopped thread has no operation");
        found.insert((trace.fingerprint, is_stopped));
        runs += 1;
    };
    explore(&mut IdentifyingInterpreter, program, explorer, LIMIT, each).expect("few runs");
    (found, runs)
}

/// Returns whether some execution of `world` ends stopped, and whether some does not.
fn outcomes(world: World<'_>, seen: &mut (bool, bool)) {
    let options = world.options();
    if options.is_empty() {
        match world.outcome() {
            Outcome::Stopped => seen.0 = true,
            Outcome::Finished | Outcome::Deadlock | Outcome::Panicked => seen.1 = true,
        }
    }
    for (thread, value) in options {
        let mut next = world.clone();
        next.step(thread, value);
        outcomes(next, seen);
    }
}

#[test]
fn searches_agree_on_stopped_threads() {
    let kinds = vec![Kind::Atomic, Kind::Mutex, Kind::Park, Kind::Thread, Kind::Alone];
    let shape = Shape { kinds, kinds_at_once: 2, scripts: 3, pieces: 3, panics: 0 };
    let (mut stopped, mut both) = (0, 0);
    for_all(77, scaled(600), &shape, |program, rng| {
        let program = with_assumptions(program, rng);
        let Some(all) = classes(&program, LIMIT) else { return Ok(()) };
        let (expected, _) = search(&program, Dfs::default());
        if expected.len() != all.classes.len() {
            return Err(format!("dfs: {} of {} classes", expected.len(), all.classes.len()));
        }
        let mut ends = (false, false);
        outcomes(World::new(&program), &mut ends);
        let found = |stopped: bool| expected.iter().any(|class| class.1 == stopped);
        if ends != (found(true), found(false)) {
            return Err(format!("outcomes {ends:?}"));
        }
        let (dpor, runs) = search(&program, Dpor::default());
        if dpor != expected || runs != expected.len() as u64 {
            return Err(format!("dpor: {} classes, {runs} runs of {}", dpor.len(), expected.len()));
        }
        let (bpor, _) = search(&program, Bpor::new(Bound::NONE, Reduction::Optimised));
        if bpor != expected {
            return Err(format!("bpor: {} of {} classes", bpor.len(), expected.len()));
        }
        stopped += u64::from(ends.0);
        both += u64::from(ends == (true, true));
        Ok(())
    });
    println!("{stopped} programs with stopped executions, {both} of them with others");
    assert!(both * 40 >= scaled(600), "too few programs with both kinds of executions");
}
