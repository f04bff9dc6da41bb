//! Mistakes made on purpose are found by the checks that the real thing passes.

use std::collections::BTreeSet;

use raddle_core::{Action, AtomicOp, Order, Scalar};
use raddle_engine::Initial;
use raddle_explore::{Bound, Bpor, DporClassic, Mistake, Reduction};
use raddle_strategy::{Rng, mix};
use raddle_testkit::{Kind, Program, Shape, Step};

use crate::bpor::{cheapest, reached};
use crate::brute::Class;
use crate::fair;

/// The first of random programs of which a search with this mistake misses a class.
fn first_missed(
    mistake: Mistake,
    reduction: Reduction,
    cases: u64,
    generate: impl Fn(&mut Rng) -> Program,
    expected: impl Fn(&Program) -> Vec<(Bound, BTreeSet<Class>)>,
) {
    let found = (0..cases).find(|&case| {
        let program = generate(&mut Rng::new(mix(41, case)));
        expected(&program).into_iter().any(|(bound, classes)| {
            let found = reached(&program, Bpor::new(bound, reduction).with_mistake(mistake));
            !classes.iter().all(|class| found.contains_key(class))
        })
    });
    println!("{mistake:?}, {reduction:?}: found by program {found:?}");
    assert!(found.is_some(), "{mistake:?} was not found");
}

fn by_preemptions(program: &Program) -> Vec<(Bound, BTreeSet<Class>)> {
    let Some(classes) = cheapest(program) else { return Vec::new() };
    let dearest = classes.values().copied().max().unwrap_or(0);
    let within = |bound: u32| {
        let classes = classes.iter().filter(|(_, cost)| **cost <= bound);
        (Bound::preemptions(bound), classes.map(|(class, _)| class.clone()).collect())
    };
    (0..=dearest + 1).map(within).collect()
}

fn with_both(program: &Program) -> Vec<(Bound, BTreeSet<Class>)> {
    let bounds = [Bound::fair(0), Bound::fair(1), Bound::both(0, 0), Bound::both(1, 0)];
    let within = |bound| fair::within(program, bound).map(|(classes, _)| (bound, classes));
    bounds.into_iter().filter_map(within).collect()
}

#[test]
fn mistakes_with_the_preemption_bound_are_found() {
    let shape = Shape {
        kinds: vec![Kind::Atomic, Kind::Mutex],
        kinds_at_once: 2,
        scripts: 4,
        pieces: 2,
        panics: 0,
    };
    for mistake in [
        Mistake::PaperSleep,
        Mistake::ConservativeSleep,
        Mistake::NoReads,
        Mistake::PerformedOnly,
        Mistake::NoReleases,
        Mistake::NoBlockStart,
    ] {
        for reduction in [Reduction::Plain, Reduction::Optimised] {
            first_missed(mistake, reduction, 100, |rng| shape.generate(rng), by_preemptions);
        }
    }
}

#[test]
fn mistakes_with_the_fair_bound_are_found() {
    for reduction in [Reduction::Plain, Reduction::Optimised] {
        first_missed(Mistake::NoEnabledness, reduction, 100, fair::spinning, with_both);
    }
}

/// Three threads; the last is spawned by the second. Main's store sleeps in the state in which the
/// third could go first, so nobody sees there that its load races with the store.
#[test]
fn to_sleep_is_not_to_be_explored() {
    let order = Order::SeqCst;
    let store = Step::On(0, Action::Atomic(AtomicOp::Store { order, value: 1 }));
    let load = Step::On(0, Action::Atomic(AtomicOp::Load { order }));
    let program = Program {
        objects: vec![Initial::Atomic(Scalar::U8, 0)],
        scripts: vec![vec![Step::Spawn(1), store], vec![Step::Spawn(2), load], vec![load]],
    };
    for reduction in [Reduction::Plain, Reduction::Optimised] {
        let right = DporClassic::new(reduction);
        assert_eq!(reached(&program, right.clone()).len(), 4);
        assert_eq!(reached(&program, right.with_mistake(Mistake::SleepIsMark)).len(), 3);
    }
}
