//! Mistakes made on purpose are found by the checks that the real thing passes.

use std::collections::BTreeSet;

use raddle_explore::{Bound, Bpor, Mistake, Reduction};
use raddle_strategy::{Rng, mix};
use raddle_testkit::{Kind, Program, Shape};

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
        Mistake::SleepIsMark,
        Mistake::NoReads,
        Mistake::PerformedOnly,
        Mistake::NoReleases,
        Mistake::NoBlockStart,
    ] {
        for reduction in [Reduction::Plain, Reduction::Optimised] {
            first_missed(mistake, reduction, 5000, |rng| shape.generate(rng), by_preemptions);
        }
    }
}

#[test]
fn mistakes_with_the_fair_bound_are_found() {
    for reduction in [Reduction::Plain, Reduction::Optimised] {
        first_missed(Mistake::NoEnabledness, reduction, 5000, fair::spinning, with_both);
    }
}
