//! Bounded reduction reaches exactly the classes that have an execution within the bound.

use std::collections::BTreeMap;

use raddle_core::Ending;
use raddle_explore::{Bound, BoundedDfs, Bpor, Counts, Explorer, Limit, Reduction};
use raddle_testkit::{Interpreter, Kind, Program, Shape, explore, for_all, scaled};

use super::brute::{self, Class, class_of, preemptions, within};

/// Programs with more interleavings are skipped.
const LIMIT: u64 = 600;

/// Returns every class with the cost of its cheapest execution. Returns `None` if there are too many executions.
pub(crate) fn cheapest(program: &Program) -> Option<BTreeMap<Class, u32>> {
    let mut found = BTreeMap::new();
    let all = brute::executions(program, LIMIT, &|_| true, &mut |world, moments| {
        let cost = preemptions(moments);
        let known = found.entry(class_of(world)).or_insert(cost);
        *known = cost.min(*known);
    });
    all.then_some(found)
}

/// Returns the classes that `explorer` reaches, with the number of runs of each.
pub(crate) fn reached(program: &Program, explorer: impl Explorer) -> BTreeMap<Class, u32> {
    let mut found = BTreeMap::new();
    explore(&mut Interpreter, program, explorer, u64::MAX, |trace| {
        if trace.ending != Ending::Abandoned {
            *found.entry(brute::replay(program, trace).1).or_default() += 1;
        }
    });
    found
}

fn runs(program: &Program, explorer: impl Explorer) -> u64 {
    explore(&mut Interpreter, program, explorer, u64::MAX, |_| {}).expect("there is no limit")
}

/// Totals over all programs.
#[derive(Default, Debug)]
struct Tally {
    programs: u64,
    bounds: u64,
    classes: u64,
    bounded: u64,
    reduced: u64,
    blocked: u64,
    conservative: u64,
}

fn check(program: &Program, reduction: Reduction, tally: &mut Tally) -> Result<(), String> {
    let Some(classes) = cheapest(program) else { return Ok(()) };
    tally.programs += u64::from(classes.len() > 1);
    for bound in 0.. {
        let mut explorer = Bpor::new(Bound::preemptions(bound), reduction);
        let found = reached(program, &mut explorer);
        let counts = explorer.counts();
        let within = |class: &&Class| classes[*class] <= bound;
        if let Some(stray) = found.keys().find(|class| !within(class)) {
            return Err(format!("bound {bound}: {stray:?} is not within the bound"));
        }
        if let Some(missed) = classes.keys().filter(within).find(|class| !found.contains_key(class))
        {
            return Err(format!("bound {bound}: misses {missed:?}; {counts:?}"));
        }
        let bounded = runs(program, BoundedDfs::new(Limit::Preemptions(bound)));
        if counts.runs > bounded {
            return Err(format!("bound {bound}: {counts:?}, but {bounded} by bounded search"));
        }
        tally.bounds += 1;
        tally.classes += found.len() as u64;
        tally.bounded += bounded;
        tally.reduced += counts.runs;
        tally.blocked += counts.blocked;
        tally.conservative += counts.conservative;
        if !counts.pruned {
            return same_as_classic(program, reduction, counts, &classes);
        }
    }
    unreachable!("no bound is large enough")
}

/// Checks that a bound that pruned nothing needs as many runs as no bound.
fn same_as_classic(
    program: &Program,
    reduction: Reduction,
    counts: Counts,
    classes: &BTreeMap<Class, u32>,
) -> Result<(), String> {
    let mut explorer = Bpor::new(Bound::NONE, reduction);
    if reached(program, &mut explorer).len() != classes.len() {
        return Err("nothing was pruned, but classes are missing".into());
    }
    let classic = explorer.counts();
    let same = (classic.runs, classic.blocked) == (counts.runs, counts.blocked);
    if reduction == Reduction::Optimised && !same {
        return Err(format!("{counts:?}, but without a bound {classic:?}"));
    }
    Ok(())
}

fn check_many(seed: u64, cases: u64, shape: &Shape, reduction: Reduction) {
    let mut tally = Tally::default();
    for_all(seed, scaled(cases), shape, |program, _| check(program, reduction, &mut tally));
    println!("{reduction:?}: {tally:?}");
    assert!(
        tally.programs * 5 >= scaled(cases),
        "too many programs are too large or have one class"
    );
}

#[test]
fn preemption_bounded_reduction_reaches_the_classes_within_the_bound() {
    check_many(31, 300, &Shape::small(), Reduction::Optimised);
    check_many(32, 150, &Shape::small(), Reduction::Plain);
}

#[test]
fn reduction_reaches_the_classes_of_readers() {
    let shape =
        Shape { kinds: vec![Kind::Readers], kinds_at_once: 1, scripts: 4, pieces: 1, panics: 0 };
    check_many(38, 100, &shape, Reduction::Optimised);
    check_many(39, 50, &shape, Reduction::Plain);
}

#[test]
fn reduction_reaches_panics() {
    let kinds = vec![Kind::Atomic, Kind::Thread, Kind::Park, Kind::Mutex, Kind::Alone];
    let shape = Shape { kinds, kinds_at_once: 2, scripts: 4, pieces: 1, panics: 3 };
    check_many(33, 150, &shape, Reduction::Optimised);
    check_many(34, 50, &shape, Reduction::Plain);
}

/// Programs with too many executions for brute force without a bound.
#[test]
fn larger_programs_with_small_bounds() {
    let mut shapes = vec![busy(), Shape::small()];
    shapes.push(Shape { scripts: 4, pieces: 3, ..Shape::small() });
    for (place, shape) in shapes.iter().enumerate() {
        let (mut checks, mut classes, mut runs) = (0, 0, 0);
        for_all(35 + place as u64, scaled(60), shape, |program, _| {
            for bound in [0, 1, 2].map(Bound::preemptions) {
                let Some((expected, executions)) = within(program, bound, LIMIT) else { break };
                for reduction in [Reduction::Optimised, Reduction::Plain] {
                    let mut explorer = Bpor::new(bound, reduction);
                    let found = reached(program, &mut explorer);
                    let counts = explorer.counts();
                    if !found.keys().eq(&expected) || counts.runs > executions {
                        let all = expected.len();
                        return Err(format!("{bound:?}: {all} classes, {executions}; {counts:?}"));
                    }
                    (checks, classes, runs) =
                        (checks + 1, classes + all(&found), runs + counts.runs);
                }
            }
            Ok(())
        });
        println!("{checks} searches, {classes} classes, {runs} runs");
        assert!(checks > scaled(60), "too many programs are too large");
    }
}

fn all(found: &BTreeMap<Class, u32>) -> u64 {
    found.len() as u64
}

/// Returns the shape of programs with three threads on few objects.
pub(crate) fn busy() -> Shape {
    let kinds = vec![Kind::Atomic, Kind::Mutex];
    Shape { kinds, kinds_at_once: 2, scripts: 4, pieces: 2, panics: 0 }
}
