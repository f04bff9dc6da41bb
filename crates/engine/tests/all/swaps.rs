//! Swapping adjacent independent events does not change the execution. Swapping adjacent dependent events, if it is
//! possible, does. Checked for every pair of primitives.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{
    Action, Choice, Effect, Ending, Event, MemoryModel, ObjectId, Op, Schedule, ThreadId, ThreadOp,
    Trace,
};
use raddle_explore::Replay;
use raddle_strategy::{Random, Rng, Sampler};
use raddle_testkit::{Interpreter, Kind, Program, Shape, for_all, run_once, scaled};

/// Returns the choices of each event.
fn choices(trace: &Trace) -> Vec<Schedule> {
    let mut choices: Vec<Schedule> = Vec::new();
    for choice in trace.schedule() {
        match choice {
            Choice::Thread(_) => choices.push(vec![choice]),
            Choice::Source(_) | Choice::Place(_) | Choice::Value(_) => {
                choices.last_mut().expect("a thread is chosen first").push(choice);
            }
        }
    }
    choices
}

/// Returns the operations and effects of each thread, with objects renumbered independently of the order of threads.
fn by_thread(trace: &Trace) -> BTreeMap<ThreadId, Vec<(ObjectId, Action, Effect)>> {
    let mut threads: BTreeMap<ThreadId, Vec<&Event>> = BTreeMap::new();
    for event in &trace.events {
        threads.entry(event.id.thread).or_default().push(event);
    }
    let mut numbers = BTreeMap::from([(ObjectId::NONE, ObjectId::NONE)]);
    let mut renumber = |event: &Event| {
        let next = ObjectId(numbers.len() as u32);
        let object = *numbers.entry(event.op.object()).or_insert(next);
        (object, event.op.action(), event.effect)
    };
    let renumbered = threads
        .into_iter()
        .map(|(thread, events)| (thread, events.into_iter().map(&mut renumber).collect()));
    renumbered.collect()
}

/// Returns the pending operation of each thread at the end, and whether it is enabled.
fn pending(trace: &Trace) -> BTreeMap<ThreadId, (Action, bool)> {
    let each = trace.pending.iter();
    each.map(|pending| (pending.thread, (pending.op.action(), pending.enabled))).collect()
}

/// Returns whether `first` spawns the thread of `second`, so that the two cannot be swapped.
fn spawns(first: &Event, second: &Event) -> bool {
    first.op.action() == Action::Thread(ThreadOp::Spawn)
        && first.effect == Effect::Value(u64::from(second.id.thread.0))
}

/// Returns the run of `trace` with the event at `position` and the next one swapped.
fn swapped(program: &Program, trace: &Trace, position: usize) -> Trace {
    let mut choices = choices(trace);
    choices.swap(position, position + 1);
    let replay =
        Replay { schedule: choices.concat(), ..Replay::of(trace, MemoryModel::Sc, 10_000) };
    replay.run(&mut Interpreter, program)
}

/// The swaps that were checked.
#[derive(Default)]
struct Tally {
    /// The pairs of kinds of which independent events were swapped.
    independent: BTreeSet<(Kind, Kind)>,
    swaps: u64,
    reversals: u64,
    impossible: u64,
}

fn check(program: &Program, rng: &mut Rng, tally: &mut Tally) -> Result<(), String> {
    let mut random = Random::default();
    random.begin(rng.bits());
    let trace = run_once(&mut Interpreter, program, vec![], random.choices());
    for (position, pair) in trace.events.windows(2).enumerate() {
        let [first, second] = pair else { unreachable!("windows of two") };
        if first.id.thread == second.id.thread || spawns(first, second) {
            continue;
        }
        // After the swap, the panic would end the run before the other event.
        let is_last = position + 2 == trace.events.len();
        if is_last && matches!(trace.ending, Ending::Panicked(_)) {
            continue;
        }
        let other = swapped(program, &trace, position);
        let explain = |what: &str| {
            Err(format!("{what}: {first:?} and {second:?} at {position}\n{trace:#?}\n{other:#?}"))
        };
        if first.depends(second) {
            if let Ending::Diverged(_) | Ending::Abandoned = other.ending {
                tally.impossible += 1;
                continue;
            }
            tally.reversals += 1;
            if other.fingerprint == trace.fingerprint {
                return explain("dependent events, but the same class after the swap");
            }
            continue;
        }
        tally.swaps += 1;
        let kinds = (Kind::of(first.op.action()), Kind::of(second.op.action()));
        tally.independent.extend([kinds, (kinds.1, kinds.0)]);
        let same = other.fingerprint == trace.fingerprint
            && other.ending == trace.ending
            && by_thread(&other) == by_thread(&trace)
            && pending(&other) == pending(&trace);
        if !same {
            return explain("independent events, but another execution after the swap");
        }
    }
    Ok(())
}

#[test]
fn adjacent_independent_events_can_be_swapped() {
    let mut tally = Tally::default();
    for_all(8, scaled(1500), &Shape::large(), |program, rng| check(program, rng, &mut tally));
    // Programs of two kinds each, so that every pair is covered.
    for (number, a) in Kind::ALL.into_iter().enumerate() {
        for (more, b) in Kind::ALL.into_iter().enumerate().skip(number) {
            // Miri is slow, and checks nothing new for the pairs.
            if cfg!(miri) && a != b {
                continue;
            }
            let (kinds, pieces) = (vec![a, b], if cfg!(miri) { 1 } else { 4 });
            let shape = Shape { kinds, kinds_at_once: 2, scripts: 4, pieces, panics: 0 };
            let seed = (100 + number * Kind::ALL.len() + more) as u64;
            for_all(seed, scaled(60), &shape, |program, rng| check(program, rng, &mut tally));
        }
    }
    println!(
        "{} swaps in {} pairs of kinds, {} reversals, {} impossible",
        tally.swaps,
        tally.independent.len(),
        tally.reversals,
        tally.impossible
    );
    let all = Kind::ALL.into_iter().flat_map(|a| Kind::ALL.into_iter().map(move |b| (a, b)));
    let missing: Vec<_> = all.filter(|pair| !tally.independent.contains(pair)).collect();
    assert!(missing.is_empty() || cfg!(miri), "never swapped: {missing:?}");
    assert!(tally.reversals > 0 || cfg!(miri));
}

/// The check above can fail: swapping two stores to one variable changes the fingerprint.
#[test]
fn a_swap_of_dependent_events_is_detected() {
    use raddle_core::{AtomicOp, Order, Scalar};
    use raddle_engine::Initial;
    use raddle_testkit::Step;

    let store = |value| {
        let op = AtomicOp::Store { order: Order::SeqCst, value };
        vec![Step::On(0, Action::Atomic(op))]
    };
    let main = vec![Step::Spawn(1), Step::Spawn(2)];
    let scripts = vec![main, store(1), store(2)];
    let program = Program { objects: vec![Initial::Atomic(Scalar::U8, 0)], scripts };
    let order = [0, 0, 1, 2].map(|thread| Choice::Thread(ThreadId(thread)));
    let trace = run_once(&mut Interpreter, &program, order.to_vec(), Random::default().choices());
    let is_store = |op: Op| Kind::of(op.action()) == Kind::Atomic;
    assert!(is_store(trace.events[2].op) && is_store(trace.events[3].op));
    let other = swapped(&program, &trace, 2);
    assert_ne!(other.fingerprint, trace.fingerprint);
}
