//! State that threads share and raddle does not see: searches claim nothing.

use std::sync::atomic::AtomicUsize as StdAtomicUsize;
use std::time::Duration;

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Memory, Report, Verdict, thread};

/// Two threads each take a lock of their own. Whether the second does one more step depends on an atomic of
/// `std`.
fn shares_an_atomic_of_std() {
    let shared = Arc::new((StdAtomicUsize::new(0), Mutex::new(()), AtomicUsize::new(0)));
    let other = thread::spawn({
        let shared = shared.clone();
        move || {
            drop(shared.1.lock());
            shared.0.store(1, SeqCst);
            drop(shared.1.lock());
        }
    });
    shared.2.load(SeqCst);
    if shared.0.load(SeqCst) == 1 {
        shared.2.load(SeqCst);
    }
    other.join().unwrap();
}

fn claims_nothing(report: &Report) {
    let text = raddle::text(report);
    assert!(matches!(report.verdict, Verdict::Sampled), "{text}");
    let hidden = report.hidden_state.as_ref().expect("the difference is reported");
    assert_ne!(hidden.before, hidden.after);
    assert!(text.contains("ok — not exhaustive, sampled"), "{text}");
    assert!(text.lines().next().unwrap().ends_with("; threads share unseen state"), "{text}");
    assert!(text.contains("an atomic or a lock of `std`: searches prove nothing"), "{text}");
    assert!(!text.contains("none fails") && !text.contains("exhaustive:"), "{text}");
    assert!(report.to_json().contains(r#""hidden_state": {"#));
}

#[test]
fn searches_claim_nothing() {
    for word in ["dpor", "dpor-classic", "bpor:1", "bpor:0-2", "auto"] {
        let config = Config::new().strategy(word).runs(1_000);
        claims_nothing(&config.run(shares_an_atomic_of_std));
    }
    let config = Config::new().strategy("dpor").threads(2);
    claims_nothing(&config.run(shares_an_atomic_of_std));
    for word in ["dfs", "auto"] {
        let config = Config::new().strategy(word).memory(Memory::Rc11).runs(1_000);
        claims_nothing(&config.run(shares_an_atomic_of_std));
    }
}

/// A search that runs every interleaving depends on nothing but what it runs.
#[test]
fn a_search_of_every_interleaving_is_not_affected() {
    let report = Config::new().strategy("dfs").run(shares_an_atomic_of_std);
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
    assert_eq!((report.equivalents, &report.hidden_state), (0, &None));
}

#[test]
fn the_setting_switches_it_off() {
    let config = Config::new().strategy("dpor").hidden_state(false);
    let report = config.run(shares_an_atomic_of_std);
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
    assert_eq!(report.equivalents, 0);
}

#[test]
fn equivalent_executions_are_counted_apart() {
    let program = || {
        let cells = Arc::new([const { AtomicUsize::new(0) }; 3]);
        let threads = [0, 1].map(|own| {
            let cells = cells.clone();
            thread::spawn(move || {
                cells[own].store(1, SeqCst);
                cells[2].fetch_add(1, SeqCst);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let report = Config::new().strategy("dpor").run(program);
    assert_eq!((report.executions, report.classes), (2, 2));
    assert!((4..=40).contains(&report.equivalents), "{}", report.equivalents);
    let line = format!("2 classes, 2 executions (+ {} equivalent)", report.equivalents);
    assert!(raddle::text(&report).contains(&line), "{}", raddle::text(&report));
}

/// Long executions are repeated less often: the steps of all repetitions are bounded.
#[test]
fn equivalent_executions_cost_a_part_of_the_search() {
    for (steps, most) in [(10, 20), (2_000, 17), (40_000, 1)] {
        let report = Config::new().strategy("dpor").run(move || {
            let count = Arc::new(AtomicUsize::new(0));
            let other = thread::spawn({
                let count = count.clone();
                move || count.fetch_add(1, SeqCst)
            });
            let own = AtomicUsize::new(0);
            for _ in 0..steps {
                own.fetch_add(1, SeqCst);
            }
            count.fetch_add(1, SeqCst);
            other.join().unwrap();
        });
        assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
        assert_eq!(report.executions, 2);
        assert!((1..=most).contains(&report.equivalents), "{steps}: {}", report.equivalents);
    }
}

/// An equivalent execution that fails is the failure.
#[test]
fn a_failure_of_an_equivalent_execution_is_reported() {
    let report = Config::new().strategy("dpor").run(|| {
        let count = Arc::new(StdAtomicUsize::new(0));
        let other = thread::spawn({
            let count = count.clone();
            move || {
                thread::yield_now();
                let seen = count.load(SeqCst);
                thread::yield_now();
                count.store(seen + 1, SeqCst);
            }
        });
        let seen = count.load(SeqCst);
        thread::yield_now();
        count.store(seen + 1, SeqCst);
        other.join().unwrap();
        assert_eq!(count.load(SeqCst), 2);
    });
    let failure = report.failure().expect("the counts differ");
    assert!(matches!(failure.finding, Finding::Panic(_)) && failure.reproduced);
    assert!(raddle::text(&report).contains("state that raddle does not see"));
}

/// Executions that show nothing new are not repeated: where nothing can be exchanged, almost none are.
#[test]
fn equivalent_executions_follow_the_freedom_of_the_order() {
    for (adds, executions, most) in [(1, 2, 2), (2, 6, 4), (3, 20, 8), (5, 252, 12), (6, 924, 46)] {
        let report = Config::new().strategy("dpor").run(move || {
            let count = Arc::new(AtomicUsize::new(0));
            let add = move |count: &AtomicUsize| {
                for _ in 0..adds {
                    count.fetch_add(1, SeqCst);
                }
            };
            let other = thread::spawn({
                let count = count.clone();
                move || add(&count)
            });
            add(&count);
            other.join().unwrap();
        });
        assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
        assert_eq!(report.executions, executions);
        assert!((1..=most).contains(&report.equivalents), "{adds}: {}", report.equivalents);
    }
}

/// A search that ends in time, but has no time left to look for hidden state.
#[test]
fn a_claim_that_was_not_checked_is_not_made() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    for word in ["dpor", "auto"] {
        let limit = Duration::from_secs(2);
        let config = Config::new().strategy(word).time(limit).watchdog(None);
        let run = |config: Config, quick_runs: usize| {
            RUNS.store(0, SeqCst);
            config.run(move || {
                if RUNS.fetch_add(1, SeqCst) >= quick_runs {
                    std::thread::sleep(limit);
                }
                let count = Arc::new(AtomicUsize::new(0));
                let other = thread::spawn({
                    let count = count.clone();
                    move || count.fetch_add(1, SeqCst)
                });
                count.fetch_add(1, SeqCst);
                other.join().unwrap();
            })
        };
        let report = run(config.clone().hidden_state(false), usize::MAX);
        assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
        let report = run(config, RUNS.load(SeqCst));
        let text = raddle::text(&report);
        assert!(matches!(report.verdict, Verdict::Sampled) && report.unchecked, "{text}");
        assert!(text.contains("no time left to look for state"), "{text}");
        assert!(!text.contains("exhaustive"), "{text}");
    }
}

/// A test that branches on a clock is never called exhaustive.
#[test]
fn a_clock_is_noticed() {
    static RUNS: StdAtomicUsize = StdAtomicUsize::new(0);
    for clock in 0..20usize {
        RUNS.store(0, SeqCst);
        let report = Config::new().run(move || {
            let value = Arc::new(AtomicUsize::new(0));
            let other = thread::spawn({
                let value = value.clone();
                move || value.store(1, SeqCst)
            });
            // Random bits.
            let ticks = (RUNS.fetch_add(1, SeqCst) + 1000 * clock) as u64;
            let ticks = (ticks ^ ticks << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let ticks = (ticks ^ ticks >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            if ticks >> 63 == 1 {
                value.load(SeqCst);
            }
            other.join().unwrap();
        });
        let finding = report.failure().map(|failure| &failure.finding);
        assert!(matches!(finding, Some(Finding::Nondeterminism { .. })), "{clock}: {finding:?}");
    }
}
