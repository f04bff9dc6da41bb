//! Searches under RC11 against the axioms, and with objects against depth-first search: every execution graph exactly
//! once.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::thread;

use raddle_core::{
    Action, AtomicOp, Choices, Effect, Ending, Order, RwLockOp, Schedule, ThreadId, ThreadInfo,
    Trace,
};
use raddle_engine::{Initial, Rc11, Register, ThreadIds};
use raddle_explore::{BoundedDfs, Covered, Explorer, Graphs, Limit, ParallelTrust, Trust};
use raddle_strategy::{Rng, mix};
use raddle_testkit::litmus::run::{ForgetfulLitmus, Litmus, graph_of};
use raddle_testkit::litmus::table::{MORE, TESTS, Verdict};
use raddle_testkit::litmus::{Code, Graph, Instruction, Outcome, axioms, random_code, shrink_code};
use raddle_testkit::{Interpreter, Kind, Program, Shape, Step, explore_in, for_all, scaled};

/// Returns all executions that the search finds, with the number of runs that found each, and the number of all runs.
fn search(code: &Code) -> (BTreeMap<Graph, (Outcome, u32)>, u64) {
    let mut found: BTreeMap<Graph, (Outcome, u32)> = BTreeMap::new();
    let runs =
        explore_in(Rc11::default(), &mut Litmus, code, Trust::default(), 1_000_000, |trace| {
            if is_whole(trace) {
                let (graph, outcome) = graph_of(code, trace);
                found.entry(graph).or_insert((outcome, 0)).1 += 1;
            }
        });
    (found, runs.expect("the search ends"))
}

/// Returns whether a run was not given up. Threads may wait forever, or have been cut off in loops that wait.
fn is_whole(trace: &Trace) -> bool {
    match &trace.ending {
        Ending::Finished | Ending::Deadlock | Ending::Stopped | Ending::Panicked(_) => true,
        Ending::Abandoned => false,
        Ending::StepLimit | Ending::TimeLimit | Ending::Diverged(_) => panic!("{trace:#?}"),
    }
}

/// Describes how the executions found differ from those that the axioms allow. Returns `None` if they do not.
fn difference(code: &Code) -> Option<String> {
    let (found, _) = search(code);
    let allowed = axioms::consistent(code);
    let missing = allowed.keys().find(|graph| !found.contains_key(graph));
    let excess = found.keys().find(|graph| !allowed.contains_key(graph));
    let repeated = found.iter().find(|(_, (_, runs))| *runs > 1);
    let is_equal = missing.is_none() && excess.is_none() && repeated.is_none();
    (!is_equal).then(|| {
        format!(
            "{code}: {} found, {} allowed\nmissing {missing:?}\nforbidden {excess:?}\nrepeated {repeated:?}",
            found.len(),
            allowed.len()
        )
    })
}

#[test]
fn every_litmus_test_has_its_verdict_and_number_of_executions() {
    let mut wrong = Vec::new();
    for test in TESTS.iter().chain(MORE) {
        let code: Code = test.code.parse().unwrap();
        let (found, runs) = search(&code);
        let is_seen = found.values().any(|(outcome, _)| outcome.matches(test.outcome));
        let verdict = if is_seen { Verdict::Allowed } else { Verdict::Forbidden };
        let repeated = found.values().filter(|(_, runs)| *runs > 1).count();
        if (verdict, found.len(), repeated) != (test.verdict, test.graphs, 0) {
            wrong.push(format!(
                "{}: {verdict:?} {} of {} ({repeated} repeated, {runs} runs) {}",
                test.name,
                found.len(),
                test.graphs,
                test.code
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn additions_to_one_variable_have_one_execution_per_order() {
    for (threads, orders) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let code: Code = vec!["Ux+1"; threads].join("|").parse().unwrap();
        let (found, runs) = search(&code);
        assert_eq!((found.len(), runs), (orders, orders as u64));
    }
}

#[test]
fn random_programs_have_the_executions_that_the_axioms_allow() {
    let cases = scaled(2000);
    // Large scales include programs with many combinations.
    let combinations = if cases > 2000 { 200_000 } else { 300 };
    for case in 0..cases {
        let code = random_code(&mut Rng::new(mix(7, case)), 8, combinations);
        if difference(&code).is_some() {
            let smallest = shrink_code(code, |code| difference(code).is_some());
            panic!("case {case}: {}", difference(&smallest).unwrap_or_default());
        }
    }
}

/// Makes some of the reads of a program await a value, and ends some threads unless they read a value.
fn add_tests(mut code: Code, rng: &mut Rng) -> Code {
    for thread in &mut code.threads {
        for at in (0..thread.len()).rev() {
            let value = rng.below(3) as u64;
            let test = match (thread[at], rng.below(4)) {
                (Instruction::Load(..), 0 | 1) => Instruction::Await(value),
                (Instruction::Exchange(_, expected, ..), 0 | 1) => Instruction::Await(expected),
                (instruction, 2) if instruction.reads() => Instruction::Require(value),
                _ => continue,
            };
            thread.insert(at + 1, test);
        }
    }
    code
}

/// A loop that waits is cut off when it has read another value than it waits for: for the axioms the thread ends there.
#[test]
fn loops_that_wait_have_the_executions_that_the_axioms_allow() {
    let cases = scaled(1000);
    let combinations = if cases > 1000 { 200_000 } else { 300 };
    let mut waits = 0;
    for case in 0..cases {
        let mut rng = Rng::new(mix(8, case));
        let code = random_code(&mut rng, 8, combinations);
        let code = add_tests(code, &mut rng);
        let is_wait = |instruction: &&Instruction| matches!(instruction, Instruction::Await(_));
        waits += code.threads.iter().flatten().filter(is_wait).count();
        if let Some(difference) = difference(&code) {
            panic!("case {case}: {difference}");
        }
    }
    assert!(waits as u64 > cases / 2, "too few loops");
}

/// Makes some of the reads of a program await a value.
pub(crate) fn add_waits(code: Code, rng: &mut Rng) -> Code {
    let mut code = add_tests(code, rng);
    for thread in &mut code.threads {
        thread.retain(|instruction| !matches!(instruction, Instruction::Require(_)));
    }
    code
}

/// Returns what the operations of a whole execution read last, in program order.
pub(crate) fn last_reads(code: &Code, trace: &Trace) -> Vec<u64> {
    let mut all = Vec::new();
    for (thread, text) in code.threads.iter().enumerate() {
        let id = ThreadId(thread as u32 + 1);
        let events = trace.events.iter().filter(|event| event.id.thread == id);
        let mut values = events.filter_map(|event| match event.effect {
            Effect::Value(value) | Effect::Exchanged(value) | Effect::Kept(value) => Some(value),
            _ => None,
        });
        for (at, instruction) in text.iter().enumerate() {
            if instruction.reads() {
                let awaited = match text.get(at + 1) {
                    Some(&Instruction::Await(value)) => Some(value),
                    _ => None,
                };
                let is_last = |value: &u64| awaited.is_none_or(|awaited| *value == awaited);
                all.push(values.find(is_last).expect("the loop has ended"));
            }
        }
        assert_eq!(values.next(), None);
    }
    all
}

/// Which rounds of a loop seem to repeat may differ between runs. Nothing is lost then.
#[test]
fn loops_that_are_cut_off_later_in_some_runs_lose_nothing() {
    for case in 0..scaled(500) {
        let mut rng = Rng::new(mix(9, case));
        let code = random_code(&mut rng, 7, 300);
        let code = add_waits(code, &mut rng);
        let mut found = BTreeSet::new();
        let mut substrate = ForgetfulLitmus::default();
        let trust = Trust::default();
        explore_in(Rc11::default(), &mut substrate, &code, trust, 100_000, |trace| {
            if is_whole(trace) && trace.ending == Ending::Finished && trace.stopped.is_empty() {
                found.insert(last_reads(&code, trace));
            }
        })
        .expect("the search ends");
        let awaited = code.threads.iter().flat_map(|text| {
            let reads = text.iter().enumerate().filter(|(_, instruction)| instruction.reads());
            reads.map(|(at, _)| match text.get(at + 1) {
                Some(&Instruction::Await(value)) => Some(value),
                _ => None,
            })
        });
        let awaited: Vec<Option<u64>> = awaited.collect();
        let reads = axioms::consistent(&code).into_values().filter_map(|outcome| {
            let reads: Option<Vec<u64>> = outcome.read.into_iter().collect();
            reads.filter(|reads| {
                let mut pairs = reads.iter().zip(&awaited);
                pairs.all(|(read, awaited)| awaited.is_none_or(|awaited| *read == awaited))
            })
        });
        assert_eq!(found, reads.collect(), "case {case}: {code}");
    }
}

/// Returns the number of runs of each class that a search finds. Returns `None` if there are too many runs.
fn classes(program: &Program, explorer: impl Explorer, limit: u64) -> Option<BTreeMap<u64, u32>> {
    let mut found = BTreeMap::new();
    explore_in(Rc11::default(), &mut Interpreter, program, explorer, limit, |trace| {
        if trace.ending != Ending::Abandoned {
            *found.entry(trace.fingerprint).or_insert(0) += 1;
        }
    })?;
    Some(found)
}

/// Returns the program with other memory orderings.
fn weakened(program: &Program, rng: &mut Rng) -> Program {
    let mut program = program.clone();
    let mut draw = || {
        let orders = [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
        orders[rng.below(orders.len())]
    };
    for step in program.scripts.iter_mut().flatten() {
        let (Step::On(_, action) | Step::Alone(action)) = step else { continue };
        match action {
            Action::Atomic(AtomicOp::Load { order }) => *order = draw().of_load(),
            Action::Atomic(AtomicOp::Store { order, .. }) => *order = draw().of_store(),
            Action::Atomic(AtomicOp::Update { order, .. }) => *order = draw(),
            Action::Atomic(AtomicOp::CompareExchange { success, failure, .. }) => {
                (*success, *failure) = (draw(), draw().of_load());
            }
            Action::Fence(order) => *order = draw().joined(Order::Acquire),
            Action::Thread(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)
            | Action::Pause(_)
            | Action::Choose { .. } => {}
        }
    }
    program
}

fn shape(kinds: &[Kind]) -> Shape {
    Shape { kinds: kinds.to_vec(), kinds_at_once: 3, scripts: 4, pieces: 3, panics: 0 }
}

/// Returns the kinds of objects that the search covers.
fn covered_kinds() -> Vec<Kind> {
    Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Futex)).collect()
}

/// Returns whether the search begins anew as depth-first search.
fn begins_anew(program: &Program) -> bool {
    let mut trust = Trust::default();
    classes(program, &mut trust, 500);
    !trust.repeats_no_class()
}

/// Compares the search with depth-first search on random programs with these kinds of objects. At most one in four may
/// make the search begin anew.
fn check_objects(kinds: &[Kind], seed: u64, cases: u64) {
    let shape = shape(kinds);
    let begun_anew = Cell::new(0);
    for_all(seed, cases, &shape, |program, rng| {
        let program = &weakened(program, rng);
        let Some(expected) = classes(program, Graphs::default(), 2_000) else { return Ok(()) };
        let mut trust = Trust::default();
        let Some(found) = classes(program, &mut trust, 20_000) else {
            return Err("the search does not end".into());
        };
        let is_anew = !trust.repeats_no_class();
        begun_anew.set(begun_anew.get() + u64::from(is_anew));
        let missing = expected.keys().filter(|class| !found.contains_key(class)).count();
        let excess = found.keys().filter(|class| !expected.contains_key(class)).count();
        let repeated = found.values().filter(|&&runs| runs > 1 && !is_anew).count();
        if (missing, excess, repeated) == (0, 0, 0) {
            return Ok(());
        }
        Err(format!(
            "{} classes: {missing} missing, {excess} too many, {repeated} repeated",
            expected.len()
        ))
    });
    let begun_anew = begun_anew.get();
    assert!(begun_anew * 4 <= cases, "{begun_anew} of {cases} searches began anew");
}

#[test]
fn programs_with_locks_have_the_classes_that_depth_first_search_finds() {
    check_objects(&[Kind::Mutex, Kind::Atomic], 31, scaled(300));
}

#[test]
fn programs_with_readers_have_the_classes_that_depth_first_search_finds() {
    check_objects(&[Kind::RwLock, Kind::Atomic], 33, scaled(300));
    check_objects(&[Kind::Readers, Kind::Mutex], 34, scaled(300));
    check_objects(&[Kind::RwLock], 35, scaled(300));
}

#[test]
fn programs_with_objects_have_the_classes_that_depth_first_search_finds() {
    check_objects(&covered_kinds(), 32, scaled(300));
}

#[test]
fn several_workers_run_the_same_graphs_each_once() {
    for_all(36, scaled(150), &shape(&covered_kinds()), |program, rng| {
        let program = &weakened(program, rng);
        if begins_anew(program) {
            return Ok(());
        }
        let Some(expected) = classes(program, Trust::default(), 500) else { return Ok(()) };
        let all = ParallelTrust::new(u64::MAX);
        let found = Mutex::new(BTreeMap::new());
        let work = || {
            let worker = all.worker();
            explore_in(Rc11::default(), &mut Interpreter, program, worker, u64::MAX, |trace| {
                if trace.ending != Ending::Abandoned {
                    *found.lock().unwrap().entry(trace.fingerprint).or_insert(0) += 1;
                }
            });
        };
        thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
            work();
        });
        let found = found.into_inner().unwrap();
        if found == expected { Ok(()) } else { Err(format!("{expected:?}, but {found:?}")) }
    });
}

/// The search is long enough for workers to give each other graphs.
#[test]
fn several_workers_share_a_long_search() {
    let code: Code = ["Ux+1"; 6].join("|").parse().unwrap();
    let all = ParallelTrust::new(u64::MAX);
    let work = || {
        let worker = all.worker();
        explore_in(Rc11::default(), &mut Litmus, &code, worker, u64::MAX, |_| {}).unwrap()
    };
    let runs = thread::scope(|scope| {
        let others = [scope.spawn(work), scope.spawn(work)];
        let mine = work();
        others.map(|other| other.join().unwrap()).iter().sum::<u64>() + mine
    });
    assert_eq!(runs, 720);
}

/// A search in which threads have given ids.
struct Renamed(Trust, Arc<Ids>);

/// The threads of a program, by id.
#[derive(Debug)]
struct Ids(Vec<ThreadInfo>);

impl Register for Ids {
    fn child(&self, parent: ThreadId, position: u32) -> ThreadId {
        let is_child = |info: &&ThreadInfo| info.parent == parent && info.position == position;
        self.0[1..].iter().find(is_child).expect("the thread is known").id
    }

    fn info(&self, thread: ThreadId) -> ThreadInfo {
        self.0[thread.index()]
    }
}

impl Ids {
    /// Returns other ids for threads. A thread still has a larger one than its parent.
    fn shuffled(threads: &[ThreadInfo], rng: &mut Rng) -> Ids {
        let mut order = vec![0];
        while order.len() < threads.len() {
            let is_next = |&thread: &usize| {
                !order.contains(&thread) && order.contains(&threads[thread].parent.index())
            };
            let next: Vec<usize> = (1..threads.len()).filter(is_next).collect();
            order.push(next[rng.below(next.len())]);
        }
        let new_id = |old: ThreadId| {
            let id = order.iter().position(|&thread| thread == old.index());
            ThreadId(id.expect("the parent comes first") as u32)
        };
        let renamed = |&thread: &usize| {
            let ThreadInfo { id, parent, position } = threads[thread];
            ThreadInfo { id: new_id(id), parent: new_id(parent), position }
        };
        Ids(order.iter().map(renamed).collect())
    }
}

impl Explorer for Renamed {
    fn thread_ids(&self) -> ThreadIds {
        ThreadIds::registered(self.1.clone())
    }

    fn next(&mut self, prefix: &mut Schedule) -> bool {
        self.0.next(prefix)
    }

    fn choices(&mut self) -> Choices<'_> {
        self.0.choices()
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        self.0.learn(run, trace);
    }
}

/// The order in which threads are preferred depends on their ids, the graphs do not.
#[test]
fn other_ids_of_threads_lead_to_the_same_graphs() {
    for_all(37, scaled(150), &shape(&covered_kinds()), |program, rng| {
        let program = &weakened(program, rng);
        if begins_anew(program) {
            return Ok(());
        }
        let mut threads: Vec<ThreadInfo> = Vec::new();
        let mut expected = BTreeMap::new();
        let trust = Trust::default();
        let runs = explore_in(Rc11::default(), &mut Interpreter, program, trust, 500, |trace| {
            for thread in &trace.threads {
                if !threads.contains(thread) {
                    threads.push(*thread);
                }
            }
            if trace.ending != Ending::Abandoned {
                *expected.entry(trace.fingerprint).or_insert(0) += 1;
            }
        });
        threads.sort_by_key(|thread| thread.id);
        if runs.is_none() || threads.len() < 3 {
            return Ok(());
        }
        let ids = Arc::new(Ids::shuffled(&threads, rng));
        let found = classes(program, Renamed(Trust::default(), ids.clone()), 1_000);
        if found.as_ref() == Some(&expected) {
            return Ok(());
        }
        Err(format!("{ids:?}: {expected:?}, but {found:?}"))
    });
}

/// A bounded search runs every graph that depth-first search finds within the bound, and no graph twice.
#[test]
fn bounded_searches_have_the_graphs_that_need_few_preemptions() {
    let (mut compared, mut pruned, mut too_long) = (0, 0, 0);
    for_all(40, scaled(150), &shape(&Kind::ALL), |program, rng| {
        let program = &weakened(program, rng);
        for most in 0..3 {
            let brute = BoundedDfs::new(Limit::Preemptions(most));
            let Some(expected) = classes(program, brute, 2_000) else { return Ok(()) };
            let mut trust = Trust::bounded(most);
            // With graphs on the way there may be many more than within the bound.
            let Some(found) = classes(program, &mut trust, 20_000) else {
                too_long += 1;
                return Ok(());
            };
            let missing = expected.keys().filter(|class| !found.contains_key(class)).count();
            let repeated = found.values().filter(|&&runs| runs > 1).count();
            let within = trust.within_bound();
            let is_anew = !trust.repeats_no_class();
            if missing > 0 || !is_anew && (repeated, within) != (0, expected.len() as u64) {
                let expected = expected.len();
                return Err(format!(
                    "bound {most}: {missing} missing, {repeated} repeated, {within} of {expected} within"
                ));
            }
            compared += 1;
            pruned += u64::from(trust.covered(true) != Covered::Everything);
        }
        Ok(())
    });
    println!("{compared} searches, {pruned} left graphs out, {too_long} too long");
    assert!(too_long * 100 < compared, "{too_long} searches do not end");
    assert!(pruned > 0, "no search left out a graph");
}

/// Whether an attempt to write succeeds depends on the readers that have come and left.
#[test]
fn attempts_to_write_need_one_run_for_each_group_of_readers() {
    let on_lock = |op| Step::On(0, Action::RwLock(op));
    let reader = vec![on_lock(RwLockOp::Read), on_lock(RwLockOp::UnlockRead)];
    let attempt = vec![on_lock(RwLockOp::TryWrite), on_lock(RwLockOp::UnlockWrite)];
    let others = |others: &[&Vec<Step>]| {
        let mut scripts = vec![(1..=others.len()).map(Step::Spawn).collect::<Vec<Step>>()];
        scripts.extend(others.iter().map(|&script| script.clone()));
        Program { objects: vec![Initial::RwLock], scripts }
    };
    for (program, count) in [
        // Before the reader, while it reads, and after it.
        (others(&[&attempt, &reader]), 3),
        // An attempt that fails orders nothing: four orders if both succeed, and while the reader reads, one or both fail.
        (others(&[&attempt, &attempt]), 4),
    ] {
        let found = classes(&program, Trust::default(), 1_000).expect("the search ends");
        let expected = classes(&program, Graphs::default(), 1_000).expect("the search ends");
        assert_eq!(found.len(), count, "{found:?}, {expected:?}");
        assert!(found.keys().eq(expected.keys()) && found.values().all(|&runs| runs == 1));
    }
}
