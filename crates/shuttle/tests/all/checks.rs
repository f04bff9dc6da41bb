//! The functions that run a test.

use std::fs;
use std::sync::atomic::{AtomicUsize as Real, Ordering::SeqCst};

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::sync::atomic::AtomicUsize;
use shuttle::{Config, FailurePersistence, MaxSteps, PortfolioRunner, Runner};

use crate::support::{failure, lost_update, token};

#[test]
fn every_strategy_finds_a_lost_update() {
    let strategies: [fn(); 5] = [
        || shuttle::check_random(lost_update, 1_000),
        || shuttle::check_random_with_seed(lost_update, 7, 1_000),
        || shuttle::check_pct(lost_update, 1_000, 2),
        || shuttle::check_urw(lost_update, 1_000),
        || shuttle::check_dfs(lost_update, None),
    ];
    for check in strategies {
        let report = failure(check).expect("a failure");
        assert!(report.contains("an update was lost"), "{report}");
    }
    // Threads that take turns do not lose it.
    assert!(failure(|| shuttle::check(|| _ = shuttle::thread::spawn(|| ()).join())).is_none());
}

/// The token is that of another test.
#[test]
fn a_failure_is_replayed_by_its_token_in_any_test() {
    let report = failure(|| shuttle::check_random(lost_update, 1_000)).expect("a failure");
    let token = token(&report);
    let other = std::thread::Builder::new().name("another test".to_owned());
    let again = other.spawn(move || failure(|| shuttle::replay(lost_update, &token)));
    let again = again.unwrap().join().unwrap().expect("a failure");
    assert!(again.contains("an update was lost"), "{again}");
    let refused = failure(|| shuttle::replay(lost_update, "910102ccdedf")).expect("no token");
    assert!(refused.contains("token"), "{refused}");
}

#[test]
fn a_token_can_be_kept_in_a_file() {
    let folder = std::env::temp_dir().join(format!("raddle-shuttle-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::File(Some(folder.clone()));
    let runner = Runner::new(RandomScheduler::new(1_000), config);
    failure(move || _ = runner.run(lost_update)).expect("a failure");
    let file = folder.join("schedule000.txt");
    let again = failure(|| shuttle::replay_from_file(lost_update, &file)).expect("a failure");
    assert!(again.contains("an update was lost"), "{again}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn executions_are_counted_and_limited() {
    let runner = Runner::new(RandomScheduler::new(25), Config::default());
    assert_eq!(runner.run(|| _ = shuttle::thread::spawn(|| ()).join()), 25);
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(20);
    let spin = || {
        let number = AtomicUsize::new(0);
        loop {
            number.fetch_add(1, SeqCst);
        }
    };
    let runner = Runner::new(RandomScheduler::new(2), config.clone());
    let report = failure(move || _ = runner.run(spin)).expect("a failure");
    assert!(report.contains("20 steps"), "{report}");
    config.max_steps = MaxSteps::ContinueAfter(20);
    Runner::new(RandomScheduler::new(2), config).run(spin);
}

#[test]
fn a_portfolio_runs_every_scheduler() {
    static RUNS: Real = Real::new(0);
    let mut portfolio = PortfolioRunner::new(true, Config::new());
    portfolio.add(RandomScheduler::new(5));
    portfolio.add(PctScheduler::new(2, 5));
    portfolio.run(|| {
        RUNS.fetch_add(1, SeqCst);
        shuttle::thread::spawn(|| ()).join().unwrap();
    });
    // Some executions are made twice.
    assert!(RUNS.load(SeqCst) >= 10);
    let mut portfolio = PortfolioRunner::new(false, Config::new());
    portfolio.add(RandomScheduler::new(1_000));
    assert!(failure(move || portfolio.run(lost_update)).is_some());
}

#[test]
fn hidden_state_is_uncontrolled_nondeterminism() {
    static COUNT: Real = Real::new(0);
    let report = failure(|| {
        shuttle::check_uncontrolled_nondeterminism(
            || {
                if COUNT.fetch_add(1, SeqCst) % 2 == 0 {
                    shuttle::thread::yield_now();
                }
                shuttle::thread::spawn(|| ()).join().unwrap();
            },
            50,
        );
    });
    assert!(report.expect("a failure").contains("not deterministic"));
}
