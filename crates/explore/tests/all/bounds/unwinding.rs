//! A thread that unwinds is interrupted like any other.

use std::collections::BTreeSet;

use raddle_core::{
    Action, AtomicOp, Choices, Ending, ObjectId, Op, Order, Panic, Scalar, Site, ThreadId, ThreadOp,
};
use raddle_engine::{Engine, Initial, Kind, Memory, Substrate, Turn};
use raddle_explore::{Bound, Bpor, Dfs, Explorer, Reduction};
use raddle_testkit::explore;

/// Main spawns two threads. The first stores to x and panics; a destructor stores to y twice during unwinding. The
/// second loads y twice.
struct Unwinding;

/// Whether the panic is caught.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum PanicEnd {
    Caught,
    Escapes,
}

const SITE: Site = Site::UNKNOWN;

impl Substrate for Unwinding {
    type Program = PanicEnd;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        mut choices: Choices<'_>,
        end: &PanicEnd,
    ) {
        engine.begin(&choices);
        let choices = &mut choices;
        let main = ThreadId::MAIN;
        let mut variable = || engine.declare(main, Initial::Atomic(Scalar::U8, 0), SITE);
        let (x, y) = (variable(), variable());
        let order = Order::SeqCst;
        let store = |object| Op::new(object, Action::Atomic(AtomicOp::Store { order, value: 1 }));
        let load = Op::new(y, Action::Atomic(AtomicOp::Load { order }));
        let (mut life, mut turn) = announce_spawn(engine, choices);
        let mut steps = [0; 3];
        while let Some(by) = turn.thread() {
            steps[by.index()] += 1;
            turn = match (by.index(), steps[by.index()]) {
                (0, 1) => {
                    let child = engine.start(main, life, SITE);
                    engine.submit(Kind::Any, child, &store(x), SITE, choices);
                    (life, turn) = announce_spawn(engine, choices);
                    turn
                }
                (0, 2) => {
                    let child = engine.start(main, life, SITE);
                    engine.submit(Kind::Any, child, &load, SITE, choices);
                    engine.submit_exit(main, choices)
                }
                (1, 1) => {
                    engine.perform(Kind::Any, by, &store(x), SITE, choices);
                    engine.submit(Kind::Any, by, &store(y), SITE, choices)
                }
                (1, 2) => {
                    engine.perform(Kind::Any, by, &store(y), SITE, choices);
                    engine.submit(Kind::Any, by, &store(y), SITE, choices)
                }
                (1, 3) => {
                    engine.perform(Kind::Any, by, &store(y), SITE, choices);
                    if *end == PanicEnd::Escapes {
                        let message = "on purpose".to_owned();
                        engine.fail(Panic { thread: by, message, place: None, backtrace: None });
                        break;
                    }
                    engine.submit_exit(by, choices)
                }
                (2, 1) => {
                    engine.perform(Kind::Any, by, &load, SITE, choices);
                    engine.submit(Kind::Any, by, &load, SITE, choices)
                }
                (2, 2) => {
                    engine.perform(Kind::Any, by, &load, SITE, choices);
                    engine.submit_exit(by, choices)
                }
                _ => engine.exit(by, choices),
            };
        }
    }
}

fn announce_spawn<M: Memory>(
    engine: &mut Engine<M>,
    choices: &mut Choices<'_>,
) -> (ObjectId, Turn) {
    let (_, life) = engine.declare_child(ThreadId::MAIN, SITE);
    let spawn = Op::new(life, Action::Thread(ThreadOp::Spawn));
    (life, engine.submit(Kind::Any, ThreadId::MAIN, &spawn, SITE, choices))
}

fn classes(end: PanicEnd, explorer: impl Explorer) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    explore(&mut Unwinding, &end, explorer, 10_000, |trace| {
        if trace.ending != Ending::Abandoned {
            found.insert(trace.fingerprint);
        }
    })
    .expect("there are few executions");
    found
}

/// The classes are the orders of two stores and two loads.
#[test]
fn other_threads_run_between_the_steps_of_a_destructor() {
    let expected = classes(PanicEnd::Caught, Dfs::default());
    assert_eq!(expected.len(), 6);
    for bpor in reduced_searches() {
        assert_eq!(classes(PanicEnd::Caught, bpor), expected);
    }
}

/// A panic that escapes ends the run with the second store: there may be 0, 1 or 2 loads in 6 orders, with or without the
/// exit after the second one, and before or after the exit of main; or the second thread has not been spawned. All
/// these runs fail, so a reduced search need not find all of them.
#[test]
fn other_threads_run_before_a_panic_escapes() {
    let expected = classes(PanicEnd::Escapes, Dfs::default());
    assert_eq!(expected.len(), 19);
    for bpor in reduced_searches() {
        let found = classes(PanicEnd::Escapes, bpor);
        assert!(!found.is_empty() && found.is_subset(&expected), "{found:?}");
    }
}

fn reduced_searches() -> Vec<Bpor> {
    let bounds = [Bound::NONE, Bound::preemptions(2)];
    let reductions = [Reduction::Plain, Reduction::Optimised];
    let all =
        bounds.iter().flat_map(|&bound| reductions.map(|reduction| Bpor::new(bound, reduction)));
    all.collect()
}
