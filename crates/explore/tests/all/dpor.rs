//! Optimal reduction against depth-first search: both run the same classes, optimal reduction each once.

use std::collections::{BTreeMap, HashSet};

use raddle_core::{Action, AtomicOp, Ending, MutexOp, Order, Rmw, RwLockOp, Scalar, Trace};
use raddle_engine::{Initial, Substrate};
use raddle_explore::{Dfs, Dpor, Explorer};
use raddle_results::Search;
use raddle_testkit::{
    HalfIdentifyingInterpreter, IdentifyingInterpreter, Interpreter, Kind, Program, Shape, Step,
    explore, for_all, scaled,
};

/// Programs with more interleavings are skipped.
const LIMIT: u64 = 20_000;

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

/// Runs `program` under `explorer`. Returns the number of runs and the classes, or `None` if there are too many runs.
fn search(program: &Program, explorer: impl Explorer) -> Option<(u64, Seen)> {
    search_on(&mut IdentifyingInterpreter, program, explorer)
}

fn search_on<S>(
    substrate: &mut S,
    program: &Program,
    explorer: impl Explorer,
) -> Option<(u64, Seen)>
where
    S: Substrate<Program = Program>,
{
    let mut seen = Seen::new();
    let runs = explore(substrate, program, explorer, LIMIT, |trace| {
        seen.entry(trace.fingerprint).or_insert((0, ending(trace))).0 += 1;
    })?;
    Some((runs, seen))
}

/// Checks that a search ran each class of `all` once, and no other.
fn compare(all: &Seen, found: &Seen) -> Result<(), String> {
    let missed = all.keys().filter(|class| !found.contains_key(class)).count();
    let new = found.keys().filter(|class| !all.contains_key(class)).count();
    let again: u64 = found.values().map(|(times, _)| times - 1).sum();
    let other =
        found.iter().any(|(class, (_, ending))| all.get(class).is_some_and(|(_, e)| e != ending));
    if (missed, new, again, other) == (0, 0, 0, false) {
        return Ok(());
    }
    Err(format!(
        "of {} classes: {missed} missed, {new} do not exist, {again} repeated runs, other endings: {other}",
        all.len()
    ))
}

#[test]
fn every_class_once() {
    let (mut programs, mut several, mut classes, mut interleavings) = (0u64, 0u64, 0, 0);
    for_all(31, scaled(2000), &Shape::small(), |program, rng| {
        let Some((runs, all)) = search(program, Dfs::default()) else { return Ok(()) };
        let (_, found) = search(program, Dpor::default()).ok_or("more runs than interleavings")?;
        compare(&all, &found)?;
        let (_, found) =
            search(program, Dpor::shuffled(rng.bits())).ok_or("more runs, shuffled")?;
        compare(&all, &found).map_err(|error| format!("shuffled: {error}"))?;
        programs += 1;
        several += u64::from(all.len() > 1);
        classes += all.len();
        interleavings += runs;
        Ok(())
    });
    println!(
        "{programs} programs, {several} with several classes; {classes} classes, {interleavings} interleavings"
    );
    assert!(several * 4 >= scaled(2000), "too many programs are too large or have one class");
}

fn threads(count: usize, steps: Vec<Step>, objects: Vec<Initial>) -> Program {
    let mut scripts = vec![(1..=count).map(Step::Spawn).collect::<Vec<_>>()];
    scripts.extend(vec![steps; count]);
    Program { objects, scripts }
}

const ORDER: Order = Order::SeqCst;
const ADD: Step = Step::On(
    0,
    Action::Atomic(AtomicOp::Update {
        order: ORDER,
        scalar: Scalar::U8,
        function: Rmw::Add,
        operand: 1,
    }),
);

fn adds(count: usize, each: usize) -> Program {
    threads(count, vec![ADD; each], vec![Initial::Atomic(Scalar::U8, 0)])
}

fn sections(count: usize, each: usize) -> Program {
    let section = [MutexOp::Lock, MutexOp::Unlock].map(|op| Step::On(0, Action::Mutex(op)));
    threads(count, section.repeat(each), vec![Initial::Mutex])
}

/// Runs a search to its end. Returns the number of runs, the final progress, and the estimate after 64 runs.
fn measure(program: &Program, mut explorer: Dpor) -> (u64, Search, Option<f64>) {
    let (mut runs, mut early) = (0, None);
    let mut seen = HashSet::new();
    let mut engine = raddle_testkit::engine();
    while explorer.next(engine.prefix_mut()) {
        Interpreter.execute(&mut engine, explorer.choices(), program);
        let trace = engine.trace();
        explorer.learn(runs, trace);
        seen.insert(trace.fingerprint);
        runs += 1;
        assert!(runs < LIMIT, "the search takes too many runs");
        if runs == 64 {
            early = explorer.search().and_then(|search| search.estimate);
        }
    }
    assert_eq!(seen.len() as u64, runs);
    (runs, explorer.search().unwrap(), early)
}

#[test]
fn numbers_of_runs_are_known() {
    let runs = |program: &Program| {
        let (runs, search, _) = measure(program, Dpor::default());
        assert_eq!((search.blocked, search.estimate), (0, Some(runs as f64)));
        runs
    };
    let add_runs = |count, each| runs(&adds(count, each));
    assert_eq!((add_runs(2, 1), add_runs(2, 2), add_runs(2, 3)), (2, 6, 20));
    assert_eq!((add_runs(3, 1), add_runs(3, 2), add_runs(4, 2)), (6, 90, 2520));
    assert_eq!((runs(&sections(2, 2)), runs(&sections(3, 2))), (6, 90));
    let mut private = vec![(1..=5).map(Step::Spawn).collect::<Vec<_>>()];
    let Step::On(_, add) = ADD else { unreachable!() };
    private.extend((0..5).map(|object| vec![Step::On(object, add); 3]));
    let objects = vec![Initial::Atomic(Scalar::U8, 0); 5];
    assert_eq!(runs(&Program { objects, scripts: private }), 1);
}

/// The mean of early estimates is within a factor of ten of the exact count. Single estimates may not be.
#[test]
fn estimates_have_the_right_magnitude() {
    for program in [adds(3, 3), adds(4, 2), sections(3, 2), sections(4, 2)] {
        let (runs, ..) = measure(&program, Dpor::default());
        let early = (0..20).map(|seed| measure(&program, Dpor::shuffled(seed)).2.unwrap());
        let mean = early.sum::<f64>() / 20.0;
        let factor = mean / runs as f64;
        println!("{runs} runs, {mean:.0} estimated");
        assert!((0.1..10.0).contains(&factor), "{mean} estimated for {runs}");
    }
}

#[test]
fn counts_do_not_depend_on_the_order_of_spawning() {
    let mut programs = 0;
    for_all(34, scaled(300), &Shape { scripts: 4, ..Shape::small() }, |program, rng| {
        // Only main spawns, and does nothing else.
        let mut program = program.clone();
        for script in &mut program.scripts {
            script.retain(|step| !matches!(step, Step::Spawn(_)));
        }
        let mut order: Vec<usize> = (1..program.scripts.len()).collect();
        program.scripts[0] = order.iter().copied().map(Step::Spawn).collect();
        let Some((runs, _)) = search(&program, Dpor::default()) else { return Ok(()) };
        for last in (1..order.len()).rev() {
            order.swap(last, rng.below(last + 1));
        }
        program.scripts[0] = order.iter().copied().map(Step::Spawn).collect();
        let permuted = search(&program, Dpor::default()).map(|(runs, _)| runs);
        programs += 1;
        if permuted == Some(runs) { Ok(()) } else { Err(format!("{runs}, but {permuted:?}")) }
    });
    println!("{programs} programs");
}

#[test]
fn a_panic_is_found_if_there_is_one() {
    let kinds = vec![Kind::Atomic, Kind::Thread, Kind::Park, Kind::Mutex];
    let shape = Shape { kinds, kinds_at_once: 3, scripts: 4, pieces: 1, panics: 3 };
    let panics = |seen: &Seen| seen.values().any(|(_, ending)| *ending == "panicked");
    for_all(32, scaled(500), &shape, |program, _| {
        let Some((_, all)) = search(program, Dfs::default()) else { return Ok(()) };
        let (_, found) = search(program, Dpor::default()).ok_or("more runs than interleavings")?;
        if panics(&all) != panics(&found) {
            return Err(format!("panics: {}, but found: {}", panics(&all), panics(&found)));
        }
        if panics(&all) { Ok(()) } else { compare(&all, &found) }
    });
}

/// Readers inside sections wait for each other, nest and leave late, while others write.
#[test]
fn readers_of_a_lock_are_independent() {
    let (mut several, mut classes, mut interleavings) = (0u64, 0, 0);
    for (seed, kinds, scripts) in
        [(36, vec![Kind::Readers], 4), (37, vec![Kind::Readers, Kind::Park], 3)]
    {
        let shape = Shape { kinds, kinds_at_once: 2, scripts, pieces: 2, panics: 0 };
        for_all(seed, scaled(300), &shape, |program, rng| {
            let Some((runs, all)) = search(program, Dfs::default()) else { return Ok(()) };
            for explorer in [Dpor::default(), Dpor::shuffled(rng.bits())] {
                let (_, found) = search(program, explorer).ok_or("more runs than interleavings")?;
                compare(&all, &found)?;
            }
            several += u64::from(all.len() > 1);
            classes += all.len();
            interleavings += runs;
            Ok(())
        });
    }
    println!("{several} programs; {classes} classes, {interleavings} interleavings");
    assert!(several * 4 >= scaled(300), "too many programs are too large or have one class");
}

#[test]
fn readers_need_one_run() {
    let section = [RwLockOp::Read, RwLockOp::UnlockRead].map(|op| Step::On(0, Action::RwLock(op)));
    let runs = |program: &Program| measure(program, Dpor::default()).0;
    assert_eq!(runs(&threads(5, section.repeat(2), vec![Initial::RwLock])), 1);
    // One writer comes after some of three readers.
    let mut program = threads(3, section.to_vec(), vec![Initial::RwLock]);
    let write = [RwLockOp::Write, RwLockOp::UnlockWrite].map(|op| Step::On(0, Action::RwLock(op)));
    program.scripts[0].extend(write);
    assert_eq!(runs(&program), 8);
}

/// The writer comes before two readers that wait for each other, or after both.
#[test]
fn a_writer_comes_before_readers_that_wait_for_each_other() {
    let on_lock = |op| Step::On(0, Action::RwLock(op));
    let read = vec![on_lock(RwLockOp::Read), Step::Meet(1), on_lock(RwLockOp::UnlockRead)];
    let write = vec![on_lock(RwLockOp::Write), on_lock(RwLockOp::UnlockWrite)];
    let objects = vec![Initial::RwLock, Initial::Barrier(2)];
    let spawns = [Step::Spawn(1), Step::Spawn(2)];
    for mut scripts in [[read.clone(), read.clone(), write.clone()], [write, read.clone(), read]] {
        scripts[0].splice(..0, spawns);
        let program = Program { objects: objects.clone(), scripts: scripts.to_vec() };
        let (_, all) = search(&program, Dfs::default()).unwrap();
        for explorer in (0..10).map(Dpor::shuffled).chain([Dpor::default()]) {
            let (_, found) = search(&program, explorer).unwrap();
            compare(&all, &found).unwrap();
        }
    }
}

/// If objects have no identity across runs, some runs are abandoned. No class is missed, and none is run twice.
#[test]
fn objects_need_no_identity() {
    let shape =
        Shape { kinds: Kind::ALL.to_vec(), kinds_at_once: 3, scripts: 5, pieces: 3, panics: 0 };
    let (mut classes, mut abandoned) = (0, [0, 0]);
    for_all(35, scaled(800), &shape, |program, rng| {
        let Some((_, all)) = search(program, Dpor::default()) else { return Ok(()) };
        if all.len() as u64 > LIMIT / 2 {
            return Ok(());
        }
        let explorer = Dpor::shuffled(rng.bits());
        for (half, found) in [
            search_on(&mut Interpreter, program, explorer.clone()),
            search_on(&mut HalfIdentifyingInterpreter, program, explorer),
        ]
        .into_iter()
        .enumerate()
        {
            let (_, mut found) = found.ok_or("more runs without identities")?;
            let before = found.len();
            found.retain(|_, (_, ending)| *ending != "abandoned");
            abandoned[half] += before - found.len();
            compare(&all, &found)?;
        }
        classes += all.len();
        Ok(())
    });
    println!("{classes} classes; abandoned without identities, with half of them: {abandoned:?}");
}

/// Programs with too many interleavings for depth-first search: two orders of the search must agree.
#[test]
fn the_order_of_the_search_does_not_matter() {
    let shape =
        Shape { kinds: Kind::ALL.to_vec(), kinds_at_once: 3, scripts: 5, pieces: 3, panics: 0 };
    let (mut programs, mut classes) = (0, 0);
    for_all(33, scaled(400), &shape, |program, rng| {
        let Some((_, all)) = search(program, Dpor::default()) else { return Ok(()) };
        compare(&all, &all)?;
        let (_, found) = search(program, Dpor::shuffled(rng.bits())).ok_or("more, shuffled")?;
        compare(&all, &found)?;
        programs += 1;
        classes += all.len();
        Ok(())
    });
    println!("{programs} programs, {classes} classes");
}
