//! Small programs whose patterns can be counted by hand, and refused programs.

use raddle_analysis::MapCoverage;
use raddle_core::Scalar;
use raddle_core::{Action, AtomicOp, Choice, Choices, MutexOp, Order, RwLockOp, ThreadId, Trace};
use raddle_engine::Initial;
use raddle_explore::{Dpor, Explorer, Mcr, Pcr, Refusal, Stop};
use raddle_results::{Accesses, Coverage};
use raddle_testkit::{IdentifyingInterpreter, Program, Step, explore, run_once};

const LOAD: AtomicOp = AtomicOp::Load { order: Order::SeqCst };

fn store(value: u64) -> AtomicOp {
    AtomicOp::Store { order: Order::SeqCst, value }
}

fn on(object: usize, op: AtomicOp) -> Step {
    Step::On(object, Action::Atomic(op))
}

/// Returns a program in which main spawns one thread for each script.
fn program(variables: usize, scripts: &[&[Step]]) -> Program {
    let mut all = vec![(1..=scripts.len()).map(Step::Spawn).collect::<Vec<_>>()];
    all.extend(scripts.iter().map(|script| script.to_vec()));
    Program { objects: vec![Initial::Atomic(Scalar::U8, 0); variables], scripts: all }
}

/// Returns the run in which the threads perform steps in this order, after main has spawned them.
fn run(program: &Program, order: &[u32]) -> Trace {
    let spawns = program.scripts[0].len();
    let mut schedule = vec![Choice::Thread(ThreadId::MAIN); spawns];
    schedule.extend(order.iter().map(|&thread| Choice::Thread(ThreadId(thread))));
    run_once(&mut IdentifyingInterpreter, program, schedule, Choices::Chooser(&mut Stop::default()))
}

fn coverage(program: &Program, orders: &[&[u32]]) -> Coverage {
    let mut coverage = MapCoverage::new(Accesses::ByEvent);
    for order in orders {
        coverage.learn(&run(program, order));
    }
    coverage.report()
}

#[test]
fn patterns_on_one_variable_are_counted() {
    // Two reads of one thread, one write of another: 2·2·1 + 1² + 2²·1 + 3·2·1² + 1³.
    let program = program(1, &[&[on(0, LOAD), on(0, LOAD)], &[on(0, store(1))]]);
    let counts = |orders: &[&[u32]]| {
        let coverage = coverage(&program, orders);
        (coverage.covered, coverage.total)
    };
    assert_eq!(counts(&[&[1, 1, 2]]), (2, 16.0), "both reads before the write");
    assert_eq!(counts(&[&[2, 1, 1]]), (2, 16.0), "both reads after the write");
    assert_eq!(counts(&[&[1, 2, 1]]), (3, 16.0), "the write between the reads");
    assert_eq!(counts(&[&[1, 1, 2], &[2, 1, 1], &[1, 2, 1]]), (5, 16.0));
    assert_eq!(counts(&[&[1, 2, 1], &[1, 2, 1]]), (3, 16.0), "a repeated run covers nothing new");
}

#[test]
fn patterns_on_two_variables_are_counted() {
    let writes = [on(0, store(1)), on(1, store(1))];
    let program = program(2, &[&writes, &writes]);
    let pairs = |order: &[u32]| {
        let coverage = coverage(&program, &[order]);
        assert_eq!(coverage.variables.len(), 2);
        // On each variable 2² + 2³, on both 3·2²·2².
        assert_eq!(coverage.total, 2.0 * 12.0 + 48.0);
        coverage.covered - coverage.variables.iter().map(|variable| variable.covered).sum::<u64>()
    };
    assert_eq!(pairs(&[1, 1, 2, 2]), 0);
    assert_eq!(pairs(&[1, 2, 2, 1]), 1, "pattern 9");
    assert_eq!(pairs(&[1, 2, 1, 2]), 0, "this order is no pattern");
}

#[test]
fn a_variable_of_one_thread_is_not_shared() {
    let program = program(2, &[&[on(0, store(1))], &[on(1, store(1))]]);
    let coverage = coverage(&program, &[&[1, 2]]);
    assert_eq!((coverage.covered, coverage.total, coverage.variables.len()), (0, 0.0, 0));
}

/// Returns a program with a lost update: both threads read zero if one runs between the accesses of the other.
fn lost_update() -> Program {
    let update = [on(0, LOAD), Step::SkipIfOdd(1), on(1, store(1)), on(0, store(1))];
    program(2, &[&update, &update])
}

#[test]
fn few_runs_find_a_pattern() {
    let mut runs = 0;
    let mut pcr = Pcr::new(1);
    let mut both = None;
    explore(&mut IdentifyingInterpreter, &lost_update(), &mut pcr, 100, |trace| {
        runs += 1;
        let zeros =
            trace.events.iter().filter(|event| event.effect == raddle_core::Effect::Value(0));
        if zeros.filter(|event| event.op.is_atomic()).count() == 2 {
            both.get_or_insert(runs);
        }
    });
    assert!(both.is_some_and(|run| run <= 3), "{both:?}");
    let counts = pcr.counts();
    assert!(
        counts.is_done && counts.missed == 0 && counts.exhibited + counts.blocked == runs - 1,
        "{counts:?}"
    );
}

#[test]
fn locks_in_the_other_order_deadlock() {
    let lock = |object| Step::On(object, Action::Mutex(MutexOp::Lock));
    let unlock = |object| Step::On(object, Action::Mutex(MutexOp::Unlock));
    let mut program = program(
        0,
        &[&[lock(0), lock(1), unlock(1), unlock(0)], &[lock(1), lock(0), unlock(0), unlock(1)]],
    );
    program.objects = vec![Initial::Mutex; 2];
    program.scripts[0].extend([Step::Join(0), Step::Join(1)]);
    let (mut runs, mut found) = (0, None);
    explore(&mut IdentifyingInterpreter, &program, Pcr::new(0), 100, |trace| {
        runs += 1;
        if trace.ending == raddle_core::Ending::Deadlock {
            found.get_or_insert(runs);
        }
    });
    assert!(found.is_some_and(|run| run <= 4), "{found:?}");
}

fn refusal(program: &Program, mut explorer: impl Explorer) -> Option<Refusal> {
    explore(&mut IdentifyingInterpreter, program, &mut explorer, 1, |_| ());
    explorer.refusal()
}

#[test]
fn programs_without_shared_accesses_are_refused() {
    let alone = Program {
        objects: vec![Initial::Atomic(Scalar::U8, 0)],
        scripts: vec![vec![on(0, store(1))]],
    };
    let apart = program(2, &[&[on(0, store(1))], &[on(1, store(1))]]);
    assert_eq!(refusal(&alone, Pcr::new(0)), Some(Refusal::OneThread));
    assert_eq!(refusal(&apart, Pcr::new(0)), Some(Refusal::NothingShared));
    assert_eq!(refusal(&program(0, &[&[]]), Mcr::new(0)), Some(Refusal::NothingShared));
    assert_eq!(refusal(&lost_update(), Pcr::new(0)), None);
    for refusal in [Refusal::OneThread, Refusal::NothingShared] {
        assert!(refusal.to_string().contains("such as `random`"), "{refusal}");
    }
}

#[test]
fn programs_with_futexes_are_refused() {
    let wait = Step::FutexWait { variable: 0, part: 0, mask: 1, timed: true };
    let waits = program(1, &[&[on(0, store(1)), wait], &[on(0, store(2))]]);
    let is_refused = |refusal| matches!(refusal, Some(Refusal::Futex { .. }));
    assert!(is_refused(refusal(&waits, Pcr::new(0))));
    assert!(is_refused(refusal(&waits, Mcr::new(0))));
}

fn runs(program: &Program, explorer: &mut dyn Explorer) -> Option<u64> {
    explore(&mut IdentifyingInterpreter, program, explorer, 10_000, |_| ())
}

/// Without a writer, all orders of read sections have the same outcome.
#[test]
fn readers_of_a_lock_are_not_ordered() {
    let lock = |op| Step::On(0, Action::RwLock(op));
    let section = [lock(RwLockOp::Read), on(1, LOAD), lock(RwLockOp::UnlockRead)];
    let main: Vec<Step> = (1..5).map(Step::Spawn).chain(section).collect();
    let mut scripts = vec![main];
    scripts.resize(5, section.to_vec());
    let objects = vec![Initial::RwLock, Initial::Atomic(Scalar::U8, 0)];
    let mut program = Program { objects, scripts };
    assert_eq!(runs(&program, &mut Dpor::default()), Some(1));
    assert_eq!(runs(&program, &mut Mcr::new(0)), Some(1));
    // With a writer, readers before it and readers after it are distinguished.
    program.scripts.truncate(3);
    program.scripts[0].retain(|step| !matches!(step, Step::Spawn(3..)));
    program.scripts[2] = [RwLockOp::Write, RwLockOp::UnlockWrite].map(lock).to_vec();
    assert!(runs(&program, &mut Mcr::new(0)).is_some_and(|runs| runs >= 4));
}
