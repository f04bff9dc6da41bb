//! Strategies that use a solver: their findings and reports.

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

/// A lost update whose reads and writes are under a lock.
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
            let failure = report.failure().expect("there is a bug");
            assert!(failure.reproduced && failure.execution <= 4, "{}", failure.execution);
            let text = raddle::text(&report);
            assert!(text.contains("memory-access patterns: "), "{text}");
            let patterns = report.patterns.as_ref().unwrap();
            assert_eq!(patterns.missed, 0);
        }
    }
}

#[test]
fn an_exhausted_search_reports_coverage() {
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
    let json = report.to_json();
    assert!(json.contains(r#""coverage": {"#) && json.contains(r#""is_done": true"#), "{json}");
    assert!(matches!(run("mcr", clean).verdict, Verdict::Exhausted));
}

#[test]
fn every_strategy_reports_coverage_on_request() {
    let sampled = |by| {
        let config = Config::new().strategy("random").runs(100).coverage(by);
        let coverage = config.run(|| drop(std::panic::catch_unwind(lost_update)));
        coverage.coverage.clone().unwrap()
    };
    let (lines, events) = (sampled(Accesses::BySite), sampled(Accesses::ByEvent));
    // By event there are three reads and two writes. By site there are two reads and one write.
    assert!(lines.total < events.total && lines.covered > 2, "{lines:?} {events:?}");
    assert!(Config::new().run(|| ()).coverage.is_none());
}

#[test]
fn programs_without_conflicts_are_an_error() {
    for strategy in ["pcr", "mcr"] {
        let error = Config::new().strategy(strategy).try_run(|| ()).unwrap_err().to_string();
        assert!(error.contains("only one thread"), "{error}");
        let apart = || drop(thread::spawn(|| ()).join());
        let error = Config::new().strategy(strategy).try_run(apart).unwrap_err().to_string();
        assert!(error.contains("anything in common"), "{error}");
    }
}

#[test]
fn a_nondeterministic_program_is_reported() {
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
    let finding = &report.failure().expect("all executions differ").finding;
    assert!(matches!(finding, Finding::Nondeterminism { .. }), "{finding:?}");
}
