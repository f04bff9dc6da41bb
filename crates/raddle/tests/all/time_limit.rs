//! The time limit is kept inside of executions too.

use std::time::Duration;

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::{Config, Memory, Verdict, thread};

use super::support::watched;

/// Strategies of every kind: uniform draws, leases, other samplers, searches, plans.
const STRATEGIES: [&str; 10] = [
    "random",
    "pct:3",
    "pos-star",
    "surw",
    "portfolio:random+pct:2",
    "dfs",
    "dpor",
    "bpor:2",
    "bpor:0-2",
    "auto",
];

const LIMIT: Duration = Duration::from_millis(50);

/// Two threads that make far more steps than fit the limit.
fn long(pause: Duration) {
    let count = Arc::new(AtomicUsize::new(0));
    let work = move |count: &AtomicUsize| {
        for _ in 0..u64::MAX {
            count.fetch_add(1, SeqCst);
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
        }
    };
    let other = thread::spawn({
        let count = count.clone();
        move || work(&count)
    });
    work(&count);
    other.join().unwrap();
}

fn config(strategy: &str) -> Config {
    Config::new().strategy(strategy).time(LIMIT).max_steps(1 << 40)
}

#[test]
fn an_execution_that_takes_too_long_is_cut_off() {
    watched("cut off", || {
        for strategy in STRATEGIES {
            // `auto` and searches have step limits of their own, which slow steps do not reach in time.
            let pause = Duration::from_millis(10);
            let error = config(strategy).try_run(move || long(pause)).expect_err(strategy);
            let text = error.to_string();
            assert!(text.contains("did not end within the time limit of 50ms"), "{text}");
        }
    });
}

#[test]
fn fast_steps_are_cut_off_too() {
    watched("fast steps", || {
        for strategy in ["random", "pct:3", "pos-star", "dpor", "dfs"] {
            let error = config(strategy).try_run(|| long(Duration::ZERO)).expect_err(strategy);
            assert!(error.to_string().contains("did not end within"), "{strategy}: {error}");
        }
    });
}

#[test]
fn a_later_execution_that_takes_too_long_is_counted_apart() {
    watched("later", || {
        for (strategy, memory) in [
            ("dfs", Memory::Sc),
            ("dpor", Memory::Sc),
            ("dpor", Memory::Rc11),
            ("auto", Memory::Sc),
            ("auto", Memory::Rc11),
        ] {
            let report = config(strategy).memory(memory).run(|| {
                if raddle::choose(2) == 1 {
                    long(Duration::from_millis(5));
                }
            });
            assert!(matches!(report.verdict, Verdict::Sampled), "{strategy}: {report:?}");
            assert!(report.incomplete.out_of_time >= 1, "{strategy}: {report:?}");
            assert!(report.executions + report.probes >= 1, "{strategy}: {report:?}");
            let text = raddle::text(&report);
            assert!(text.contains("cut off by the time limit"), "{text}");
        }
    });
}

/// Slow executions with few steps each: the clock is read after each of them.
#[test]
fn the_clock_is_read_after_every_slow_execution() {
    watched("slow executions", || {
        let report = Config::new().strategy("random").time(LIMIT).run(|| {
            let other = thread::spawn(thread::yield_now);
            std::thread::sleep(LIMIT / 5);
            thread::yield_now();
            other.join().unwrap();
        });
        assert!(report.executions <= 6, "{}", report.executions);
    });
}
