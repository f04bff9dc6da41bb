//! Loops that wait, on the back end that cannot tell the local state of a thread: no search claims more than it knows.
#![cfg(feature = "portable")]

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::{Config, Verdict, hint, thread};

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
    for strategy in ["dpor", "dpor-classic"] {
        let error = Config::new().strategy(strategy).try_run(flag);
        let error = error.expect_err("the loop is endless").to_string();
        assert!(error.contains("a search of everything does not end"), "{strategy}: {error}");
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
    for strategy in ["auto", "random", "pos-star", "pct:3"] {
        let report = Config::new().strategy(strategy).runs(200).run(flag);
        let claims = matches!(report.verdict, Verdict::Exhausted | Verdict::Failed(_));
        assert!(!claims, "{strategy}: {}", raddle::text(&report));
    }
}
