//! PCTWM on the examples of its paper, against its promise, and against the paper's algorithms.

// Many runs of safe code: Miri would take minutes and see nothing new.
#![cfg(not(miri))]

use std::collections::BTreeMap;

use raddle_engine::Rc11;
use raddle_explore::{Explorer, Repeat};
use raddle_strategy::{Pctwm, Rng, mix};
use raddle_testkit::litmus::run::{Litmus, graph_of};
use raddle_testkit::litmus::{Code, Instruction, Outcome, axioms, random_code};
use raddle_testkit::{explore_in, scaled};

mod reference;

const RUNS: u64 = 2000;

/// How often `outcome` comes of `code`, of [`RUNS`].
fn hits(code: &str, sampler: Pctwm, outcome: &str) -> u64 {
    let code: Code = code.parse().unwrap();
    let mut hits = 0;
    let explorer = Repeat::new(sampler, 1);
    explore_in(Rc11::default(), &mut Litmus, &code, explorer, RUNS, |trace| {
        hits += u64::from(graph_of(&code, trace).1.matches(outcome));
    });
    hits
}

/// Fewer than this many of [`RUNS`] would come with a chance of at least `probability` once in 10⁶
/// times at most (a normal approximation).
fn at_least(probability: f64) -> u64 {
    let runs = RUNS as f64;
    let deviation = (runs * probability * (1.0 - probability)).sqrt();
    (runs * probability - 4.8 * deviation).max(0.0) as u64
}

#[test]
fn without_communication_every_thread_keeps_to_itself() {
    assert_eq!(hits("Wx1;Ry | Wy1;Rx", Pctwm::new(0, 1), "0 0"), RUNS);
    assert_eq!(hits("Wx1;Wy1 | Ry;Rx", Pctwm::new(0, 1), "0 0"), RUNS);
}

#[test]
fn a_history_of_two_is_a_coin() {
    // Program P1 of the paper: one of the last two of many stores.
    for stores in [2, 5, 10] {
        let writer: Vec<String> = (1..=stores).map(|value| format!("Wx{value}")).collect();
        let code = format!("{} | Rx", writer.join(";"));
        let newest = hits(&code, Pctwm::with_events(1, 2, 1), &stores.to_string());
        let other = hits(&code, Pctwm::with_events(1, 2, 1), &(stores - 1).to_string());
        assert_eq!(newest + other, RUNS);
        assert!(newest >= at_least(0.5) && other >= at_least(0.5), "{newest} {other}");
        assert_eq!(hits(&code, Pctwm::with_events(1, 1, 1), &stores.to_string()), RUNS);
    }
}

#[test]
fn two_communications_pass_a_message_on() {
    // Program MP2: the bug has depth two.
    let code = "Wx1 | Rx;?1;Wy1 | Ry;?1;Rx";
    assert_eq!(hits(code, Pctwm::with_events(0, 1, 3), "1 1 0"), 0);
    assert_eq!(hits(code, Pctwm::with_events(1, 1, 3), "1 1 0"), 0);
    for history in [1, 2] {
        let ways = 3.0 * 2.0 * f64::from(history * history);
        let found = hits(code, Pctwm::with_events(2, history, 3), "1 1 0");
        assert!(found >= at_least(1.0 / ways), "{history}: {found}");
    }
}

#[test]
fn acquiring_brings_the_whole_view() {
    for history in 1..=3 {
        assert_eq!(hits("Wx1;Wy1r | Rya;Rx", Pctwm::new(1, history), "1 0"), 0);
        assert!(hits("Wx1;Wy1r | Ry;Rx", Pctwm::new(1, history), "1 0") > 0);
    }
}

#[test]
fn runs_are_executions_that_the_axioms_allow() {
    for case in 0..scaled(60) {
        let mut rng = Rng::new(mix(8, case));
        let code = random_code(&mut rng, 6, 500);
        let (depth, history) = (rng.below(4) as u32, 1 + rng.below(3) as u32);
        let allowed = axioms::consistent(&code);
        let explorer = Repeat::new(Pctwm::new(depth, history), case);
        explore_in(Rc11::default(), &mut Litmus, &code, explorer, 50, |trace| {
            let (graph, _) = graph_of(&code, trace);
            assert!(allowed.contains_key(&graph), "{code}: {graph:?}");
        });
    }
}

#[test]
fn the_promise_counts_runs_that_keep_it() {
    let guarantees = |code: &str, sampler: Pctwm| {
        let code: Code = code.parse().unwrap();
        let mut explorer = Repeat::new(sampler, 3);
        explore_in(Rc11::default(), &mut Litmus, &code, &mut explorer, 101, |_| {});
        explorer.guarantees()
    };
    // The first run is to learn how many communication events there are: two.
    let [promise] = &guarantees("Wx1;Ry | Wy1;Rx", Pctwm::new(1, 2))[..] else { panic!() };
    assert_eq!((promise.depth, promise.steps, promise.history), (1, 2, Some(2)));
    assert_eq!(promise.runs, 100);
    assert!((promise.escape - 0.75f64.powi(100)).abs() < 1e-12, "{promise:?}");
    // With places to be drawn there is none, nor with more sinks than events.
    assert!(guarantees("Wx1 | Wx2", Pctwm::with_events(0, 1, 1)).iter().all(|p| p.runs < 101));
    assert!(guarantees("Wx1 | Rx", Pctwm::new(2, 1)).is_empty());
}

/// How many communication events a program has at most.
fn communication(code: &Code) -> usize {
    let communicates = |instruction: &&Instruction| match instruction {
        Instruction::Fence(order) => order.acquires(),
        Instruction::Store(_, _, order) => *order == raddle_core::Order::SeqCst,
        other => other.reads(),
    };
    code.threads.iter().flatten().filter(communicates).count()
}

/// How often each outcome comes, of [`RUNS`].
fn frequencies(code: &Code, sampler: Pctwm, seed: u64) -> BTreeMap<Outcome, u64> {
    let mut seen = BTreeMap::new();
    explore_in(Rc11::default(), &mut Litmus, code, Repeat::new(sampler, seed), RUNS, |trace| {
        *seen.entry(graph_of(code, trace).1).or_insert(0) += 1;
    });
    seen
}

/// Holds the strategy against all draws of the paper's algorithms.
fn assert_agrees(code: &Code, depth: usize, history: usize, seed: u64) {
    let events = communication(code).max(depth);
    let exact = reference::distribution(code, depth, history, events);
    let all: f64 = exact.values().sum();
    assert!((all - 1.0).abs() < 1e-9, "{code}: {all}");
    let sampler = Pctwm::with_events(depth as u32, history as u32, events);
    let seen = frequencies(code, sampler, seed);
    for (outcome, &likelihood) in &exact {
        let expected = RUNS as f64 * likelihood;
        let hits = seen.get(outcome).copied().unwrap_or(0) as f64;
        let deviation = (expected * (1.0 - likelihood)).sqrt();
        let far = (hits - expected).abs() > 5.5 * deviation + 5.0;
        assert!(!far, "{code}, d {depth}, h {history}: {outcome:?}: {hits} for {expected}");
    }
    let strange = seen.keys().find(|outcome| !exact.contains_key(outcome));
    assert_eq!(strange, None, "{code}, d {depth}, h {history}");
}

#[test]
fn it_draws_as_the_papers_algorithms_do() {
    for code in [
        "Wx1;Ry | Wy1;Rx",
        "Wx1;Fr;Wy1 | Ry;Fa;Rx",
        "Wx1 | Rx;?1;Wy1 | Ry;?1;Rx",
        "Ux+1q | Ux+1q | Rxa",
        "Wx1s;Rys | Wy1s;Rxs",
        "Wx1;Wy1r | Uy+1 | Rya;Rx",
    ] {
        let code: Code = code.parse().unwrap();
        for (depth, history) in [(0, 1), (1, 1), (1, 2), (2, 1), (2, 3), (3, 2)] {
            assert_agrees(&code, depth, history, 11);
        }
    }
    for case in 0..scaled(25) {
        let mut rng = Rng::new(mix(12, case));
        let code = random_code(&mut rng, 6, 500);
        assert_agrees(&code, rng.below(3), 1 + rng.below(3), case);
    }
}
