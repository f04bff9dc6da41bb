//! Programs that wait in loops: searches against all fair executions, which an oracle finds in the state graph.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{
    Action, AtomicOp, Effect, Ending, MutexOp, Order, PauseOp, Rmw, Rng, Scalar, StopReason, Trace,
    mix,
};
use raddle_engine::{Engine, Initial, Sc, Substrate};
use raddle_explore::{Bound, Bpor, Dfs, Dpor, Explorer, Mcr, Reduction};
use raddle_testkit::oracle::{World, fair};
use raddle_testkit::{FramedInterpreter, Program, Step, scaled};

use crate::bounds::brute::path;

const X: usize = 0;
const Y: usize = 1;
const MUTEX: usize = 2;
const ORDER: Order = Order::SeqCst;

/// Programs with more states are skipped.
const MAX_STATES: usize = 2_000;
/// Programs with longer runs are skipped.
const MAX_STEPS: usize = 200;
/// Programs with more runs are skipped.
const MAX_RUNS: u64 = 400;

fn atomic(object: usize, op: AtomicOp) -> Step {
    Step::On(object, Action::Atomic(op))
}

fn load(object: usize) -> Step {
    atomic(object, AtomicOp::Load { order: ORDER })
}

fn store(object: usize, value: u64) -> Step {
    atomic(object, AtomicOp::Store { order: ORDER, value })
}

fn update(object: usize, function: Rmw, operand: u64) -> Step {
    atomic(object, AtomicOp::Update { order: ORDER, scalar: Scalar::U8, function, operand })
}

/// Replaces `expected`, which is odd, by another value. The result is odd if that succeeds.
fn exchange(object: usize, expected: u64, new: u64) -> Step {
    let (success, failure, weak) = (ORDER, ORDER, false);
    atomic(object, AtomicOp::CompareExchange { success, failure, weak, expected, new })
}

const PAUSE: Step = Step::Alone(Action::Pause(PauseOp::Spin));
const TRY_LOCK: Step = Step::On(MUTEX, Action::Mutex(MutexOp::TryLock));
const UNLOCK: Step = Step::On(MUTEX, Action::Mutex(MutexOp::Unlock));

/// Waits until `object` is odd.
fn wait(object: usize) -> Vec<Step> {
    vec![load(object), Step::SkipIfOdd(2), PAUSE, Step::BackIfEven(3)]
}

/// A critical section of a lock that is free while `object` is 1, and adds 2 to another variable.
fn spinlock(object: usize, other: usize) -> Vec<Step> {
    let acquire = [exchange(object, 1, 2), Step::BackIfEven(1)];
    let section = [load(other), update(other, Rmw::Add, 2), store(object, 1)];
    [&acquire[..], &section].concat()
}

/// Returns a program whose main thread spawns the other scripts and then runs its own.
fn program(initial: [u64; 2], scripts: &[Vec<Step>], joins: bool) -> Program {
    let mut main: Vec<Step> = (1..scripts.len()).map(Step::Spawn).collect();
    main.extend_from_slice(&scripts[0]);
    if joins {
        main.extend((0..scripts.len() - 1).map(Step::Join));
    }
    let mut all = vec![main];
    all.extend_from_slice(&scripts[1..]);
    let variable = |value| Initial::Atomic(Scalar::U8, value);
    let objects = vec![variable(initial[0]), variable(initial[1]), Initial::Mutex];
    Program { objects, scripts: all }
}

/// Returns a random program with loops that wait.
fn random(rng: &mut Rng) -> Program {
    let threads = 2 + usize::from(rng.below(3) == 0);
    let pieces = if threads == 2 { 3 } else { 2 };
    let scripts = (0..threads).map(|thread| {
        let count = 1 + rng.below(pieces);
        (0..count).flat_map(|_| piece(rng, thread == 0)).collect()
    });
    let scripts: Vec<Vec<Step>> = scripts.collect();
    let value = |rng: &mut Rng| rng.below(3) as u64;
    program([value(rng), value(rng)], &scripts, rng.below(2) == 0)
}

fn piece(rng: &mut Rng, is_main: bool) -> Vec<Step> {
    let (x, y) = if rng.below(2) == 0 { (X, Y) } else { (Y, X) };
    let value = rng.below(3) as u64;
    match rng.below(14) {
        0 | 1 => vec![store(x, value)],
        2 => vec![update(x, Rmw::Add, 1 + value)],
        3 => vec![load(x)],
        4 => vec![load(x), Step::SkipIfOdd(1), Step::Panic],
        5 => wait(x),
        6 => vec![load(x), Step::BackIfEven(1)],
        7 => spinlock(x, y),
        8 => {
            let times = 1 + rng.below(2) as u32;
            vec![load(x), PAUSE, Step::AttemptAgainIfEven { steps: 2, times }, store(y, value)]
        }
        9 => vec![load(x), Step::SkipIfOdd(2), load(y), Step::BackIfEven(3)],
        10 => vec![TRY_LOCK, Step::BackIfEven(1), update(y, Rmw::Add, 1), UNLOCK],
        // Changes the variable in the first round only.
        11 => vec![update(x, Rmw::Swap, 2), Step::BackIfEven(1)],
        12 if is_main => vec![Step::IsFinished(0), Step::BackIfEven(1)],
        _ => vec![PAUSE],
    }
}

/// What a search found.
#[derive(Default, Debug)]
struct Found {
    ends: BTreeSet<(String, bool)>,
    panics: bool,
    /// Whether some threads wait forever in loops.
    waits: bool,
    /// Executions to their end.
    whole: u64,
    /// Runs in which a thread was cut off, and what it looked at has changed.
    cut: u64,
    abandoned: u64,
}

/// Searches a program. Returns `None` if there are too many runs, or one does not end.
fn search<S: Substrate<Program = Program>>(
    substrate: &mut S,
    program: &Program,
    mut explorer: impl Explorer,
) -> Option<Found> {
    let mut found = Found::default();
    let mut classes = BTreeSet::new();
    let mut engine = Engine::new(Sc, explorer.thread_ids(), MAX_STEPS);
    for run in 0..MAX_RUNS {
        if !explorer.next(engine.prefix_mut()) {
            return Some(found);
        }
        substrate.execute(&mut engine, explorer.choices(), program);
        let trace = engine.trace();
        if trace.ending == Ending::StepLimit {
            return None;
        }
        explorer.learn(run, trace);
        let waits = trace
            .stopped
            .iter()
            .any(|stopped| matches!(stopped.why, StopReason::IdleRound { is_current: true, .. }));
        match &trace.ending {
            Ending::Abandoned => found.abandoned += 1,
            Ending::Stopped => found.cut += 1,
            Ending::Panicked(_) => found.panics = true,
            Ending::Finished | Ending::Deadlock if waits => {
                found.waits = true;
                found.whole += 1;
            }
            Ending::Finished | Ending::Deadlock => {
                found.whole += 1;
                if classes.insert(trace.fingerprint) {
                    let is_deadlock = trace.ending == Ending::Deadlock;
                    found.ends.insert((final_state(program, trace), is_deadlock));
                }
            }
            Ending::StepLimit | Ending::TimeLimit | Ending::Diverged(_) => panic!("{trace:#?}"),
        }
    }
    None
}

/// Returns the state to which the oracle leads by the events of a run.
fn final_state(program: &Program, trace: &Trace) -> String {
    let mut world = World::new(program);
    for event in &trace.events {
        let place =
            world.place_of(path(trace, event.id.thread)).expect("the oracle has the thread");
        let value = if let Effect::Value(value) = event.effect { value } else { 0 };
        world.step(place, value);
    }
    assert!(world.options().is_empty(), "{trace:#?}");
    world.state()
}

/// Compares what a search found with the truth.
fn judge(name: &str, truth: &raddle_testkit::oracle::Fair, found: &Found) -> Result<(), String> {
    let lost: Vec<_> = truth.ends.difference(&found.ends).collect();
    let false_ends: Vec<_> = found.ends.difference(&truth.ends).collect();
    let error = |what: &str| Err(format!("{name}: {what}; {found:#?}, but {truth:#?}"));
    match () {
        () if found.panics != truth.panics => error("a panic is lost or false"),
        () if !false_ends.is_empty() => error("a false end"),
        // A check ends at the first panic, and a search promises nothing after it.
        () if truth.panics => Ok(()),
        () if !lost.is_empty() => error("loses an end"),
        () if found.waits && !truth.is_endless => error("a false wait"),
        () if truth.is_stuck && !found.waits => error("loses a wait"),
        () => Ok(()),
    }
}

#[test]
fn searches_find_what_all_fair_executions_show() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for case in 0..scaled(300) {
        let program = random(&mut Rng::new(mix(4, case)));
        let Some(truth) = fair(&program, MAX_STATES) else { continue };
        *counts.entry("programs").or_default() += 1;
        *counts.entry("endless").or_default() += u64::from(truth.is_endless);
        *counts.entry("stuck").or_default() += u64::from(truth.is_stuck);
        let classic = Bound::NONE;
        let searches: [(&str, Box<dyn Explorer>); 5] = [
            ("dfs", Box::new(Dfs::default())),
            ("dpor", Box::new(Dpor::default())),
            ("dpor-classic", Box::new(Bpor::new(classic, Reduction::Optimised))),
            ("bpor:9", Box::new(Bpor::new(Bound::preemptions(9), Reduction::Optimised))),
            ("mcr", Box::new(Mcr::new(1))),
        ];
        for (name, mut explorer) in searches {
            let Some(found) = search(&mut FramedInterpreter, &program, &mut *explorer) else {
                continue;
            };
            *counts.entry(name).or_default() += 1;
            if let Err(error) = judge(name, &truth, &found) {
                panic!("case {case}: {error}\n{program:#?}");
            }
        }
    }
    println!("{counts:?}");
    assert!(counts["stuck"] * 20 >= counts["programs"], "too few programs wait forever");
    assert!(counts["dpor"] * 2 >= counts["programs"], "too few programs were searched");
}

/// The figures of the model: whole executions, and those in which a thread was cut off.
#[test]
fn the_number_of_runs_is_that_of_the_model() {
    let readers = program([0, 0], &[vec![store(X, 1)], wait(X), wait(X), wait(X)], false);
    let acquire = vec![TRY_LOCK, Step::BackIfEven(1), load(Y), update(Y, Rmw::Add, 2), UNLOCK];
    let locks = program([0, 0], &[acquire.clone(), acquire.clone(), acquire], false);
    let (next, shared) = (3, 4);
    let serve = [load(Y), Step::BackUnlessKept(1), load(shared), update(shared, Rmw::Add, 1)];
    let ticket = [&[update(next, Rmw::Add, 1), Step::Keep], &serve[..], &[update(Y, Rmw::Add, 1)]];
    let mut tickets = program([0, 0], &vec![ticket.concat(); 3], false);
    tickets.objects.extend([Initial::Atomic(Scalar::U8, 0); 2]);
    let figures = [
        ("three readers", readers, (1, 7)),
        ("spinlock of three", locks, (6, 15)),
        ("ticket lock of three", tickets, (48, 54)),
    ];
    for (name, program, expected) in figures {
        let found = search(&mut FramedInterpreter, &program, Dpor::default()).expect("it ends");
        assert_eq!((found.whole, found.cut), expected, "{name}: {found:?}");
    }
}
