//! Helpers for tests of the mirror: a program behaves as with `std`, or has a bug that is found.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use raddle::{Config, Finding, Granularity, Verdict};

/// Asserts that `program` returns the same value outside a run and in executions of several strategies.
pub(crate) fn same_as_std<T: PartialEq + Debug + Send + Sync + 'static>(program: fn() -> T) -> T {
    same_as_std_under(&["random", "round-robin", "pct:3"], program)
}

pub(crate) fn same_as_std_under<T: PartialEq + Debug + Send + Sync + 'static>(
    strategies: &[&str],
    program: fn() -> T,
) -> T {
    let outside = Arc::new(program());
    // Miri cannot switch stacks.
    let strategies = if cfg!(miri) { &[] } else { strategies };
    for &strategy in strategies {
        let expected = outside.clone();
        let report = Config::new()
            .strategy(strategy)
            .runs(100)
            .explore_trivial(true)
            .granularity(Granularity::All)
            .run(move || assert_eq!(program(), *expected));
        assert!(report.failure().is_none(), "{}", raddle::text(&report));
        let runs = if strategy == "round-robin" { 1 } else { 100 };
        assert_eq!(report.executions, runs);
    }
    Arc::into_inner(outside).expect("the runs have ended")
}

/// Explores every execution of `program`, none of which fails. Returns their number.
pub(crate) fn exhaust(program: fn()) -> u64 {
    let report = Config::new().strategy("dfs").run(program);
    assert!(
        matches!(report.verdict, Verdict::Exhausted | Verdict::NothingToExplore),
        "{}",
        raddle::text(&report)
    );
    let sampled = Config::new().runs(200).run(program);
    assert!(sampled.failure().is_none(), "{}", raddle::text(&sampled));
    report.executions
}

/// Returns the failure of `program`, which a search and sampling must find and a replay must reproduce.
pub(crate) fn failure(program: fn()) -> Finding {
    let searched = Config::new().name("search").strategy("dfs").run(program);
    assert!(searched.failure().is_some(), "{}", raddle::text(&searched));
    let report = Config::new().name("random").run(program);
    let found = report.failure().expect("there is a bug");
    assert!(found.reproduced, "{}", raddle::text(&report));
    let again = Config::new().name("random").replay(&found.token).run(program);
    assert!((1..=report.threads).contains(&again.threads), "{again:?}");
    let replayed = again.failure().unwrap_or_else(|| panic!("no failure: {again:?}"));
    assert_eq!((&replayed.finding, &replayed.trace), (&found.finding, &found.trace));
    found.finding.clone()
}

/// Returns, for each waiting thread in the deadlock of `program`, its id and whether it is in a cycle.
pub(crate) fn deadlock(program: fn()) -> Vec<(u32, bool)> {
    let Finding::Deadlock(waits) = failure(program) else { panic!("not a deadlock") };
    let mut waits: Vec<_> = waits.iter().map(|wait| (wait.thread.0, wait.in_cycle)).collect();
    waits.sort();
    waits
}

/// Returns the message of the panic of `f`.
pub(crate) fn message<R>(f: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => "no panic".into(),
        Err(payload) => match payload.downcast::<String>() {
            Ok(text) => *text,
            Err(payload) => payload.downcast_ref::<&str>().copied().unwrap_or("no text").into(),
        },
    }
}
