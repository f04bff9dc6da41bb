//! Sampling on several OS threads gives the same report as on one.

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Report, Verdict, thread};

/// Strategies that sample without learning.
const STRATEGIES: [&str; 5] = ["random", "basic-pos", "pos", "pos-star", "rapos"];

fn run(strategy: &str, threads: usize, runs: u64, program: fn()) -> Report {
    let config =
        Config::new().name("parallel sampling").strategy(strategy).seed(5).unlimited_time();
    config.threads(threads).runs(runs).run(program)
}

/// Returns the report without times and backtraces. With the portable back end a backtrace includes the caller of raddle.
fn without_times(report: &Report) -> String {
    let mut report = report.clone();
    report.elapsed = std::time::Duration::ZERO;
    if let Verdict::Failed(failure) = &mut report.verdict {
        if let Finding::Panic(panic) = &mut failure.finding {
            panic.backtrace = None;
        }
    }
    report.to_json()
}

/// Threads spawn threads concurrently, so the ids of the threads depend on the schedule.
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
fn reports_do_not_depend_on_the_number_of_os_threads() {
    for strategy in STRATEGIES {
        for runs in [1, 64, 65, 1500] {
            let one = run(strategy, 1, runs, nested);
            assert!(matches!(one.verdict, Verdict::Sampled), "{}", raddle::text(&one));
            assert_eq!(one.executions, runs);
            for threads in [2, 3] {
                assert_eq!(
                    without_times(&run(strategy, threads, runs, nested)),
                    without_times(&one),
                    "{strategy}"
                );
            }
        }
    }
}

/// Fails in few executions.
fn rarely_fails() {
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
fn the_failure_is_that_of_one_os_thread() {
    let mut numbers = Vec::new();
    for strategy in ["random", "pos-star"] {
        let one = run(strategy, 1, 20_000, rarely_fails);
        let failure = one.failure().expect("some executions fail");
        assert!(matches!(failure.finding, Finding::Panic(_)) && failure.reproduced);
        numbers.push(failure.execution);
        for threads in [2, 4] {
            assert_eq!(
                without_times(&run(strategy, threads, 20_000, rarely_fails)),
                without_times(&one),
                "{strategy}"
            );
        }
    }
    // The failure is not in the first part, which runs before the other OS threads start.
    assert!(numbers.iter().any(|number| *number > 64), "{numbers:?}");
}

#[test]
fn a_static_shared_by_os_threads_is_refused() {
    static SHARED: AtomicU32 = AtomicU32::new(0);
    let report = run("random", 4, 50_000, || {
        let other = thread::spawn(|| SHARED.fetch_add(1, SeqCst));
        SHARED.fetch_add(1, SeqCst);
        other.join().unwrap();
    });
    // There is no failure if the OS never runs two of the threads at the same time.
    if let Some(failure) = report.failure() {
        let Finding::Panic(panic) = &failure.finding else { panic!("{:?}", failure.finding) };
        assert!(panic.message.contains("in use on another OS thread"), "{}", panic.message);
    }
}

#[test]
fn a_single_execution_is_no_exploration() {
    let report = run("random", 4, 5000, || ());
    assert!(matches!(report.verdict, Verdict::NothingToExplore), "{report:?}");
}
