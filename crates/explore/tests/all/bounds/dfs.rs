//! Bounded depth-first search makes exactly the runs that brute force finds within the bound.

use std::collections::BTreeMap;

use raddle_explore::{Bound, BoundedDfs, Bpor, Explorer, Limit, Reduction};
use raddle_testkit::{Interpreter, Kind, Program, Shape, explore, for_all, scaled};

use super::brute::{self, delays, path, preemptions};

/// Programs with more interleavings are skipped.
const LIMIT: u64 = 300;

/// Returns the executions by cost, each as the order of its threads. Returns `None` if there are too many.
fn by_cost(
    program: &Program,
    cost: impl Fn(&[brute::Moment]) -> u32,
) -> Option<BTreeMap<u32, Vec<Vec<u32>>>> {
    let mut found: BTreeMap<u32, Vec<Vec<u32>>> = BTreeMap::new();
    let all = brute::executions(program, LIMIT, &|_| true, &mut |_, moments| {
        let threads = moments.iter().map(|moment| moment.thread).collect();
        found.entry(cost(moments)).or_default().push(threads);
    });
    all.then_some(found)
}

fn check(program: &Program, kind: fn(u32) -> Limit) -> Result<u32, String> {
    let mut bound = 0;
    loop {
        let mut numbers = BTreeMap::new();
        let mut runs = Vec::new();
        let mut explorer = BoundedDfs::new(kind(bound));
        let made = explore(&mut Interpreter, program, &mut explorer, LIMIT, |trace| {
            let paths = |id| path(trace, id);
            numbers.extend(trace.threads.iter().map(|info| (paths(info.id), info.id)));
            runs.push(trace.events.iter().map(|event| paths(event.id.thread)).collect::<Vec<_>>());
        });
        if made.is_none() {
            return Ok(0);
        }
        let cost = |moments: &[brute::Moment]| match kind(bound) {
            Limit::Preemptions(_) => preemptions(moments),
            Limit::Delays(_) => delays(moments, &numbers),
        };
        let Some(found) = by_cost(program, cost) else { return Ok(0) };
        let mut expected: Vec<_> = found.range(..=bound).flat_map(|(_, runs)| runs).collect();
        expected.sort_unstable();
        runs.sort_unstable();
        if !runs.iter().eq(expected.iter().copied()) {
            return Err(format!("bound {bound}: {} runs, not {}", runs.len(), expected.len()));
        }
        let max = *found.keys().last().expect("there is an execution");
        if explorer.pruned() != (bound < max) {
            return Err(format!("bound {bound}: pruned is {}", explorer.pruned()));
        }
        if bound > max {
            return Ok(max);
        }
        bound += 1;
    }
}

fn check_many(seed: u64, kind: fn(u32) -> Limit) {
    let mut costs = BTreeMap::new();
    let count = |costs: &mut BTreeMap<u32, u64>, max| *costs.entry(max).or_default() += 1;
    for_all(seed, scaled(250), &Shape::small(), |program, _| {
        count(&mut costs, check(program, kind)?);
        Ok(())
    });
    let kinds = vec![Kind::Atomic, Kind::Thread, Kind::Park];
    let shape = Shape { kinds, kinds_at_once: 3, scripts: 4, pieces: 1, panics: 3 };
    for_all(seed, scaled(100), &shape, |program, _| {
        count(&mut costs, check(program, kind)?);
        Ok(())
    });
    println!("programs by the maximal cost of their executions: {costs:?}");
    assert!(costs.range(2..).map(|(_, programs)| programs).sum::<u64>() * 4 >= scaled(350));
}

#[test]
fn preemption_bounded_search_is_brute_force_within_the_bound() {
    check_many(11, Limit::Preemptions);
}

#[test]
fn delay_bounded_search_is_brute_force_within_the_bound() {
    check_many(12, Limit::Delays);
}

/// Two implementations of the same search: one for preemptions alone, one for all bounds.
#[test]
fn bounded_search_without_reduction_is_depth_first_search() {
    fn classes(program: &Program, explorer: impl Explorer) -> Option<Vec<u64>> {
        let mut classes = Vec::new();
        explore(&mut Interpreter, program, explorer, LIMIT, |trace| {
            classes.push(trace.fingerprint)
        })?;
        classes.sort_unstable();
        Some(classes)
    }
    for_all(43, scaled(300), &Shape::small(), |program, _| {
        for bound in 0..3 {
            let plain = classes(program, BoundedDfs::new(Limit::Preemptions(bound)));
            let general = classes(program, Bpor::new(Bound::preemptions(bound), Reduction::None));
            if plain != general {
                return Err(format!("bound {bound}: {plain:?}, but {general:?}"));
            }
        }
        Ok(())
    });
}
