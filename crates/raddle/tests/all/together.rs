//! Sampling on several OS threads gives what one gives.

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Report, Verdict, thread};

/// Strategies that sample without learning.
const STRATEGIES: [&str; 5] = ["random", "basic-pos", "pos", "pos-star", "rapos"];

fn run(strategy: &str, threads: usize, runs: u64, program: fn()) -> Report {
    let config = Config::new().name("together").strategy(strategy).seed(5).unlimited_time();
    config.threads(threads).runs(runs).run(program)
}

/// All of a report that does not tell the time, nor who called raddle: backtraces of the portable back
/// end go on to that.
fn told(report: &Report) -> String {
    let mut report = report.clone();
    report.elapsed = std::time::Duration::ZERO;
    if let Verdict::Failed(failure) = &mut report.verdict {
        if let Finding::Panic(panic) = &mut failure.finding {
            panic.backtrace = None;
        }
    }
    raddle::json(&report)
}

/// Threads that spawn threads at the same time, so that their numbers depend on the schedule.
fn nested() {
    let total = Arc::new((AtomicU32::new(0), Mutex::new(0)));
    let parents: Vec<_> = (0..3)
        .map(|number| {
            let total = total.clone();
            thread::spawn(move || {
                total.0.fetch_add(1, SeqCst);
                let child = total.clone();
                let child = thread::spawn(move || {
                    *child.1.lock().unwrap() += number;
                    child.0.load(SeqCst)
                });
                *total.1.lock().unwrap() += 1;
                child.join().unwrap()
            })
        })
        .collect();
    for parent in parents {
        assert!(parent.join().unwrap() > 0);
    }
}

#[test]
fn what_is_seen_does_not_depend_on_how_many_look() {
    for strategy in STRATEGIES {
        for runs in [1, 64, 65, 1500] {
            let one = run(strategy, 1, runs, nested);
            assert!(matches!(one.verdict, Verdict::Sampled), "{}", raddle::text(&one));
            assert_eq!(one.executions, runs);
            for threads in [2, 3] {
                assert_eq!(told(&run(strategy, threads, runs, nested)), told(&one), "{strategy}");
            }
        }
    }
}

/// Fails in few executions.
fn seldom() {
    let turns = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let turns = turns.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    turns.store(turns.load(SeqCst) * 4 + number, SeqCst);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_ne!(turns.load(SeqCst), 0b10_01_10_01_00);
}

#[test]
fn the_failure_is_the_one_that_one_finds() {
    let mut numbers = Vec::new();
    for strategy in ["random", "pos-star"] {
        let one = run(strategy, 1, 20_000, seldom);
        let failure = one.failure().expect("it is there");
        assert!(matches!(failure.finding, Finding::Panic(_)) && failure.reproduced);
        numbers.push(failure.execution);
        for threads in [2, 4] {
            assert_eq!(told(&run(strategy, threads, 20_000, seldom)), told(&one), "{strategy}");
        }
    }
    // Not in the piece that is made before the others begin.
    assert!(numbers.iter().any(|number| *number > 64), "{numbers:?}");
}

#[test]
fn a_program_that_shares_a_static_is_told_so() {
    static SHARED: AtomicU32 = AtomicU32::new(0);
    let report = run("random", 4, 50_000, || {
        let other = thread::spawn(|| SHARED.fetch_add(1, SeqCst));
        SHARED.fetch_add(1, SeqCst);
        other.join().unwrap();
    });
    // Unless the OS never lets two of them run at once.
    if let Some(failure) = report.failure() {
        let Finding::Panic(panic) = &failure.finding else { panic!("{:?}", failure.finding) };
        assert!(panic.message.contains("in use on another OS thread"), "{}", panic.message);
    }
}

#[test]
fn one_execution_is_nothing_to_explore() {
    let report = run("random", 4, 5000, || ());
    assert!(matches!(report.verdict, Verdict::NothingToExplore), "{report:?}");
}
