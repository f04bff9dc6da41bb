//! Orders equivalent to a run: exactly the interleavings of its class, and runs of it under both memory models.

use std::collections::{BTreeMap, HashSet};

use raddle_analysis::Equivalents;
use raddle_core::{Choice, Choices, Effect, Ending, MemoryModel, Schedule, Trace};
use raddle_engine::{Engine, Memory, Rc11, Sc, Substrate, ThreadIds};
use raddle_explore::{Dfs, Graphs, InOrder, Repeat};
use raddle_strategy::{Random, Rng};
use raddle_testkit::{Interpreter, Program, Shape, explore, explore_in, for_all, scaled};

/// Programs with more interleavings are skipped.
const LIMIT: u64 = 600;
/// More steps than any program has.
const MAX_STEPS: usize = 10_000;

/// The interleavings of each class that are drawn are those that a depth-first search finds.
#[test]
fn draws_are_the_interleavings_of_the_class() {
    let (mut compared, mut whole) = (0u64, 0u64);
    for_all(5, scaled(300), &Shape::small(), |program, rng| {
        let mut classes: BTreeMap<u64, (Option<Trace>, HashSet<Schedule>)> = BTreeMap::new();
        let runs = explore(&mut Interpreter, program, Dfs::default(), LIMIT, |trace| {
            if trace.ending == Ending::Finished {
                let (first, schedules) = classes.entry(trace.fingerprint).or_default();
                first.get_or_insert_with(|| trace.clone());
                schedules.insert(trace.schedule());
            }
        });
        if runs.is_none() {
            return Ok(());
        }
        for (first, schedules) in classes.values().take(4) {
            let first = first.as_ref().expect("a class has a run");
            let orders = Equivalents::of(first);
            let draw = |rng: &mut Rng| in_order(first, &draw(&orders, rng));
            let draws = 40 * schedules.len().min(20);
            let drawn: HashSet<Schedule> = (0..draws).map(|_| draw(rng)).collect();
            if !drawn.is_subset(schedules) {
                return Err(format!(
                    "drawn, but not in the class: {:?}",
                    drawn.difference(schedules)
                ));
            }
            compared += 1;
            if schedules.len() <= 4 {
                if drawn != *schedules {
                    return Err(format!("never drawn: {:?}", schedules.difference(&drawn)));
                }
                whole += u64::from(schedules.len() > 1);
            }
        }
        Ok(())
    });
    assert!(compared > scaled(200) && whole > scaled(20), "{compared} {whole}");
}

fn draw(orders: &Equivalents, rng: &mut Rng) -> Vec<usize> {
    if rng.below(2) == 0 { orders.draw(rng) } else { orders.draw_in_blocks(rng) }
}

/// Returns the choices of a run under sequential consistency with the events of `trace` in `order`.
fn in_order(trace: &Trace, order: &[usize]) -> Schedule {
    let mut schedule = Schedule::new();
    for event in order.iter().map(|&position| &trace.events[position]) {
        schedule.push(Choice::Thread(event.id.thread));
        if let (true, Effect::Value(value)) = (event.op.is_choose(), event.effect) {
            schedule.push(Choice::Value(value as u32));
        }
    }
    schedule
}

fn run<M: Memory>(mut engine: Engine<M>, program: &Program, chooser: &mut InOrder) -> Trace {
    Interpreter.execute(&mut engine, Choices::Chooser(chooser), program);
    engine.into_trace()
}

/// Replays orders drawn for `trace`. Each has to be of its class.
fn check(
    program: &Program,
    trace: &Trace,
    memory: MemoryModel,
    rng: &mut Rng,
) -> Result<(), String> {
    let orders = Equivalents::of(trace);
    for _ in 0..5 {
        let mut chooser = InOrder::new(trace, &draw(&orders, rng));
        let ids = ThreadIds::of_recorded(&trace.threads[1..]).expect("the threads of a run");
        let second = match memory {
            MemoryModel::Sc => run(Engine::new(Sc, ids, MAX_STEPS), program, &mut chooser),
            MemoryModel::Rc11 => {
                run(Engine::new(Rc11::default(), ids, MAX_STEPS), program, &mut chooser)
            }
        };
        if (&second.ending, second.fingerprint) != (&trace.ending, trace.fingerprint) {
            return Err(format!("{memory:?}: {trace:#?} became {second:#?}"));
        }
    }
    Ok(())
}

#[test]
fn draws_are_of_the_same_class_under_both_models() {
    let mut checked = 0u64;
    for_all(6, scaled(150), &Shape::large(), |program, rng| {
        let mut traces = Vec::new();
        let mut keep = |memory: MemoryModel, trace: &Trace| {
            if trace.ending == Ending::Finished && traces.len() < 20 {
                traces.push((memory, trace.clone()));
            }
        };
        let random = || Repeat::new(Random::default(), 1);
        explore_in(Sc, &mut Interpreter, program, random(), 5, |trace| {
            keep(MemoryModel::Sc, trace)
        });
        let weak = || Rc11::default();
        explore_in(weak(), &mut Interpreter, program, random(), 5, |trace| {
            keep(MemoryModel::Rc11, trace)
        });
        explore_in(weak(), &mut Interpreter, program, Graphs::default(), 20, |trace| {
            keep(MemoryModel::Rc11, trace)
        });
        checked += traces.len() as u64;
        traces.iter().try_for_each(|(memory, trace)| check(program, trace, *memory, rng))
    });
    assert!(checked > scaled(1000), "{checked}");
}
