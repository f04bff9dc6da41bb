//! Bugs are found, described, and replayed from their tokens.

use std::process::{Command, Output};

use raddle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{Config, Failure, Finding, Report, Verdict, thread};

/// Returns the failure of `program`, after replaying it from its token.
fn failure(name: &'static str, program: fn()) -> Failure {
    let report = Config::new().name(name).run(program);
    let found = report.failure().expect("there is a bug").clone();
    assert!(found.reproduced, "{}", raddle::text(&report));

    let again = Config::new().name(name).replay(&found.token).run(program);
    let replayed = again.failure().unwrap_or_else(|| panic!("no failure: {again:?}"));
    assert_eq!(replayed.finding, found.finding);
    assert_eq!(replayed.trace, found.trace);
    assert_eq!(again.strategy, "replay");
    found
}

/// Returns, for each waiting thread of a deadlock, its id, whether it is in a cycle, and the threads it waits for.
fn waits(failure: &Failure) -> Vec<(u32, bool, Vec<u32>)> {
    let Finding::Deadlock(waits) = &failure.finding else {
        panic!("not a deadlock: {:?}", failure.finding)
    };
    let mut waits: Vec<_> = waits
        .iter()
        .map(|wait| {
            (wait.thread.0, wait.in_cycle, wait.holders.iter().map(|holder| holder.0.0).collect())
        })
        .collect();
    waits.sort();
    waits
}

fn clean(report: &Report) {
    assert!(report.failure().is_none(), "{}", raddle::text(report));
}

fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let increment = {
        let counter = counter.clone();
        move || counter.store(counter.load(SeqCst) + 1, SeqCst)
    };
    let other = thread::spawn(increment.clone());
    increment();
    other.join().unwrap();
    assert_eq!(counter.load(SeqCst), 2, "an update got lost");
}

#[test]
fn a_panic_is_found_and_replayed() {
    let found = failure("lost update", lost_update);
    let Finding::Panic(panic) = &found.finding else { panic!("{:?}", found.finding) };
    assert!(panic.message.contains("an update got lost"), "{}", panic.message);
    assert!(panic.place.as_ref().is_some_and(|place| place.contains("findings.rs")));
}

#[test]
fn every_strategy_finds_it() {
    for strategy in ["random", "pct:2", "pct:3", "dfs"] {
        let report = Config::new().name("by any").strategy(strategy).run(lost_update);
        assert!(report.failure().is_some_and(|failure| failure.reproduced), "{strategy}");
    }
}

#[test]
fn a_panic_in_a_spawned_thread_names_it() {
    let found = failure("in a thread", || {
        let first = thread::spawn(|| {});
        let second = thread::spawn(|| panic!("second thread"));
        first.join().unwrap();
        second.join().unwrap();
    });
    let Finding::Panic(panic) = &found.finding else { panic!("{:?}", found.finding) };
    assert_eq!((panic.thread.0, panic.message.as_str()), (2, "second thread"));
}

#[test]
fn threads_of_threads_are_replayed() {
    let found = failure("nested", || {
        let done = Arc::new(AtomicBool::new(false));
        let child = thread::spawn({
            let done = done.clone();
            move || thread::spawn(move || done.store(true, SeqCst))
        });
        let other = thread::spawn(|| thread::spawn(|| {}));
        let early = done.load(SeqCst);
        child.join().unwrap().join().unwrap();
        other.join().unwrap().join().unwrap();
        assert!(!early, "the grandchild was first");
    });
    assert!(found.trace.threads.len() > 3);
}

#[test]
fn chosen_values_are_replayed() {
    failure("chosen", || {
        let (a, b) = (raddle::choose(8), raddle::choose(8));
        assert!(a + b != 9, "{a} and {b}");
    });
}

#[test]
fn locks_taken_in_opposite_orders() {
    let found = failure("opposite locks", || {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = thread::spawn({
            let locks = locks.clone();
            move || {
                let _first = locks.0.lock().unwrap();
                let _second = locks.1.lock().unwrap();
            }
        });
        {
            let _first = locks.1.lock().unwrap();
            let _second = locks.0.lock().unwrap();
        }
        other.join().unwrap();
    });
    assert_eq!(waits(&found), [(0, true, vec![1]), (1, true, vec![0])]);
}

#[test]
fn a_thread_that_locks_twice() {
    let found = failure("twice", || {
        let mutex = Mutex::new(());
        let _first = mutex.lock().unwrap();
        let _second = mutex.lock().unwrap();
    });
    assert_eq!(waits(&found), [(0, true, vec![0])]);
}

#[test]
fn joining_while_holding_a_lock_the_thread_needs() {
    let found = failure("join under lock", || {
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.lock().unwrap();
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || drop(mutex.lock().unwrap())
        });
        other.join().unwrap();
        drop(guard);
    });
    assert_eq!(waits(&found), [(0, true, vec![1]), (1, true, vec![0])]);
}

#[test]
fn a_wait_without_a_notification() {
    let found = failure("never notified", || {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let waiter = thread::spawn({
            let pair = pair.clone();
            move || drop(pair.1.wait(pair.0.lock().unwrap()).unwrap())
        });
        waiter.join().unwrap();
    });
    assert_eq!(waits(&found), [(0, false, vec![1]), (1, false, vec![])]);
}

#[test]
fn a_notification_before_the_wait() {
    let program = || {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        let waiter = thread::spawn({
            let pair = pair.clone();
            move || drop(pair.1.wait(pair.0.lock().unwrap()).unwrap())
        });
        pair.1.notify_one();
        waiter.join().unwrap();
    };
    let found = failure("too early", program);
    assert_eq!(waits(&found), [(0, false, vec![1]), (1, false, vec![])]);
}

#[test]
fn a_guard_that_is_never_dropped() {
    let found = failure("leaked guard", || {
        let mutex = Arc::new(Mutex::new(()));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || std::mem::forget(mutex.lock().unwrap())
        });
        other.join().unwrap();
        drop(mutex.lock().unwrap());
    });
    assert_eq!(waits(&found), [(0, false, vec![1])]);
}

#[test]
fn threads_blocked_after_main_are_not_a_deadlock() {
    let report = Config::new().strategy("dfs").run(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new()));
        for _ in 0..2 {
            let pair = pair.clone();
            thread::spawn(move || drop(pair.1.wait(pair.0.lock().unwrap()).unwrap()));
        }
    });
    clean(&report);
    assert!(matches!(report.verdict, Verdict::Exhausted));
}

#[test]
fn a_timed_wait_is_not_a_deadlock() {
    clean(&Config::new().strategy("dfs").run(|| {
        let pair = (Mutex::new(()), Condvar::new());
        let time = std::time::Duration::from_secs(1000);
        let (_guard, result) = pair.1.wait_timeout(pair.0.lock().unwrap(), time).unwrap();
        assert!(result.timed_out());
    }));
}

#[test]
fn an_endless_loop_reaches_the_step_limit() {
    let program = || {
        let count = AtomicUsize::new(0);
        // Every round changes something.
        while count.fetch_add(1, SeqCst) < usize::MAX {
            thread::yield_now();
        }
    };
    let report = Config::new().name("spins").max_steps(500).run(program);
    let found = report.failure().unwrap();
    assert_eq!(found.finding, Finding::StepLimit { steps: 500 });
    assert!(found.reproduced);
    let text = raddle::text(&report);
    assert!(text.contains("did not end within 500 steps"), "{text}");
    assert!(text.contains("250 × main: yield_now"), "{text}");

    let again = Config::new().name("spins").max_steps(500).replay(&found.token).run(program);
    assert_eq!(again.failure().unwrap().finding, found.finding);
}

#[test]
fn an_endless_loop_can_be_discarded() {
    let report =
        Config::new().max_steps(200).runs(20).on_step_limit(raddle::OnStepLimit::Discard).run(
            || {
                let flag = Arc::new(AtomicBool::new(false));
                let setter = thread::spawn({
                    let flag = flag.clone();
                    move || flag.store(raddle::choose(2) == 1, SeqCst)
                });
                let rounds = AtomicUsize::new(0);
                while !flag.load(SeqCst) {
                    rounds.fetch_add(1, SeqCst);
                }
                setter.join().unwrap();
            },
        );
    clean(&report);
    assert!(report.discarded > 0 && report.discarded < 20, "{}", report.discarded);
    assert!(raddle::text(&report).contains("were discarded"), "{}", raddle::text(&report));
}

#[test]
fn dependence_on_the_clock_is_nondeterminism() {
    let report = Config::new().run(|| {
        static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let other = thread::spawn(|| {});
        if RUNS.fetch_add(1, SeqCst) % 2 == 0 {
            thread::yield_now();
        }
        other.join().unwrap();
    });
    let found = report.failure().expect("the second run differs");
    assert!(matches!(found.finding, Finding::Nondeterminism { .. }), "{:?}", found.finding);
    let text = raddle::text(&report);
    assert!(text.contains("not deterministic") && !text.contains("RADDLE_REPLAY"), "{text}");
}

#[test]
fn a_failure_that_is_not_reproduced_is_reported_as_such() {
    let report = Config::new().run(|| {
        static RUNS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let other = thread::spawn(|| {});
        other.join().unwrap();
        assert!(RUNS.fetch_add(1, SeqCst) > 0, "only the first time");
    });
    assert!(!report.failure().unwrap().reproduced);
    assert!(raddle::text(&report).contains("NOT reproduced"));
}

/// Runs one test of this file in another process.
fn child(test: &str, token: &str) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env("RADDLE_REPLAY", token)
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{error}")
}

/// Run by `the_environment_replays` in another process. Otherwise it does nothing.
#[test]
fn victim() {
    if std::env::var_os("RADDLE_REPLAY").is_some() {
        raddle::check(lost_update);
    }
}

#[test]
fn the_environment_replays() {
    // By default a check is named after its test.
    let found = failure("findings::victim", lost_update);
    let output = child("findings::victim", &found.token);
    let printed = printed(&output);
    assert!(!output.status.success(), "{printed}");
    assert!(printed.contains("raddle: test `findings::victim` FAILED"), "{printed}");
    assert!(printed.contains("an update got lost"), "{printed}");
    assert!(printed.contains("replayed from its token"), "{printed}");
    let command = format!("RADDLE_REPLAY={} cargo test ", found.token);
    assert!(printed.contains(&command), "{printed}");
}

#[test]
fn the_environment_refuses_the_token_of_another_check() {
    let found = failure("another check", lost_update);
    let output = child("findings::victim", &found.token);
    let printed = printed(&output);
    assert!(!output.status.success(), "{printed}");
    assert!(printed.contains("was not made by the check `findings::victim`"), "{printed}");
}
