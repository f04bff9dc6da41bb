//! Searching by several at once against searching alone: the same classes, each once.

use std::collections::BTreeMap;
use std::sync::Mutex;

use raddle_core::{Action, Ending, Trace};
use raddle_engine::{Engine, Sc, Substrate};
use raddle_explore::{Dpor, Explorer, Next, ParallelDpor, Sharing};
use raddle_strategy::Rng;
use raddle_testkit::{
    IdentifyingInterpreter, Interpreter, Kind, Program, Shape, Step, explore, for_all, scaled,
};

/// Programs with more classes are passed over.
const LIMIT: u64 = 2_000;

/// What a search saw: how often each class was run, and how it ends.
type Seen = BTreeMap<u64, (u64, &'static str)>;

fn ending(trace: &Trace) -> &'static str {
    match trace.ending {
        Ending::Finished => "finished",
        Ending::Deadlock => "deadlock",
        Ending::Panicked(_) => "panicked",
        Ending::StepLimit => "too long",
        Ending::Abandoned => "given up",
        Ending::Diverged(_) => "diverged",
    }
}

fn alone<S>(mut substrate: S, program: &Program) -> Option<Seen>
where
    S: Substrate<Program = Program>,
{
    let mut seen = Seen::new();
    explore(&mut substrate, program, Dpor::default(), LIMIT, |trace| {
        seen.entry(trace.fingerprint).or_insert((0, ending(trace))).0 += 1;
    })?;
    Some(seen)
}

fn together<S>(make: fn() -> S, program: &Program, workers: usize, sharing: Sharing) -> Seen
where
    S: Substrate<Program = Program>,
{
    let search = ParallelDpor::new(20 * LIMIT, sharing);
    let seen = Mutex::new(Seen::new());
    let work = || {
        let each = |trace: &Trace| {
            let mut seen = seen.lock().unwrap();
            seen.entry(trace.fingerprint).or_insert((0, ending(trace))).0 += 1;
        };
        explore(&mut make(), program, search.worker(), u64::MAX, each);
    };
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    seen.into_inner().unwrap()
}

/// The same on one OS thread: chance says who makes the next step, to plan a run or to learn from it.
fn in_turns(program: &Program, workers: usize, sharing: Sharing, rng: &mut Rng) -> Seen {
    let search = ParallelDpor::new(20 * LIMIT, sharing);
    let mut seen = Seen::new();
    let mut workers: Vec<_> = (0..workers)
        .map(|_| {
            let worker = search.worker();
            let engine = Engine::new(Sc, worker.family(), worker.chooser(), 10_000);
            (worker, engine, Next::Later)
        })
        .collect();
    loop {
        let one = rng.below(workers.len());
        let (worker, engine, next) = &mut workers[one];
        match next {
            Next::Run => {
                IdentifyingInterpreter.execute(engine, program).unwrap();
                let (trace, plan) = engine.trace_and_plan_mut();
                worker.learn(0, trace, plan);
                seen.entry(trace.fingerprint).or_insert((0, ending(trace))).0 += 1;
                *next = Next::Later;
            }
            Next::Later => *next = worker.try_next(engine.plan_mut()),
            Next::Over => return seen,
        }
    }
}

/// How a search that runs nothing twice may differ from one that is not told which object is which.
#[derive(Copy, Clone)]
enum Repeats {
    Never,
    Sometimes,
}

fn compare(alone: &Seen, together: &Seen, repeats: Repeats) -> Result<(), String> {
    let missed = alone.keys().filter(|class| !together.contains_key(class)).count();
    let new = together.keys().filter(|class| !alone.contains_key(class)).count();
    let again: u64 = together.values().map(|(times, _)| times - 1).sum();
    let other = together
        .iter()
        .any(|(class, (_, ending))| alone.get(class).is_some_and(|(_, other)| other != ending));
    let again_is_wrong = again > 0 && matches!(repeats, Repeats::Never);
    if missed + new == 0 && !again_is_wrong && !other {
        return Ok(());
    }
    Err(format!(
        "of {} classes: {missed} missed, {new} made up, {again} runs too many, other endings: {other}",
        alone.len()
    ))
}

fn shapes() -> [Shape; 2] {
    let larger =
        Shape { kinds: Kind::ALL.to_vec(), kinds_at_once: 3, scripts: 5, pieces: 3, panics: 0 };
    [Shape::small(), larger]
}

/// The number of workers, and whether they share what they can.
const WAYS: [(usize, Sharing); 5] = [
    (1, Sharing::Always),
    (2, Sharing::Always),
    (3, Sharing::Always),
    (4, Sharing::Always),
    (2, Sharing::OnDemand),
];

#[test]
fn the_same_classes_each_once() {
    for (shape, cases) in shapes().iter().zip([1000, 150]) {
        let (mut programs, mut classes, mut most) = (0, 0, 0);
        for_all(41, scaled(cases), shape, |program, _| {
            let Some(all) = alone(IdentifyingInterpreter, program) else { return Ok(()) };
            compare(&all, &all, Repeats::Never).map_err(|error| format!("alone: {error}"))?;
            for (workers, sharing) in WAYS {
                let found = together(|| IdentifyingInterpreter, program, workers, sharing);
                compare(&all, &found, Repeats::Never)
                    .map_err(|error| format!("{workers} workers, {sharing:?}: {error}"))?;
            }
            programs += 1;
            classes += all.len();
            most = most.max(all.len());
            Ok(())
        });
        println!("{programs} programs, {classes} classes, up to {most} each");
    }
}

#[test]
fn the_same_in_any_order() {
    for (shape, cases) in shapes().iter().zip([1000, 150]) {
        for_all(42, scaled(cases), shape, |program, rng| {
            let Some(all) = alone(IdentifyingInterpreter, program) else { return Ok(()) };
            for workers in [2, 3, 4] {
                let found = in_turns(program, workers, Sharing::Always, rng);
                compare(&all, &found, Repeats::Never)
                    .map_err(|error| format!("{workers} workers: {error}"))?;
            }
            Ok(())
        });
    }
}
