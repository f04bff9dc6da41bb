//! Optimal reduction against depth-first search: the same classes, each once.

use std::collections::BTreeMap;

use raddle_core::{Action, AtomicOp, Ending, MutexOp, Order, Rmw, Scalar, Trace};
use raddle_engine::Initial;
use raddle_explore::{Dfs, Dpor, Explorer};
use raddle_testkit::{
    IdentifyingInterpreter, Interpreter, Kind, Program, Shape, Step, explore, for_all, scaled,
};

/// Programs with more interleavings are passed over.
const LIMIT: u64 = 20_000;

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

/// Everything that `explorer` runs of `program`, and how many runs that takes; `None` if too many.
fn search(program: &Program, explorer: impl Explorer) -> Option<(u64, Seen)> {
    let mut seen = Seen::new();
    let runs = explore(&mut IdentifyingInterpreter, program, explorer, LIMIT, |trace| {
        seen.entry(trace.fingerprint).or_insert((0, ending(trace))).0 += 1;
    })?;
    Some((runs, seen))
}

/// What is wrong with a search that saw `found` where `all` is to be seen.
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
        "of {} classes: {missed} missed, {new} made up, {again} runs too many, other endings: {other}",
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
    assert!(several * 4 >= scaled(2000), "the programs are too large, or trivial");
}

fn threads(count: usize, steps: Vec<Step>, objects: Vec<Initial>) -> Program {
    let mut scripts = vec![(1..=count).map(Step::Spawn).collect::<Vec<_>>()];
    scripts.extend(vec![steps; count]);
    Program { objects, scripts }
}

#[test]
fn runs_are_the_classes_known_by_counting() {
    let order = Order::SeqCst;
    let add = AtomicOp::Update { order, scalar: Scalar::U8, function: Rmw::Add, operand: 1 };
    let runs = |program: &Program| {
        let mut explorer = Dpor::default();
        let mut runs = 0;
        let mut seen = std::collections::HashSet::new();
        let mut engine = raddle_testkit::engine(explorer.chooser());
        while explorer.next(engine.plan_mut()) {
            raddle_engine::Substrate::execute(&mut Interpreter, &mut engine, program).unwrap();
            let (trace, plan) = engine.trace_and_plan_mut();
            explorer.learn(runs, trace, plan);
            seen.insert(trace.fingerprint);
            runs += 1;
            assert!(runs < LIMIT, "there is no end to it");
        }
        assert_eq!((explorer.search().unwrap().blocked, seen.len() as u64), (0, runs));
        runs
    };
    let adds = |count, each| {
        runs(&threads(
            count,
            vec![Step::On(0, Action::Atomic(add)); each],
            vec![Initial::Atomic(Scalar::U8, 0)],
        ))
    };
    assert_eq!((adds(2, 1), adds(2, 2), adds(2, 3)), (2, 6, 20));
    assert_eq!((adds(3, 1), adds(3, 2), adds(4, 2)), (6, 90, 2520));
    let section = [MutexOp::Lock, MutexOp::Unlock].map(|op| Step::On(0, Action::Mutex(op)));
    let locks = |count, each| runs(&threads(count, section.repeat(each), vec![Initial::Mutex]));
    assert_eq!((locks(2, 2), locks(3, 2)), (6, 90));
    let mut private = vec![(1..=5).map(Step::Spawn).collect::<Vec<_>>()];
    private.extend((0..5).map(|object| vec![Step::On(object, Action::Atomic(add)); 3]));
    let objects = vec![Initial::Atomic(Scalar::U8, 0); 5];
    assert_eq!(runs(&Program { objects, scripts: private }), 1);
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

/// Programs too large for a search of all interleavings: two orders of searching must agree.
#[test]
fn the_order_of_searching_does_not_matter() {
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
