//! The memory model RC11 against the axioms: exactly the same executions.

// Many runs of safe code: Miri would take minutes and check nothing new.
#![cfg(not(miri))]

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{Ending, MemoryModel};
use raddle_engine::{Mistake, Rc11};
use raddle_explore::{Graphs, Repeat, Replay};
use raddle_strategy::{Pct, Pctwm, Pos, Random, Rng, Sampler, mix};
use raddle_testkit::litmus::run::{Litmus, graph_of};
use raddle_testkit::litmus::table::{MORE, TESTS, Verdict};
use raddle_testkit::litmus::{Code, Graph, Outcome, axioms, random_code, shrink_code};
use raddle_testkit::{explore_in, scaled};

/// Returns all executions that a search finds.
fn search(code: &Code) -> BTreeMap<Graph, Outcome> {
    let (found, fingerprints) = search_under(Rc11::default(), code);
    assert_eq!(fingerprints, found.len(), "one fingerprint for every graph of {code}");
    found
}

/// Returns all executions that a search finds under `memory`, and the number of their fingerprints.
fn search_under(memory: Rc11, code: &Code) -> (BTreeMap<Graph, Outcome>, usize) {
    let mut found = BTreeMap::new();
    let mut fingerprints = BTreeSet::new();
    explore_in(memory, &mut Litmus, code, Graphs::default(), u64::MAX, |trace| {
        if trace.ending != Ending::Abandoned {
            assert_eq!(trace.ending, Ending::Finished);
            let (graph, outcome) = graph_of(code, trace);
            fingerprints.insert(trace.fingerprint);
            found.insert(graph, outcome);
        }
    });
    (found, fingerprints.len())
}

#[test]
fn every_litmus_test_has_its_verdict_and_number_of_executions() {
    let mut wrong = Vec::new();
    for test in TESTS.iter().chain(MORE) {
        let code: Code = test.code.parse().unwrap();
        let found = search(&code);
        let is_seen = found.values().any(|outcome| outcome.matches(test.outcome));
        let verdict = if is_seen { Verdict::Allowed } else { Verdict::Forbidden };
        if (verdict, found.len()) != (test.verdict, test.graphs) {
            wrong.push(format!("{}: {verdict:?} {}", test.name, found.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn additions_to_one_variable_have_one_execution_per_order() {
    for (threads, orders) in [(2, 2), (3, 6), (4, 24), (5, 120), (6, 720)] {
        let code: Code = vec!["Ux+1"; threads].join("|").parse().unwrap();
        assert_eq!(search(&code).len(), orders);
    }
}

/// Describes how the executions found differ from those that the axioms allow. Returns `None` if they do not.
fn difference(code: &Code) -> Option<String> {
    let (found, allowed) = (search(code), axioms::consistent(code));
    if found == allowed {
        return None;
    }
    let missing = allowed.iter().find(|(graph, _)| !found.contains_key(graph));
    let excess = found.iter().find(|(graph, _)| !allowed.contains_key(graph));
    Some(format!(
        "{code}: {} found, {} allowed\nmissing {missing:?}\nforbidden {excess:?}",
        found.len(),
        allowed.len()
    ))
}

#[test]
fn random_programs_have_the_executions_that_the_axioms_allow() {
    let cases = scaled(2000);
    // Large scales include programs with many combinations.
    let combinations = if cases > 2000 { 200_000 } else { 300 };
    for case in 0..cases {
        let code = random_code(&mut Rng::new(mix(6, case)), 8, combinations);
        if difference(&code).is_some() {
            let smallest = shrink_code(code, |code| difference(code).is_some());
            panic!("case {case}: {}", difference(&smallest).unwrap_or_default());
        }
    }
}

/// Samples executions of small random programs. Asserts that the axioms allow them, and that all allowed executions are
/// found if there are few.
fn assert_samples<S: Sampler + Clone>(cases: u64, seed: u64, sampler: impl Fn(&Code) -> S) {
    for case in 0..scaled(cases) {
        let code = random_code(&mut Rng::new(mix(seed, case)), 5, 500);
        let allowed = axioms::consistent(&code);
        let mut found = BTreeMap::new();
        let is_small = allowed.len() <= 12;
        let runs = if is_small { 3000 } else { 50 };
        let explorer = Repeat::new(sampler(&code), case);
        explore_in(Rc11::default(), &mut Litmus, &code, explorer, runs, |trace| {
            let (graph, outcome) = graph_of(&code, trace);
            found.insert(graph, outcome);
        });
        let excess = found.iter().find(|(graph, _)| !allowed.contains_key(graph));
        assert_eq!(excess, None, "{code}");
        assert!(!is_small || found.len() == allowed.len(), "{code}: {} found", found.len());
    }
}

#[test]
fn samplers_reach_every_execution_of_small_programs_and_no_other() {
    assert_samples(40, 7, |_| Random::default());
    assert_samples(8, 9, |_| Pct::new(3));
    assert_samples(8, 10, |_| Pos::plain());
    // Every event is a sink, and may read any store.
    assert_samples(8, 11, |code| {
        let events = code.threads.iter().map(Vec::len).sum::<usize>();
        Pctwm::with_events(events as u32, 8, events)
    });
}

#[test]
fn a_replayed_run_is_the_same() {
    for case in 0..scaled(200) {
        let code = random_code(&mut Rng::new(mix(13, case)), 8, 100_000);
        let mut traces = Vec::new();
        let walk = Repeat::new(Random::default(), case);
        explore_in(Rc11::default(), &mut Litmus, &code, walk, 5, |trace| {
            traces.push(trace.clone())
        });
        for trace in traces {
            let replay = Replay::of(&trace, MemoryModel::Rc11, 1000);
            let again = replay.run(&mut Litmus, &code);
            assert_eq!(again, trace, "{code}");
        }
    }
}

#[test]
fn every_mistake_is_caught_by_a_litmus_test() {
    for mistake in [
        Mistake::NoAtomicity,
        Mistake::OldReleaseSequences,
        Mistake::ScIsAcqRel,
        Mistake::NoFences,
        Mistake::GreedyFences,
        Mistake::StoresInOrder,
        Mistake::FreshFailures,
        Mistake::ShortHistory(2),
    ] {
        let is_caught = TESTS.iter().chain(MORE).any(|test| {
            let code: Code = test.code.parse().unwrap();
            search_under(Rc11::with_mistake(mistake), &code).0.len() != test.graphs
        });
        assert!(is_caught, "{mistake:?}");
    }
}
