//! Samplers against searches: every sampler finds exactly the classes that a search finds.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use raddle_core::{
    Action, AtomicOp, Choices, Ending, MutexOp, Order, PauseOp, Scalar, Schedule, Trace,
};
use raddle_engine::{Initial, Substrate};
use raddle_explore::{
    BoundedDfs, Budget, Dpor, Explorer, Limit, Refusal, Repeat, Session, Settings,
};
use raddle_results::{Finding, PhaseEnd, Report};
use raddle_strategy::{Delay, Pct, Portfolio, Pos, Random, Rapos, RoundRobin, Sampler, Surw, Urw};
use raddle_testkit::{
    IdentifyingInterpreter, Program, Shape, Step, engine, explore, for_all, run_once, scaled,
};

/// Programs with more classes are skipped.
const CLASSES: usize = 24;

/// The number of runs after which a sampler must have found every class.
const RUNS: u64 = 100_000;

fn all_classes(program: &Program) -> Option<HashSet<u64>> {
    let mut classes = HashSet::new();
    let search = Dpor::default();
    explore(&mut IdentifyingInterpreter, program, search, CLASSES as u64, |trace| {
        classes.insert(trace.fingerprint);
    })?;
    Some(classes)
}

/// Runs `sampler` up to `runs` times, until `each` returns false for a trace.
fn sample<S: Sampler>(
    program: &Program,
    sampler: S,
    runs: u64,
    mut each: impl FnMut(&Trace) -> bool,
) {
    let mut repeat = Repeat::new(sampler, 3);
    let mut engine = engine();
    for run in 0..runs {
        assert!(repeat.next(engine.prefix_mut()));
        IdentifyingInterpreter.execute(&mut engine, repeat.choices(), program);
        let trace = engine.trace();
        repeat.learn(run, trace);
        if !each(trace) {
            return;
        }
    }
}

fn finds_every_class<S: Sampler>(
    what: &str,
    program: &Program,
    classes: &HashSet<u64>,
    sampler: S,
) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut wrong = None;
    sample(program, sampler, RUNS, |trace| {
        if !classes.contains(&trace.fingerprint) {
            wrong = Some(format!("{what} ran a class that does not exist, {:?}", trace.ending));
        } else if seen.insert(trace.fingerprint) {
            let choices = Choices::Chooser(&mut RoundRobin);
            let again = run_once(&mut IdentifyingInterpreter, program, trace.schedule(), choices);
            if again.first_difference(trace).is_some() || again.ending != trace.ending {
                wrong = Some(format!("{what}: replay of a run gave {:?}", again.ending));
            }
        }
        wrong.is_none() && seen.len() < classes.len()
    });
    match wrong {
        Some(wrong) => Err(wrong),
        None if seen.len() < classes.len() => {
            Err(format!("{what} found {} of {} classes", seen.len(), classes.len()))
        }
        None => Ok(()),
    }
}

#[test]
fn every_sampler_finds_every_class() {
    let (mut programs, mut several) = (0u64, 0u64);
    for_all(41, scaled(300), &Shape::small(), |program, _| {
        let Some(classes) = all_classes(program) else { return Ok(()) };
        programs += 1;
        several += u64::from(classes.len() > 1);
        finds_every_class("random", program, &classes, Random::default())?;
        finds_every_class("basic-pos", program, &classes, Pos::basic())?;
        finds_every_class("pos", program, &classes, Pos::plain())?;
        finds_every_class("pos-star", program, &classes, Pos::default())?;
        finds_every_class("rapos", program, &classes, Rapos::default())?;
        finds_every_class("urw", program, &classes, Urw::default())?;
        finds_every_class("surw", program, &classes, Surw::default())?;
        // The probability falls with the depth, and classes of many events are deep.
        if classes.len() <= 8 {
            finds_every_class("pct:5", program, &classes, Pct::new(5))?;
            finds_every_class("pct", program, &classes, Pct::drawn())?;
            let members = [Box::new(Pct::new(1)) as Box<dyn Sampler>, Box::new(Pos::default())];
            finds_every_class("portfolio", program, &classes, Portfolio::new(members.into()))?;
        }
        Ok(())
    });
    println!("{programs} programs, {several} with more than one class");
    assert!(cfg!(miri) || several > programs / 3);
}

/// Random delays reach exactly the schedules of the delay-bounded search.
#[test]
fn delay_sampling_agrees_with_delay_bounded_search() {
    let mut compared = 0u64;
    for_all(43, scaled(200), &Shape::small(), |program, _| {
        for delays in 0..=2 {
            let mut all: BTreeSet<Vec<u32>> = BTreeSet::new();
            let search = BoundedDfs::new(Limit::Delays(delays));
            let done = explore(&mut IdentifyingInterpreter, program, search, 60, |trace| {
                all.insert(threads(&trace.schedule()));
            });
            if done.is_none() {
                return Ok(());
            }
            let mut seen = BTreeSet::new();
            sample(program, Delay::new(delays), RUNS, |trace| {
                assert!(trace.ending != Ending::Abandoned);
                seen.insert(threads(&trace.schedule()));
                seen.len() < all.len()
            });
            if seen != all {
                let new = seen.difference(&all).count();
                return Err(format!(
                    "{delays} delays: {} of {} schedules, {new} of them not allowed",
                    seen.len(),
                    all.len()
                ));
            }
            compared += 1;
        }
        Ok(())
    });
    assert!(cfg!(miri) || compared > 100, "{compared}");
}

/// Returns the choices of a schedule as numbers.
fn threads(schedule: &Schedule) -> Vec<u32> {
    schedule
        .iter()
        .map(|choice| match choice {
            raddle_core::Choice::Thread(thread) => thread.0,
            raddle_core::Choice::Value(value) => *value,
            raddle_core::Choice::Source(store) | raddle_core::Choice::Place(store) => store.index,
        })
        .collect()
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

fn check(program: &Program, strategy: &str, runs: u64) -> Report {
    try_check(program, strategy, runs, false).expect("sampling refuses nothing")
}

fn try_check(
    program: &Program,
    strategy: &str,
    runs: u64,
    keep_going: bool,
) -> Result<Report, Refusal> {
    let settings = Settings {
        seed: 9,
        runs,
        max_steps: 10_000,
        keep_going,
        ..Settings::new("a program", strategy.parse().expect("a strategy"))
    };
    let mut interpreter = IdentifyingInterpreter;
    let session = Session::new(&mut interpreter, program, &settings, &NoTime);
    session.run()
}

fn load() -> Step {
    Step::On(0, Action::Atomic(AtomicOp::Load { order: Order::SeqCst }))
}

fn store(value: u64) -> Step {
    Step::On(0, Action::Atomic(AtomicOp::Store { order: Order::SeqCst, value }))
}

/// Returns a program in which main spawns two threads with these scripts.
fn two_threads(one: Vec<Step>, other: Vec<Step>) -> Program {
    let objects = vec![Initial::Atomic(Scalar::U8, 0)];
    let main = vec![Step::Spawn(1), Step::Spawn(2), Step::Join(0), Step::Join(1)];
    Program { objects, scripts: vec![main, one, other] }
}

#[test]
fn a_portfolio_reports_each_member() {
    let clean = two_threads(vec![store(1), load()], vec![store(2), load()]);
    let report = check(&clean, "portfolio:pos-star+pct:2+surw", 100);
    let parts: Vec<_> =
        report.phases.iter().map(|phase| (phase.strategy.as_str(), phase.executions)).collect();
    assert_eq!(parts, [("pos-star", 34), ("pct:2", 33), ("surw", 33)]);
    assert_eq!((report.executions, report.classes, report.classes_exact), (100, 4, true));
    assert_eq!((report.guarantees.len(), report.unseen), (1, None));

    // The second thread panics if it reads before the first has written.
    let failing = two_threads(vec![store(1)], vec![load(), Step::SkipIfOdd(1), Step::Panic]);
    let report = check(&failing, "portfolio:pct:1+random", 1000);
    let failure = report.failure().expect("half of all executions fail");
    assert!(failure.reproduced);
    let found: Vec<_> =
        report.phases.iter().filter(|phase| phase.end == PhaseEnd::Failed).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(report.phases.iter().map(|phase| phase.executions).sum::<u64>(), report.executions);
}

/// The escape probability follows from the other numbers of the guarantee.
#[test]
fn guarantees_count_qualifying_runs_only() {
    let program = two_threads(vec![store(1), load()], vec![store(2), load()]);
    let report = check(&program, "pct:2", 1000);
    let [guarantee] = &report.guarantees[..] else { panic!("{:?}", report.guarantees) };
    assert_eq!((guarantee.depth, guarantee.threads), (2, 3));
    // The first run does not qualify, nor do runs with more steps than all runs before.
    assert!((900..1000).contains(&guarantee.runs), "{}", guarantee.runs);
    let hit = 1.0 / (3.0 * guarantee.steps as f64);
    let escape = (1.0 - hit).powi(guarantee.runs as i32);
    assert!((guarantee.escape - escape).abs() < 1e-9, "{guarantee:?}");
    let drawn = check(&program, "pct", 1000);
    let runs: Vec<u64> = drawn.guarantees.iter().map(|guarantee| guarantee.runs).collect();
    assert_eq!(runs.len(), 5);
    assert!(runs.windows(2).all(|pair| pair[0] > pair[1]), "{runs:?}");
    assert!(check(&program, "random", 10).guarantees.is_empty());
}

/// A thread that spins until one of lower priority acts does not spin forever. Such a run does not qualify.
#[test]
fn pct_ends_spin_loops() {
    let waiting =
        vec![load(), Step::Alone(Action::Pause(PauseOp::Yield)), load(), Step::BackIfEven(3)];
    let program = two_threads(waiting, vec![store(1)]);
    let report = check(&program, "pct:2", 400);
    assert!(report.failure().is_none(), "{:?}", report.failure().map(|failure| &failure.finding));
    let qualifying = report.guarantees.first().map_or(0, |guarantee| guarantee.runs);
    assert!(qualifying < 380, "{qualifying}");
    // A spin loop without a yield.
    let program = two_threads(vec![load(), Step::BackIfEven(1)], vec![store(1)]);
    assert!(check(&program, "pct:2", 100).failure().is_none());
}

#[test]
fn unseen_mass_is_reported_for_independent_runs() {
    let many = two_threads(vec![store(1); 6], vec![store(2); 6]);
    for strategy in ["random", "pos", "pos-star", "basic-pos", "rapos", "portfolio:random+pos"] {
        let few = check(&many, strategy, 50).unseen.expect("the runs are independent");
        let more = check(&many, strategy, 20_000).unseen.expect("the runs are independent");
        assert!(few > 0.3 && more < 0.02, "{strategy}: {few}, {more}");
    }
    for strategy in ["pct:2", "urw", "surw", "delay:2", "dpor", "auto", "portfolio:random+urw"] {
        assert_eq!(check(&many, strategy, 50).unseen, None, "{strategy}");
    }
}

/// Returns a program that panics in some executions and deadlocks in others.
fn failing_twice() -> Program {
    let lock = |object| Step::On(object, Action::Mutex(MutexOp::Lock));
    let unlock = |object| Step::On(object, Action::Mutex(MutexOp::Unlock));
    let objects = vec![Initial::Atomic(Scalar::U8, 0), Initial::Mutex, Initial::Mutex];
    let main = vec![Step::Spawn(1), Step::Spawn(2), Step::Join(0), Step::Join(1)];
    let one = vec![lock(1), lock(2), store(1), unlock(2), unlock(1)];
    let other =
        vec![lock(2), lock(1), load(), Step::SkipIfOdd(1), Step::Panic, unlock(1), unlock(2)];
    Program { objects, scripts: vec![main, one, other] }
}

/// The causes counted after the first failure are those that a search finds.
#[test]
fn failures_are_counted_by_cause() {
    let program = failing_twice();
    let (mut panics, mut deadlocks, mut clean) = (0, 0, 0);
    explore(&mut IdentifyingInterpreter, &program, Dpor::default(), 100, |trace| {
        match trace.ending {
            Ending::Panicked(_) => panics += 1,
            Ending::Deadlock => deadlocks += 1,
            Ending::Finished => clean += 1,
            Ending::Stopped
            | Ending::StepLimit
            | Ending::TimeLimit
            | Ending::Abandoned
            | Ending::Diverged(_) => {}
        }
    });
    assert!(panics > 0 && deadlocks > 0 && clean > 0, "{panics} {deadlocks} {clean}");
    for strategy in ["random", "pos-star", "pct:2", "auto"] {
        let report = try_check(&program, strategy, 2000, true).unwrap();
        let first = report.failure().expect("some executions fail");
        let failures = report.failures.as_ref().expect("this was asked for");
        assert_eq!((report.executions, failures.runs, failures.others), (2000, 2000, 0));
        let kinds: Vec<(&str, u64)> = failures
            .causes
            .iter()
            .map(|cause| match &cause.failure.finding {
                Finding::Panic(_) => ("panic", cause.runs),
                Finding::Deadlock(_) => ("deadlock", cause.runs),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(kinds.len(), 2, "{strategy}: {kinds:?}");
        assert_ne!(kinds[0].0, kinds[1].0);
        assert_eq!(kinds.iter().map(|kind| kind.1).sum::<u64>(), failures.failing);
        assert!(failures.failing < 2000, "{strategy}");
        let share = failures.failing as f64 / 2000.0;
        assert!(failures.interval.0 < share && share < failures.interval.1);
        // The first failure is the first of the first cause, and every cause is reproduced.
        assert_eq!(first.execution, failures.causes[0].failure.execution);
        assert_eq!(first.token, failures.causes[0].failure.token);
        assert!(failures.causes.iter().all(|cause| cause.failure.reproduced));
        let short = check(&program, strategy, 2000);
        if strategy != "auto" {
            // Continuing does not change the first failure.
            assert_eq!(short.failure().unwrap().execution, first.execution);
        }
        assert!(short.failures.is_none());
    }
    let clean = two_threads(vec![store(1)], vec![store(2)]);
    let report = try_check(&clean, "random", 100, true).unwrap();
    assert!(report.failure().is_none());
    assert_eq!(report.failures.map(|failures| (failures.failing, failures.runs)), Some((0, 100)));
}

#[test]
fn a_portfolio_reports_failures_of_each_member() {
    let program = failing_twice();
    let report = try_check(&program, "portfolio:random+pos+pct:1", 3000, true).unwrap();
    let failures = report.failures.as_ref().unwrap();
    let by_part: Vec<u64> = report.phases.iter().map(|phase| phase.failing).collect();
    assert_eq!(by_part.iter().sum::<u64>(), failures.failing);
    // Each strategy by itself makes the same runs up to seeds, so about as many fail.
    for (word, failing) in ["random", "pos", "pct:1"].iter().zip(by_part) {
        let alone = try_check(&program, word, 1000, true).unwrap().failures.unwrap().failing;
        assert!(alone.abs_diff(failing) < 120, "{word}: {alone} alone, {failing} with others");
    }
    let found = report.phases.iter().filter(|phase| phase.end == PhaseEnd::Failed).count();
    assert_eq!(found, 1);
}

#[test]
fn searches_end_at_the_first_failure() {
    let program = failing_twice();
    for strategy in ["dpor", "dfs", "bpor:2", "bpor:0-2", "dpor-classic", "round-robin"] {
        let refusal = try_check(&program, strategy, 100, true).unwrap_err();
        let text = refusal.to_string();
        assert!(text.contains(strategy) && text.contains("`pos-star`"), "{text}");
    }
}
