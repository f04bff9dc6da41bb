//! `raddle::assume`: a thread goes no further, the others do.

use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Memory, Report, Verdict, assume, thread};

/// Strategies that search, and strategies that sample, for each memory model.
const STRATEGIES: [(Memory, &str, &str); 2] = [
    (
        Memory::Sc,
        "auto dpor dpor-classic bpor:9 dfs mcr",
        "random pct:2 pos pos-star surw rapos pcr",
    ),
    (Memory::Rc11, "auto dfs", "random pct:2 pctwm:1:2 c11-random"),
];

fn each_strategy(mut each: impl FnMut(Memory, &str, bool)) {
    for (memory, searches, samplers) in STRATEGIES {
        searches.split(' ').for_each(|strategy| each(memory, strategy, true));
        samplers.split(' ').for_each(|strategy| each(memory, strategy, false));
    }
}

fn run(memory: Memory, strategy: &str, program: fn()) -> Report {
    Config::new().memory(memory).strategy(strategy).runs(2_000).run(program)
}

fn message() {
    let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
    let writer = shared.clone();
    let writer = thread::spawn(move || {
        writer.1.store(1, Relaxed);
        writer.0.store(true, Release);
    });
    assume(shared.0.load(Acquire));
    assert_eq!(shared.1.load(Relaxed), 1);
    writer.join().unwrap();
}

/// Only executions in which the flag was seen go on; the others are counted apart.
#[test]
fn executions_that_contradict_an_assumption_are_counted_apart() {
    each_strategy(|memory, strategy, searches| {
        let report = run(memory, strategy, message);
        assert!(report.failure().is_none(), "{strategy}: {}", raddle::text(&report));
        assert!(report.executions > 0 && report.incomplete.assumed > 0, "{strategy}: {report:?}");
        assert_eq!(report.incomplete.waits, 0);
        if searches {
            assert!(
                matches!(report.verdict, Verdict::Exhausted),
                "{strategy}: {:?}",
                report.verdict
            );
        }
    });
    let report = run(Memory::Sc, "dpor", message);
    assert_eq!((report.executions, report.incomplete.assumed), (1, 1));
    let text = raddle::text(&report);
    assert!(
        text.contains("1 execution (") && text.contains("1 more was stopped by an assumption)"),
        "{text}"
    );
    assert!(
        report.to_json().contains(r#""incomplete": {"assumed": 1, "waits": 0, "out_of_time": 0}"#)
    );
}

/// Main waits for a thread that was stopped, and holds a lock meanwhile: neither is a deadlock.
#[test]
fn waiting_for_a_stopped_thread_is_no_failure() {
    each_strategy(|memory, strategy, _| {
        let report = run(memory, strategy, || {
            let lock = Arc::new(Mutex::new(0));
            let other = lock.clone();
            let stopped = thread::spawn(move || {
                let held = other.lock().unwrap();
                assume(*held == 1);
            });
            *lock.lock().unwrap() += 1;
            stopped.join().unwrap();
        });
        assert!(report.failure().is_none(), "{strategy}: {}", raddle::text(&report));
    });
}

/// A thread is stopped, and the others fail.
#[test]
fn failures_of_other_threads_count() {
    each_strategy(|memory, strategy, _| {
        let report = run(memory, strategy, || {
            let seen = Arc::new(AtomicU32::new(0));
            let other = seen.clone();
            thread::spawn(move || {
                other.store(1, Relaxed);
                assume(false);
                other.store(2, Relaxed);
            });
            assert_ne!(seen.load(Relaxed), 1, "the stopped thread was here");
        });
        let failure = report.failure().unwrap_or_else(|| panic!("{strategy} finds it"));
        assert!(matches!(failure.finding, Finding::Panic(_)) && failure.reproduced, "{strategy}");
        let again = Config::new().memory(memory).replay(&failure.token);
        let again = again.run(|| {
            let seen = Arc::new(AtomicU32::new(0));
            let other = seen.clone();
            thread::spawn(move || {
                other.store(1, Relaxed);
                assume(false);
                other.store(2, Relaxed);
            });
            assert_ne!(seen.load(Relaxed), 1, "the stopped thread was here");
        });
        assert!(again.failure().is_some());
    });
}

/// Two threads wait for one another while a third is stopped.
#[test]
fn a_deadlock_beside_a_stopped_thread_counts() {
    each_strategy(|memory, strategy, _| {
        let report = run(memory, strategy, || {
            let locks = Arc::new((Mutex::new(()), Mutex::new(())));
            thread::spawn(|| assume(false));
            let other = locks.clone();
            let other = thread::spawn(move || {
                let _first = other.0.lock().unwrap();
                let _second = other.1.lock().unwrap();
            });
            let _second = locks.1.lock().unwrap();
            let _first = locks.0.lock().unwrap();
            drop((_first, _second));
            other.join().unwrap();
        });
        let failure = report.failure().unwrap_or_else(|| panic!("{strategy} finds it"));
        assert!(matches!(failure.finding, Finding::Deadlock(_)), "{strategy}: {failure:?}");
        assert!(failure.reproduced, "{strategy}");
    });
}

/// What a stopped thread owns is dropped after the execution, also if destructors use locks or assume something.
#[test]
fn stopped_threads_are_unwound() {
    use std::sync::atomic::AtomicUsize;
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Owned(Arc<Mutex<u32>>);
    impl Drop for Owned {
        fn drop(&mut self) {
            assume(false);
            *self.0.lock().unwrap_or_else(|poison| poison.into_inner()) += 1;
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    let report = Config::new().strategy("random").runs(100).explore_trivial(true).run(|| {
        let lock = Arc::new(Mutex::new(0));
        let owned = Owned(lock.clone());
        let stopped = thread::spawn(move || {
            assume(false);
            drop(owned);
        });
        *lock.lock().unwrap() += 1;
        stopped.join().unwrap();
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    assert_eq!((report.executions, report.incomplete.assumed), (0, 100));
    // Some executions are repeated.
    assert!(DROPPED.load(SeqCst) > 100);
}

/// Outside a check an assumption does nothing.
#[test]
fn an_assumption_outside_a_check_is_ignored() {
    assume(false);
}
