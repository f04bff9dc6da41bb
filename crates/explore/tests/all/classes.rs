//! Depth-first search against an oracle that shares no code with the engine. The search visits every interleaving once,
//! and fingerprints identify equivalence classes.
#![cfg(all(unix, target_arch = "x86_64"))]

use std::collections::{BTreeSet, HashMap};

use raddle_core::{
    Action, AtomicOp, Effect, Ending, Order, Rmw, Scalar, ThreadId, ThreadOp, Trace,
};
use raddle_engine::Initial;
use raddle_explore::Dfs;
use raddle_runtime::{Native, Portable};
use raddle_strategy::{Random, Sampler};
use raddle_testkit::oracle::{self, Key, Outcome, Path, World, child};
use raddle_testkit::{
    Coroutines, Interpreter, Kind, Program, Shape, Step, explore, for_all, run_once, scaled,
};

/// Programs with more interleavings are skipped.
const LIMIT: u64 = 1500;

/// Replays `trace` on the oracle, checks that they agree, and returns the class.
fn check_by_oracle(program: &Program, trace: &Trace) -> Result<Key, String> {
    let mut world = World::new(program);
    for (position, event) in trace.events.iter().enumerate() {
        let wrong = |what: &str| Err(format!("event {position}: {what} in {trace:#?}"));
        let Some(place) = world.place_of(path(trace, event.id.thread)) else {
            return wrong("no such thread");
        };
        if !world.is_enabled(place) {
            return wrong("not enabled");
        }
        let value = if let Effect::Value(value) = event.effect { value } else { 0 };
        let effect = world.step(place, value);
        let is_spawn = event.op.action() == Action::Thread(ThreadOp::Spawn);
        if effect != event.effect && !is_spawn {
            return wrong(&format!("the oracle says {effect:?}"));
        }
    }
    if !world.options().is_empty() {
        return Err(format!("threads are enabled after {trace:#?}"));
    }
    let outcome = match &trace.ending {
        Ending::Finished => Outcome::Finished,
        Ending::Deadlock => Outcome::Deadlock,
        Ending::Panicked(_) => Outcome::Panicked,
        other => return Err(format!("{other:?}")),
    };
    if outcome != world.outcome() {
        return Err(format!("{outcome:?}, but the oracle says {:?}", world.outcome()));
    }
    Ok(world.key())
}

fn path(trace: &Trace, thread: ThreadId) -> Path {
    let info =
        trace.threads.iter().find(|info| info.id == thread).expect("the thread is in the trace");
    if thread == ThreadId::MAIN { 0 } else { child(path(trace, info.parent), info.position) }
}

/// Checks all executions of a program. Returns the number of its classes, or `None` if it is too large.
fn check(program: &Program) -> Result<Option<usize>, String> {
    let Some(expected) = oracle::classes(program, LIMIT) else { return Ok(None) };
    let mut key_of = HashMap::new();
    let mut fingerprint_of = HashMap::new();
    let mut fingerprints = Vec::new();
    let mut verdict = Ok(());
    let runs = explore(&mut Interpreter, program, Dfs::default(), 2 * LIMIT, |trace| {
        fingerprints.push(trace.fingerprint);
        let checked = check_by_oracle(program, trace).and_then(|key| {
            let known = key_of.entry(trace.fingerprint).or_insert_with(|| key.clone());
            if *known != key {
                return Err(format!("one fingerprint, two classes: {known:?} and {key:?}"));
            }
            let known = *fingerprint_of.entry(key).or_insert(trace.fingerprint);
            if known != trace.fingerprint {
                return Err(format!("one class, two fingerprints: {trace:#?}"));
            }
            Ok(())
        });
        if verdict.is_ok() {
            verdict = checked;
        }
    });
    verdict?;
    if runs != Some(expected.interleavings) {
        return Err(format!("{runs:?} runs, but {} interleavings", expected.interleavings));
    }
    let found: BTreeSet<Key> = key_of.into_values().collect();
    if found != expected.classes {
        return Err("the classes differ from those of the oracle".into());
    }
    Ok(Some(found.len()))
}

#[test]
fn dfs_visits_every_interleaving_and_fingerprints_are_classes() {
    let (mut programs, mut with_several, mut max) = (0u64, 0u64, 0);
    for_all(3, scaled(800), &Shape::small(), |program, _| {
        if let Some(classes) = check(program)? {
            programs += 1;
            with_several += u64::from(classes > 1);
            max = max.max(classes);
        }
        Ok(())
    });
    println!("{programs} programs, {with_several} with several classes, up to {max}");
    assert!(with_several * 4 >= scaled(800), "too many programs are too large or have one class");
}

/// Random runs of programs that are too large for a search.
#[test]
fn random_runs_agree_with_the_oracle() {
    let condvars = vec![Kind::Condvar, Kind::Atomic];
    let condvars = Shape { kinds: condvars, kinds_at_once: 2, scripts: 6, pieces: 3, panics: 0 };
    let mut runs = 0;
    for shape in [Shape::large(), condvars] {
        for_all(9, scaled(400), &shape, |program, rng| {
            for _ in 0..10 {
                let mut random = Random::default();
                random.begin(rng.bits());
                let trace = run_once(&mut Interpreter, program, vec![], random.choices());
                check_by_oracle(program, &trace)?;
                runs += 1;
            }
            Ok(())
        });
    }
    println!("{runs} runs");
}

#[test]
fn classes_with_panics_and_nested_spawns_agree() {
    let kinds = vec![Kind::Atomic, Kind::Thread, Kind::Park];
    let shape = Shape { kinds, kinds_at_once: 3, scripts: 4, pieces: 1, panics: 3 };
    for_all(4, scaled(300), &shape, |program, _| check(program).map(drop));
}

#[test]
fn classes_of_readers_agree() {
    let kinds = vec![Kind::Readers];
    let shape = Shape { kinds, kinds_at_once: 1, scripts: 4, pieces: 1, panics: 0 };
    for_all(10, scaled(200), &shape, |program, _| check(program).map(drop));
}

#[test]
fn dfs_is_the_same_on_every_substrate() {
    let mut native = Coroutines::<Native>::default();
    let mut portable = Coroutines::<Portable>::default();
    let mut runs = 0;
    for_all(5, scaled(400), &Shape::small(), |program, _| {
        let mut interpreted = Vec::new();
        let keep = |trace: &Trace| interpreted.push(trace.clone());
        let expected = explore(&mut Interpreter, program, Dfs::default(), 200, keep);
        runs += interpreted.len();
        let mut different = None;
        let mut left = interpreted.iter();
        let on_native = explore(&mut native, program, Dfs::default(), 200, |trace| {
            different = different.take().or((left.next() != Some(trace)).then(|| trace.clone()));
        });
        let mut left = interpreted.iter();
        let on_portable = explore(&mut portable, program, Dfs::default(), 200, |trace| {
            different = different.take().or((left.next() != Some(trace)).then(|| trace.clone()));
        });
        if (on_native, on_portable) != (expected, expected) {
            return Err(format!("{expected:?}, {on_native:?} and {on_portable:?} runs"));
        }
        different.map_or(Ok(()), |trace| Err(format!("differs from the interpreter: {trace:#?}")))
    });
    println!("{runs} runs on each substrate");
}

#[test]
fn numbers_of_classes_are_known() {
    let order = Order::SeqCst;
    let add = AtomicOp::Update { order, scalar: Scalar::U8, function: Rmw::Add, operand: 1 };
    let load = AtomicOp::Load { order };
    let count = |threads: usize, ops: usize, op: AtomicOp| {
        let body = vec![Step::On(0, Action::Atomic(op)); ops];
        let mut scripts = vec![(1..=threads).map(Step::Spawn).collect::<Vec<_>>()];
        scripts.extend(vec![body; threads]);
        let program = Program { objects: vec![Initial::Atomic(Scalar::U8, 0)], scripts };
        let mut seen = BTreeSet::new();
        explore(&mut Interpreter, &program, Dfs::default(), u64::MAX, |trace| {
            seen.insert(trace.fingerprint);
        });
        seen.len()
    };
    assert_eq!((count(2, 1, add), count(2, 2, add), count(2, 3, add)), (2, 6, 20));
    assert_eq!((count(3, 1, add), count(2, 2, load)), (6, 1));
}
