//! Parallel search against sequential search: both run the same classes, each once.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use raddle_core::{Action, AtomicOp, Choices, Ending, Order, Question, Rmw, Scalar, Trace};
use raddle_engine::{Engine, Initial, Memory, Sc, Substrate};
use raddle_explore::{
    Budget, Dpor, Explorer, Next, ParallelDpor, Session, Settings, Sharing, Workers,
};
use raddle_results::{Report, Verdict};
use raddle_strategy::Rng;
use raddle_testkit::{
    IdentifyingInterpreter, Interpreter, Kind, Program, Shape, Step, explore, for_all, scaled,
};

/// Programs with more classes are skipped.
const LIMIT: u64 = 2_000;

/// The classes that a search ran, each with the number of its runs and its ending.
type Seen = BTreeMap<u64, (u64, &'static str)>;

fn ending(trace: &Trace) -> &'static str {
    match trace.ending {
        Ending::Finished => "finished",
        Ending::Deadlock => "deadlock",
        Ending::Panicked(_) => "panicked",
        Ending::Stopped => "stopped",
        Ending::StepLimit => "step limit",
        Ending::TimeLimit => "time limit",
        Ending::Abandoned => "abandoned",
        Ending::Diverged(_) => "diverged",
    }
}

fn sequential<S>(mut substrate: S, program: &Program) -> Option<Seen>
where
    S: Substrate<Program = Program>,
{
    let mut seen = Seen::new();
    explore(&mut substrate, program, Dpor::default(), LIMIT, |trace| {
        seen.entry(trace.fingerprint).or_insert((0, ending(trace))).0 += 1;
    })?;
    Some(seen)
}

fn parallel<S>(make: fn() -> S, program: &Program, workers: usize, sharing: Sharing) -> Seen
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

/// Runs a parallel search on one OS thread. A random worker makes the next step, which plans a run or learns from it.
fn interleaved<S>(
    make: fn() -> S,
    program: &Program,
    workers: usize,
    sharing: Sharing,
    rng: &mut Rng,
) -> Seen
where
    S: Substrate<Program = Program>,
{
    let search = ParallelDpor::new(20 * LIMIT, sharing);
    let mut seen = Seen::new();
    let mut workers: Vec<_> = (0..workers)
        .map(|_| {
            let worker = search.worker();
            let engine = Engine::new(Sc, worker.thread_ids(), 10_000);
            (worker, engine, Next::Later)
        })
        .collect();
    loop {
        let one = rng.below(workers.len());
        let (worker, engine, next) = &mut workers[one];
        match next {
            Next::Run => {
                make().execute(engine, worker.choices(), program);
                let trace = engine.trace();
                worker.learn(0, trace);
                seen.entry(trace.fingerprint).or_insert((0, ending(trace))).0 += 1;
                *next = Next::Later;
            }
            Next::Later => *next = worker.try_next(engine.prefix_mut()),
            Next::Over => return seen,
        }
    }
}

/// Checks that a search ran each class of `expected` once, and no other.
fn compare(expected: &Seen, found: &Seen) -> Result<(), String> {
    let missed = expected.keys().filter(|class| !found.contains_key(class)).count();
    let new = found.keys().filter(|class| !expected.contains_key(class)).count();
    let again: u64 = found.values().map(|(times, _)| times - 1).sum();
    let other = found
        .iter()
        .any(|(class, (_, ending))| expected.get(class).is_some_and(|(_, other)| other != ending));
    if (missed, new, again, other) == (0, 0, 0, false) {
        return Ok(());
    }
    Err(format!(
        "of {} classes: {missed} missed, {new} do not exist, {again} repeated runs, other endings: {other}",
        expected.len()
    ))
}

fn shapes() -> [Shape; 2] {
    let larger =
        Shape { kinds: Kind::ALL.to_vec(), kinds_at_once: 3, scripts: 5, pieces: 3, panics: 0 };
    [Shape::small(), larger]
}

/// Numbers of workers, and when they share work.
const CONFIGURATIONS: [(usize, Sharing); 6] = [
    (1, Sharing::Always),
    (2, Sharing::Always),
    (3, Sharing::Every(3)),
    (4, Sharing::Always),
    (2, Sharing::OnDemand),
    (3, Sharing::OnDemand),
];

#[test]
fn parallel_search_runs_every_class_once() {
    for (shape, cases) in shapes().iter().zip([1000, 150]) {
        let (mut programs, mut classes, mut most) = (0, 0, 0);
        for_all(41, scaled(cases), shape, |program, _| {
            let Some(all) = sequential(IdentifyingInterpreter, program) else { return Ok(()) };
            compare(&all, &all).map_err(|error| format!("sequential: {error}"))?;
            for (workers, sharing) in CONFIGURATIONS {
                let found = parallel(|| IdentifyingInterpreter, program, workers, sharing);
                compare(&all, &found)
                    .map_err(|error| format!("{workers} workers, {sharing:?}: {error}"))?;
            }
            programs += 1;
            classes += all.len();
            most = most.max(all.len());
            Ok(())
        });
        println!("{programs} programs, {classes} classes, up to {most} each");
        assert!(
            classes as u64 > 3 * scaled(cases),
            "too many programs are too large or have one class"
        );
    }
}

/// If objects have no identity across runs, some runs are abandoned. No class is missed, and none is run twice.
#[test]
fn parallel_search_needs_no_identities_of_objects() {
    for (shape, cases) in shapes().iter().zip([500, 100]) {
        for_all(43, scaled(cases), shape, |program, _| {
            let Some(mut all) = sequential(Interpreter, program) else { return Ok(()) };
            all.retain(|_, (_, ending)| *ending != "abandoned");
            for (workers, sharing) in CONFIGURATIONS {
                let mut found = parallel(|| Interpreter, program, workers, sharing);
                found.retain(|_, (_, ending)| *ending != "abandoned");
                compare(&all, &found)
                    .map_err(|error| format!("{workers} workers, {sharing:?}: {error}"))?;
            }
            Ok(())
        });
    }
}

/// Random interleavings of the workers' steps. Unlike with OS threads, a failure is reproducible.
#[test]
fn the_interleaving_of_workers_does_not_matter() {
    for (shape, cases) in shapes().iter().zip([1000, 150]) {
        for_all(42, scaled(cases), shape, |program, rng| {
            let Some(all) = sequential(IdentifyingInterpreter, program) else { return Ok(()) };
            for workers in [2, 3, 4] {
                for sharing in [Sharing::Always, Sharing::Every(1), Sharing::Every(5)] {
                    let say = |error| format!("{workers} workers, {sharing:?}: {error}");
                    let found =
                        interleaved(|| IdentifyingInterpreter, program, workers, sharing, rng);
                    compare(&all, &found).map_err(say)?;
                    let mut found = interleaved(|| Interpreter, program, workers, sharing, rng);
                    found.retain(|_, (_, ending)| *ending != "abandoned");
                    compare(&all, &found).map_err(say)?;
                }
            }
            Ok(())
        });
    }
}

/// Two threads spawn one each, in an order that differs between runs. The threads choose numbers and add.
#[test]
fn thread_ids_are_the_same_for_all_workers() {
    let order = Order::SeqCst;
    let add = AtomicOp::Update { order, scalar: Scalar::U8, function: Rmw::Add, operand: 1 };
    let add = Step::On(0, Action::Atomic(add));
    let choose = Step::Alone(Action::Choose { bound: 2, question: Question::Number });
    let program = Program {
        objects: vec![Initial::Atomic(Scalar::U8, 0)],
        scripts: vec![
            vec![Step::Spawn(1), Step::Spawn(2)],
            vec![add, Step::Spawn(3), add],
            vec![add, Step::Spawn(4), choose, add],
            vec![choose, add],
            vec![add],
        ],
    };
    let all = sequential(IdentifyingInterpreter, &program).unwrap();
    // Interleavings of a then {b, c} with d then {e, f}: 6! / (3 · 3). Two choices make four times as many.
    assert_eq!(all.len(), 4 * 80);
    for (workers, sharing) in CONFIGURATIONS {
        for _ in 0..scaled(20) {
            let found = parallel(|| IdentifyingInterpreter, &program, workers, sharing);
            compare(&all, &found).unwrap();
        }
    }
}

/// A budget without a time limit.
struct NoTime;

impl Budget for NoTime {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn limit(&self) -> Option<Duration> {
        None
    }
}

/// Runs a check. Returns its report and the number of runs of the search, without runs that confirm a failure.
fn check(program: &Program, count: usize, sharing: Sharing, runs: u64) -> (Report, u64) {
    let settings = Settings {
        runs,
        max_steps: 1000,
        races: false,
        plain_points: true,
        workers: Workers { count: NonZeroUsize::new(count).unwrap(), sharing },
        ..Settings::new("a program", "dpor".parse().unwrap())
    };
    let made = AtomicU64::new(0);
    let make = || Counting(&made);
    let mut substrate = make();
    let session = Session::new(&mut substrate, program, &settings, &NoTime);
    let report = session.run_with(&make).expect("the strategy accepts the program");
    (report, made.into_inner())
}

/// Counts the runs of a search.
struct Counting<'a>(&'a AtomicU64);

impl Substrate for Counting<'_> {
    type Program = Program;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Program,
    ) {
        let prescribed = engine.prefix_mut().len();
        IdentifyingInterpreter.execute(engine, choices, program);
        // A run that confirms another follows a complete schedule. A run of the search makes choices of its own.
        if prescribed < engine.trace().schedule().len() {
            self.0.fetch_add(1, Relaxed);
        }
    }
}

/// Returns the program with panics in some scripts, if a variable is even.
fn with_panics(program: &Program, rng: &mut Rng) -> Program {
    let mut program = program.clone();
    let is_atomic = |initial: &Initial| matches!(initial, Initial::Atomic(Scalar::U8, _));
    let Some(atomic) = program.objects.iter().position(is_atomic) else { return program };
    program.objects[atomic] = Initial::Atomic(Scalar::U8, 1);
    for script in &mut program.scripts[1..] {
        if rng.below(2) == 0 {
            let load = Action::Atomic(AtomicOp::Load { order: Order::SeqCst });
            script.extend([Step::On(atomic, load), Step::SkipIfOdd(1), Step::Panic]);
        }
    }
    program
}

#[test]
fn parallel_search_reports_the_same_failure() {
    let kinds = Kind::ALL.to_vec();
    let shape = Shape { kinds, kinds_at_once: 4, scripts: 5, pieces: 2, panics: 0 };
    let (mut failed, mut late) = (0, 0);
    for_all(44, scaled(600), &shape, |program, rng| {
        let program = &with_panics(program, rng);
        let (one, _) = check(program, 1, Sharing::OnDemand, 10_000);
        for (workers, sharing) in CONFIGURATIONS {
            let (several, _) = check(program, workers, sharing, 20_000);
            let (one, several) = match (one.failure(), several.failure()) {
                (Some(one), Some(several)) => (one, several),
                (None, None) if one.classes == several.classes => continue,
                (one, several) => return Err(format!("{workers}: {one:#?}, {several:#?}")),
            };
            let is_same = one.finding == several.finding
                && one.token == several.token
                && one.execution == several.execution
                && several.reproduced;
            if !is_same {
                return Err(format!("{workers}, {sharing:?}: {one:#?}, {several:#?}"));
            }
            failed += 1;
            late += u64::from(one.execution > 1);
        }
        Ok(())
    });
    println!("{failed} failures, {late} of them not in the first run");
    assert!(late > scaled(600) / 20, "too few programs fail after the first run");
}

#[test]
fn runs_are_counted_over_all_workers() {
    let order = Order::SeqCst;
    let add = AtomicOp::Update { order, scalar: Scalar::U8, function: Rmw::Add, operand: 1 };
    let mut scripts = vec![(1..=4).map(Step::Spawn).collect::<Vec<_>>()];
    scripts.extend(vec![vec![Step::On(0, Action::Atomic(add)); 2]; 4]);
    let program = Program { objects: vec![Initial::Atomic(Scalar::U8, 0)], scripts };
    for (workers, sharing) in CONFIGURATIONS {
        for (limit, runs) in [(1, 1), (7, 7), (1000, 1000), (10_000, 2520)] {
            let (report, made) = check(&program, workers, sharing, limit);
            // Runs in equivalent orders are counted apart.
            let made = made - report.equivalents;
            assert_eq!((report.executions, report.classes, made), (runs, runs, runs));
            let is_all = matches!(report.verdict, Verdict::Exhausted);
            assert_eq!(is_all, runs == 2520, "{:?}", report.verdict);
            let search = report.search.unwrap();
            let estimate = search.estimate.unwrap();
            assert!(search.blocked == 0 && estimate >= runs as f64 * 0.999, "{search:?}");
        }
    }
}
