//! PCTWM on the examples of its paper, against its guarantee, and against the paper's algorithms.

// Many runs of safe code: Miri would take minutes and check nothing new.
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

/// Returns the number of runs, of [`RUNS`], in which `code` has `outcome`.
fn hits(code: &str, sampler: Pctwm, outcome: &str) -> u64 {
    let code: Code = code.parse().unwrap();
    let mut hits = 0;
    let explorer = Repeat::new(sampler, 1);
    explore_in(Rc11::default(), &mut Litmus, &code, explorer, RUNS, |trace| {
        hits += u64::from(graph_of(&code, trace).1.matches(outcome));
    });
    hits
}

/// Returns a lower limit for the number of hits in [`RUNS`]. If a hit has at least this probability, fewer hits have a
/// probability below 10⁻⁶ (by a normal approximation).
fn at_least(probability: f64) -> u64 {
    let runs = RUNS as f64;
    let deviation = (runs * probability * (1.0 - probability)).sqrt();
    (runs * probability - 4.8 * deviation).max(0.0) as u64
}

#[test]
fn at_depth_zero_threads_read_their_own_views() {
    assert_eq!(hits("Wx1;Ry | Wy1;Rx", Pctwm::new(0, 1), "0 0"), RUNS);
    assert_eq!(hits("Wx1;Wy1 | Ry;Rx", Pctwm::new(0, 1), "0 0"), RUNS);
}

#[test]
fn a_history_of_two_draws_one_of_two_stores() {
    // Program P1 of the paper: the load reads one of the last two stores.
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
fn message_passing_through_a_third_thread_has_depth_two() {
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
fn fixed_sinks_are_the_same_in_every_run() {
    // Message passing with relaxed accesses: the load of the flag has to communicate, the other must not.
    let code = "Wx1;Wy1 | Ry;Rx";
    let fixed = [1, 2].map(|sink| hits(code, Pctwm::with_sinks(1, &[sink]), "1 0"));
    assert_eq!(fixed, [RUNS, 0]);
    let redrawn = hits(code, Pctwm::with_events(1, 1, 2), "1 0");
    assert!(redrawn >= at_least(0.5) && RUNS - redrawn >= at_least(0.5), "{redrawn}");
}

#[test]
fn an_acquire_load_joins_the_whole_view() {
    for history in 1..=3 {
        assert_eq!(hits("Wx1;Wy1r | Rya;Rx", Pctwm::new(1, history), "1 0"), 0);
        assert!(hits("Wx1;Wy1r | Ry;Rx", Pctwm::new(1, history), "1 0") > 0);
    }
}

#[test]
fn the_axioms_allow_every_run() {
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
fn the_guarantee_counts_qualifying_runs() {
    let guarantees = |code: &str, sampler: Pctwm| {
        let code: Code = code.parse().unwrap();
        let mut explorer = Repeat::new(sampler, 3);
        explore_in(Rc11::default(), &mut Litmus, &code, &mut explorer, 101, |_| {});
        explorer.guarantees()
    };
    // The first run counts the communication events: two.
    let [guarantee] = &guarantees("Wx1;Ry | Wy1;Rx", Pctwm::new(1, 2))[..] else { panic!() };
    assert_eq!((guarantee.depth, guarantee.steps, guarantee.history), (1, 2, Some(2)));
    assert_eq!(guarantee.runs, 100);
    assert!((guarantee.escape - 0.75f64.powi(100)).abs() < 1e-12, "{guarantee:?}");
    // Runs in which places are drawn do not qualify, nor do runs with more sinks than events.
    assert!(guarantees("Wx1 | Wx2", Pctwm::with_events(0, 1, 1)).iter().all(|p| p.runs < 101));
    assert!(guarantees("Wx1 | Rx", Pctwm::new(2, 1)).is_empty());
}

/// Returns the maximal number of communication events of a program.
fn communication_events(code: &Code) -> usize {
    let communicates = |instruction: &&Instruction| match instruction {
        Instruction::Fence(order) => order.acquires(),
        Instruction::Store(_, _, order) => *order == raddle_core::Order::SeqCst,
        other => other.reads(),
    };
    code.threads.iter().flatten().filter(communicates).count()
}

/// Returns the number of runs, of [`RUNS`], with each outcome.
fn frequencies(code: &Code, sampler: Pctwm, seed: u64) -> BTreeMap<Outcome, u64> {
    let mut seen = BTreeMap::new();
    explore_in(Rc11::default(), &mut Litmus, code, Repeat::new(sampler, seed), RUNS, |trace| {
        *seen.entry(graph_of(code, trace).1).or_insert(0) += 1;
    });
    seen
}

/// Asserts that the frequencies of the strategy agree with the distribution of the paper's algorithms.
fn assert_agrees(code: &Code, depth: usize, history: usize, seed: u64) {
    let events = communication_events(code).max(depth);
    let exact = reference::distribution(code, depth, history, events);
    let total: f64 = exact.values().sum();
    assert!((total - 1.0).abs() < 1e-9, "{code}: {total}");
    let sampler = Pctwm::with_events(depth as u32, history as u32, events);
    let seen = frequencies(code, sampler, seed);
    for (outcome, &probability) in &exact {
        let expected = RUNS as f64 * probability;
        let hits = seen.get(outcome).copied().unwrap_or(0) as f64;
        let deviation = (expected * (1.0 - probability)).max(0.0).sqrt();
        let is_close = (hits - expected).abs() <= 5.5 * deviation + 5.0;
        assert!(is_close, "{code}, d {depth}, h {history}: {outcome:?}: {hits} for {expected}");
    }
    let unexpected = seen.keys().find(|outcome| !exact.contains_key(outcome));
    assert_eq!(unexpected, None, "{code}, d {depth}, h {history}");
}

#[test]
fn frequencies_agree_with_the_papers_algorithms() {
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
