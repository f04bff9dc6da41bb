//! Strategies that ask a solver: what they find, and what their reports say.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::{Accesses, Config, Finding, Report, Verdict, thread};

fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = thread::spawn({
        let counter = counter.clone();
        move || increment(&counter)
    });
    increment(&counter);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

fn increment(counter: &AtomicUsize) {
    let seen = counter.load(Ordering::SeqCst);
    counter.store(seen + 1, Ordering::SeqCst);
}

/// As above, with what is lost under a lock.
fn lost_under_a_lock() {
    let counter = Arc::new(Mutex::new(0));
    let increment = |counter: &Mutex<u32>| {
        let seen = *counter.lock().unwrap();
        *counter.lock().unwrap() = seen + 1;
    };
    let other = thread::spawn({
        let counter = counter.clone();
        move || increment(&counter)
    });
    increment(&counter);
    other.join().unwrap();
    assert_eq!(*counter.lock().unwrap(), 2);
}

fn run(strategy: &str, program: fn()) -> Report {
    Config::new().name("solver").strategy(strategy).run(program)
}

#[test]
fn a_lost_update_takes_few_executions() {
    for strategy in ["pcr", "mcr"] {
        for program in [lost_update, lost_under_a_lock] {
            let report = run(strategy, program);
            let failure = report.failure().expect("the bug is there to be found");
            assert!(failure.reproduced && failure.execution <= 4, "{}", failure.execution);
            let text = raddle::text(&report);
            assert!(text.contains("memory-access patterns: "), "{text}");
            let patterns = report.patterns.unwrap();
            assert_eq!(patterns.missed, 0);
        }
    }
}

#[test]
fn an_end_says_what_was_covered() {
    let clean = || {
        let counter = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let counter = counter.clone();
            move || counter.fetch_add(1, Ordering::SeqCst)
        });
        counter.fetch_add(1, Ordering::SeqCst);
        other.join().unwrap();
    };
    let report = run("pcr", clean);
    assert!(matches!(report.verdict, Verdict::Sampled), "patterns are not everything");
    let coverage = report.coverage.as_ref().unwrap();
    assert_eq!((coverage.covered, coverage.variables.len()), (2, 1), "{coverage:?}");
    let text = raddle::text(&report);
    assert!(text.contains("nothing is left to try"), "{text}");
    let json = raddle::json(&report);
    assert!(json.contains(r#""coverage": {"#) && json.contains(r#""is_done": true"#), "{json}");
    assert!(matches!(run("mcr", clean).verdict, Verdict::Exhausted));
}

#[test]
fn any_strategy_tells_its_coverage_if_asked() {
    let sampled = |by| {
        let config = Config::new().strategy("random").runs(100).coverage(by);
        let coverage = config.run(|| drop(std::panic::catch_unwind(lost_update)));
        coverage.coverage.unwrap()
    };
    let (lines, events) = (sampled(Accesses::BySite), sampled(Accesses::ByEvent));
    // Three reads and two writes one by one; two lines read, one writes.
    assert!(lines.total < events.total && lines.covered > 2, "{lines:?} {events:?}");
    assert!(Config::new().run(|| ()).coverage.is_none());
}

#[test]
fn what_cannot_be_ordered_is_an_error_in_words() {
    for strategy in ["pcr", "mcr"] {
        let error = Config::new().strategy(strategy).try_run(|| ()).unwrap_err().to_string();
        assert!(error.contains("only one thread"), "{error}");
        let apart = || drop(thread::spawn(|| ()).join());
        let error = Config::new().strategy(strategy).try_run(apart).unwrap_err().to_string();
        assert!(error.contains("anything in common"), "{error}");
    }
}

#[test]
fn a_program_that_is_not_deterministic_is_told_so() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let report = run("pcr", || {
        let turn = CALLS.fetch_add(1, Relaxed);
        let counter = Arc::new(AtomicUsize::new(0));
        let other = thread::spawn({
            let counter = counter.clone();
            move || {
                for _ in 0..=turn {
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        counter.fetch_add(1, Ordering::SeqCst);
        other.join().unwrap();
    });
    let finding = &report.failure().expect("no two executions are alike").finding;
    assert!(matches!(finding, Finding::Nondeterminism { .. }), "{finding:?}");
}
