//! A thread that unwinds is the only option at its points; reduced searches go around them.

use std::collections::BTreeSet;

use raddle_core::{
    Action, AtomicOp, Chooser, Ending, ObjectId, Op, Order, Panic, Scalar, Site, ThreadId, ThreadOp,
};
use raddle_engine::known::AnyOp;
use raddle_engine::{Engine, Initial, Memory, Stuck, Substrate, Turn};
use raddle_explore::{Bound, Bpor, Dfs, DporClassic, Explorer, Reduction};
use raddle_testkit::explore;

/// Main spawns a thread and loads y twice. The thread stores to x and panics; a destructor stores to
/// y on the way out.
struct Unwinding;

const SITE: Site = Site::UNKNOWN;

impl Substrate for Unwinding {
    type Program = ();

    fn execute<M: Memory, C: Chooser>(
        &mut self,
        engine: &mut Engine<M, C>,
        _program: &(),
    ) -> Result<(), Stuck> {
        engine.reset();
        let main = ThreadId::MAIN;
        let mut variable = || engine.declare(main, Initial::Atomic(Scalar::U8, 0), SITE);
        let (x, y) = (variable(), variable());
        let order = Order::SeqCst;
        let store = |object| Op::new(object, Action::Atomic(AtomicOp::Store { order, value: 1 }));
        let load = Op::new(y, Action::Atomic(AtomicOp::Load { order }));
        let (_, life): (ThreadId, ObjectId) = engine.declare_child(main, SITE);
        let spawn = Op::new(life, Action::Thread(ThreadOp::Spawn));
        let mut turn = engine.submit::<AnyOp>(main, spawn, SITE);
        let mut steps = [0, 0];
        while let Some(by) = turn.thread() {
            let step = &mut steps[usize::from(by != main)];
            *step += 1;
            turn = match (by == main, *step) {
                (true, 1) => {
                    let child = engine.start(main, life, SITE);
                    assert_eq!(engine.submit::<AnyOp>(child, store(x), SITE), Turn::of(main));
                    engine.submit::<AnyOp>(main, load, SITE)
                }
                (true, 2) => {
                    engine.perform::<AnyOp>(main, load, SITE);
                    engine.submit::<AnyOp>(main, load, SITE)
                }
                (true, 3) => {
                    engine.perform::<AnyOp>(main, load, SITE);
                    engine.submit_exit(main)
                }
                (true, _) => engine.exit(main),
                (false, 1) => {
                    engine.perform::<AnyOp>(by, store(x), SITE);
                    engine.submit_unpreempted(by, store(y), SITE)
                }
                (false, _) => {
                    engine.perform::<AnyOp>(by, store(y), SITE);
                    let message = "on purpose".to_owned();
                    engine.fail(Panic { thread: by, message, place: None, backtrace: None });
                    Turn::END
                }
            };
        }
        Ok(())
    }
}

fn classes(explorer: impl Explorer) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    explore(&mut Unwinding, &(), explorer, 100, |trace| {
        if trace.ending != Ending::Abandoned {
            found.insert(trace.fingerprint);
        }
    })
    .expect("there are few");
    found
}

#[test]
fn nobody_comes_between_a_panic_and_its_destructors() {
    let expected = classes(Dfs::default());
    assert_eq!(expected.len(), 4);
    for reduction in [Reduction::Plain, Reduction::Optimised] {
        assert_eq!(classes(DporClassic::new(reduction)), expected);
        assert_eq!(classes(Bpor::new(Bound::preemptions(1), reduction)), expected);
        assert_eq!(classes(Bpor::new(Bound::preemptions(0), reduction)).len(), 1);
    }
}
