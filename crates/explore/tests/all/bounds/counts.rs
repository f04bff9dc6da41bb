//! Exact numbers of runs on small programs, iterative deepening, and runs that exceed the step limit.

use raddle_core::{Action, AtomicOp, Ending, MutexOp, Order, PauseOp, Rmw, Scalar};
use raddle_engine::{Engine, Initial, Sc, Substrate, ThreadIds};
use raddle_explore::{Bound, BoundedDfs, Bpor, Deepening, Explorer, Limit, Reduction};
use raddle_testkit::{Interpreter, Program, Shape, Step, explore, for_all, scaled};

use super::bpor::{cheapest, reached};
use super::brute::within;

/// Returns a program of `threads` threads, each with `times` repetitions of `steps`.
fn same(threads: usize, times: usize, object: Initial, steps: &[Step]) -> Program {
    let mut scripts = vec![(1..=threads).map(Step::Spawn).collect::<Vec<_>>()];
    scripts.extend(vec![steps.repeat(times); threads]);
    Program { objects: vec![object], scripts }
}

fn adds(threads: usize, times: usize) -> Program {
    let (order, scalar, function) = (Order::SeqCst, Scalar::U8, Rmw::Add);
    let add = AtomicOp::Update { order, scalar, function, operand: 1 };
    let step = Step::On(0, Action::Atomic(add));
    same(threads, times, Initial::Atomic(scalar, 0), &[step])
}

fn locks(threads: usize, times: usize) -> Program {
    let on = |op| Step::On(0, Action::Mutex(op));
    same(threads, times, Initial::Mutex, &[on(MutexOp::Lock), on(MutexOp::Unlock)])
}

fn runs(program: &Program, explorer: impl Explorer) -> u64 {
    explore(&mut Interpreter, program, explorer, u64::MAX, |_| {}).expect("there is no limit")
}

/// Returns the runs of bounded search, the runs of reduced search and the classes, for each bound from zero. Also
/// returns the runs and classes of reduced search without a bound.
fn table(program: &Program, bounds: u32) -> (Vec<[u64; 3]>, [u64; 2]) {
    let row = |bound: u32| {
        let bounded = runs(program, BoundedDfs::new(Limit::Preemptions(bound)));
        let mut reduced = Bpor::new(Bound::preemptions(bound), Reduction::Optimised);
        let classes = reached(program, &mut reduced).len();
        [bounded, reduced.counts().runs, classes as u64]
    };
    let mut classic = Bpor::new(Bound::NONE, Reduction::Optimised);
    let classes = reached(program, &mut classic).len();
    ((0..bounds).map(row).collect(), [classic.counts().runs, classes as u64])
}

#[test]
fn numbers_of_runs_are_known() {
    let two = [[2, 2, 2], [11, 4, 4], [44, 6, 6], [107, 6, 6]];
    assert_eq!(table(&adds(2, 2), 4), (two.to_vec(), [6, 6]));
    let three = [[6, 6, 6], [68, 24, 24], [481, 60, 60], [2278, 90, 90]];
    assert_eq!(table(&adds(3, 2), 4), (three.to_vec(), [90, 90]));
    let locked = [[6, 6, 6], [68, 24, 24], [569, 60, 60], [3138, 90, 90]];
    assert_eq!(table(&locks(3, 2), 4), (locked.to_vec(), [90, 90]));
}

#[test]
fn deepening_stops_when_nothing_is_pruned() {
    let mut deepening = Deepening::new(Bound::preemptions(10), Reduction::Optimised);
    let made = runs(&adds(3, 2), &mut deepening);
    let completed: Vec<_> = deepening
        .completed()
        .iter()
        .map(|completed| {
            let counts = completed.counts;
            (completed.bound.preemptions, counts.runs, counts.pruned)
        })
        .collect();
    let expected =
        [(Some(0), 6, true), (Some(1), 24, true), (Some(2), 60, true), (Some(3), 90, false)];
    assert_eq!(completed, expected);
    assert!(deepening.is_exhaustive());
    assert_eq!(made, completed.iter().map(|completed| completed.1).sum::<u64>());

    let mut shallow = Deepening::new(Bound::preemptions(1), Reduction::Optimised);
    assert_eq!(runs(&adds(3, 2), &mut shallow), 30);
    assert!(!shallow.is_exhaustive() && shallow.completed().len() == 2);
}

#[test]
fn deepening_reaches_every_class() {
    for_all(61, scaled(60), &Shape::small(), |program, _| {
        let Some(classes) = cheapest(program) else { return Ok(()) };
        let mut deepening = Deepening::new(Bound::NONE, Reduction::Optimised);
        let found = reached(program, &mut deepening);
        let complete = found.len() == classes.len() && deepening.is_exhaustive();
        if complete { Ok(()) } else { Err(format!("{:?}", deepening.completed())) }
    });
}

/// A thread spins until main has set a flag, without a fair bound.
#[test]
fn runs_that_exceed_the_step_limit_do_not_end_the_search() {
    let order = Order::SeqCst;
    let on = |op| Step::On(0, Action::Atomic(op));
    let pause = Step::Alone(Action::Pause(PauseOp::Spin));
    let load = on(AtomicOp::Load { order });
    let spin = vec![load, Step::SkipIfOdd(2), pause, Step::BackIfEven(3)];
    let set = on(AtomicOp::Store { order, value: 1 });
    let program = Program {
        objects: vec![Initial::Atomic(Scalar::U8, 0)],
        scripts: vec![vec![Step::Spawn(1), pause, set], spin],
    };
    let (mut finished, mut too_long) = (0, 0);
    let mut search = Bpor::new(Bound::preemptions(1), Reduction::Optimised);
    let mut engine = Engine::new(Sc, ThreadIds::default(), 30);
    for run in 0..500 {
        if !search.next(engine.prefix_mut()) {
            break;
        }
        Interpreter.execute(&mut engine, search.choices(), &program);
        let trace = engine.trace();
        match trace.ending {
            Ending::Finished => finished += 1,
            Ending::StepLimit => too_long += 1,
            _ => panic!("{trace:#?}"),
        }
        search.learn(run, trace);
    }
    assert!(finished > 10 && too_long > 0, "{finished} finished, {too_long} exceeded the limit");
    let (classes, _) = within(&program, Bound::fair(1), 1000).expect("there are few executions");
    let fair = reached(&program, Bpor::new(Bound::fair(1), Reduction::Optimised));
    assert_eq!((fair.len(), classes.len()), (4, 4));
}
