//! Loops that wait, on the back end that cannot tell the local state of a thread: no search claims more than it knows.
#![cfg(feature = "portable")]

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::{Config, Memory, Verdict, hint, thread};

fn flag() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = flag.clone();
    let writer = thread::spawn(move || other.store(true, SeqCst));
    while !flag.load(SeqCst) {
        hint::spin_loop();
    }
    writer.join().unwrap();
}

#[test]
fn searches_refuse_endless_loops() {
    let searches =
        [(Memory::Sc, &["dpor", "dpor-classic", "dfs"][..]), (Memory::Rc11, &["dpor", "dfs"])];
    for (memory, strategies) in searches {
        for strategy in strategies {
            let config = Config::new().strategy(*strategy).memory(memory).max_steps(3_000);
            let error = config.try_run(flag).expect_err("the loop is endless").to_string();
            let text = "a search of everything does not end";
            assert!(error.contains(text), "{strategy} {memory:?}: {error}");
        }
    }
}

#[test]
fn fair_bounds_leave_long_loops_out() {
    for strategy in ["bpor:fair:1", "bpor:2:fair:1", "dfs:fair:1"] {
        let report = Config::new().strategy(strategy).run(flag);
        assert!(matches!(report.verdict, Verdict::Bounded(_)), "{}", raddle::text(&report));
    }
}

#[test]
fn no_other_strategy_claims_everything() {
    for memory in [Memory::Sc, Memory::Rc11] {
        for strategy in ["auto", "random", "pos-star", "pct:3"] {
            let report = Config::new().strategy(strategy).memory(memory).runs(200).run(flag);
            let claims = matches!(report.verdict, Verdict::Exhausted | Verdict::Failed(_));
            assert!(!claims, "{strategy} {memory:?}: {}", raddle::text(&report));
        }
    }
}
