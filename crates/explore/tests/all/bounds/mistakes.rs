//! Deliberate mistakes in the reduction, which the checks must detect.

use std::collections::BTreeSet;

use raddle_core::{Action, AtomicOp, MutexOp, Order, PauseOp, Rmw, Scalar};
use raddle_engine::Initial;
use raddle_explore::{Bound, Bpor, Mistake, Reduction};
use raddle_strategy::{Rng, mix};
use raddle_testkit::{Program, Step};

use super::bpor::{busy, cheapest, reached};
use super::brute::{Class, within};

/// Asserts that a search with this mistake misses a class of some random program.
fn assert_detected(mistake: Mistake, reduction: Reduction, cases: u64) {
    let found = (0..cases).find(|&case| {
        let program = busy().generate(&mut Rng::new(mix(41, case)));
        with_few_preemptions(&program).into_iter().any(|(bound, classes)| {
            let found = reached(&program, Bpor::new(bound, reduction).with_mistake(mistake));
            !classes.iter().all(|class| found.contains_key(class))
        })
    });
    println!("{mistake:?}, {reduction:?}: detected by program {found:?}");
    assert!(found.is_some(), "{mistake:?} was not detected");
}

fn with_few_preemptions(program: &Program) -> Vec<(Bound, BTreeSet<Class>)> {
    let bounds = [0, 1, 2].map(Bound::preemptions).into_iter();
    let classes = bounds.map(|bound| within(program, bound, 500).map(|found| (bound, found.0)));
    classes.flatten().collect()
}

#[test]
fn mistakes_with_the_preemption_bound_are_detected() {
    for mistake in [
        Mistake::PaperSleep,
        Mistake::NoReads,
        Mistake::PerformedOnly,
        Mistake::NoReleases,
        Mistake::NoBlockStart,
    ] {
        for reduction in [Reduction::Plain, Reduction::Optimised] {
            assert_detected(mistake, reduction, 100);
        }
    }
}

/// Main and A yield. Then main spawns C, which has not yielded, so the fair bound stops A. A's load can come before C's
/// addition only if it comes before the spawn, with which it does not race.
#[test]
fn spawns_are_releases_under_the_fair_bound() {
    let (order, scalar, function) = (Order::SeqCst, Scalar::U8, Rmw::Add);
    let add = AtomicOp::Update { order, scalar, function, operand: 1 };
    let add = Step::On(0, Action::Atomic(add));
    let load = Step::On(0, Action::Atomic(AtomicOp::Load { order }));
    let pause = Step::Alone(Action::Pause(PauseOp::Yield));
    let program = Program {
        objects: vec![Initial::Atomic(scalar, 0)],
        scripts: vec![vec![Step::Spawn(1), pause, Step::Spawn(2)], vec![pause, load], vec![add]],
    };
    for bound in [Bound::fair(0), Bound::both(1, 0)] {
        let (expected, _) = within(&program, bound, 1000).expect("the program is small");
        // Without optimisations the exit of C races with its spawn.
        let right = Bpor::new(bound, Reduction::Optimised);
        assert_eq!(reached(&program, right.clone()).len(), expected.len());
        let wrong = reached(&program, right.with_mistake(Mistake::NoEnabledness));
        assert!(wrong.len() < expected.len(), "{bound:?}");
    }
}

/// Three threads, each `r(y); w(x)`, without preemptions: six orders. The second before the first is explored by a
/// conservative branch. Its read must not sleep when the third goes first.
#[test]
fn conservative_points_do_not_sleep() {
    let order = Order::SeqCst;
    let load = Step::On(0, Action::Atomic(AtomicOp::Load { order }));
    let store = Step::On(1, Action::Atomic(AtomicOp::Store { order, value: 1 }));
    let mut scripts = vec![(1..=3).map(Step::Spawn).collect::<Vec<_>>()];
    scripts.extend(vec![vec![load, store]; 3]);
    let program = Program { objects: vec![Initial::Atomic(Scalar::U8, 0); 2], scripts };
    for reduction in [Reduction::Plain, Reduction::Optimised] {
        let right = Bpor::new(Bound::preemptions(0), reduction);
        assert_eq!(reached(&program, right.clone()).len(), 6);
        assert!(reached(&program, right.with_mistake(Mistake::ConservativeSleep)).len() < 6);
    }
}

/// Three threads, the last spawned by the second. Main's store sleeps in the state in which the third could go first,
/// so the race of its load with the store is not found there.
#[test]
fn a_sleeping_thread_is_not_an_explored_branch() {
    let order = Order::SeqCst;
    let store = Step::On(0, Action::Atomic(AtomicOp::Store { order, value: 1 }));
    let load = Step::On(0, Action::Atomic(AtomicOp::Load { order }));
    let program = Program {
        objects: vec![Initial::Atomic(Scalar::U8, 0)],
        scripts: vec![vec![Step::Spawn(1), store], vec![Step::Spawn(2), load], vec![load]],
    };
    for reduction in [Reduction::Plain, Reduction::Optimised] {
        let right = Bpor::new(Bound::NONE, reduction);
        assert_eq!(reached(&program, right.clone()).len(), 4);
        assert_eq!(reached(&program, right.with_mistake(Mistake::SleepIsMark)).len(), 3);
    }
}

/// `A: r(x); w(x)` and `B: r(x)`, without preemptions: A first, or B first. After A was explored, the paper's sleep
/// sets contain A's read, which B's read does not wake. After B, all threads sleep.
#[test]
fn the_papers_sleep_sets_miss_an_execution() {
    let order = Order::SeqCst;
    let store = Step::On(0, Action::Atomic(AtomicOp::Store { order, value: 1 }));
    let load = Step::On(0, Action::Atomic(AtomicOp::Load { order }));
    let program = Program {
        objects: vec![Initial::Atomic(Scalar::U8, 0)],
        scripts: vec![vec![Step::Spawn(1), Step::Spawn(2)], vec![load, store], vec![load]],
    };
    for reduction in [Reduction::Plain, Reduction::Optimised] {
        let right = Bpor::new(Bound::preemptions(0), reduction);
        assert_eq!(reached(&program, right.clone()).len(), 2);
        assert_eq!(reached(&program, right.with_mistake(Mistake::PaperSleep)).len(), 1);
    }
}

/// With one preemption, T adds while main holds the mutex and then blocks, so the switch back is no preemption. Main's
/// unlock, explored before, must not sleep then: if it came first, T would not block.
#[test]
fn a_blocked_thread_wakes_the_thread_it_waits_for() {
    let (order, scalar, function) = (Order::SeqCst, Scalar::U8, Rmw::Add);
    let add = AtomicOp::Update { order, scalar, function, operand: 1 };
    let add = Step::On(0, Action::Atomic(add));
    let [lock, unlock] = [MutexOp::Lock, MutexOp::Unlock].map(|op| Step::On(1, Action::Mutex(op)));
    let program = Program {
        objects: vec![Initial::Atomic(scalar, 0), Initial::Mutex],
        scripts: vec![vec![Step::Spawn(1), lock, unlock, add], vec![add, lock, add]],
    };
    let classes = cheapest(&program).expect("the program is small");
    let expected = classes.values().filter(|&&cost| cost <= 1).count();
    let right = Bpor::new(Bound::preemptions(1), Reduction::Optimised);
    assert_eq!(reached(&program, right.clone()).len(), expected);
    assert_eq!(reached(&program, right.with_mistake(Mistake::NoWaiters)).len(), expected - 1);
}
