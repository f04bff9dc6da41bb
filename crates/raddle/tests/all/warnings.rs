//! Warnings: leaks, and locks acquired in different orders.

use std::mem::forget;

use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::sync::{Arc, Barrier, Mutex, RwLock};
use raddle::{Config, Finding, Leak, Leaks, Report, Verdict, WarningKind, thread};

fn clean(report: &Report) {
    assert!(report.failure().is_none(), "{}", raddle::text(report));
}

/// Returns the warnings of a report without a failure.
fn warnings(report: &Report) -> Vec<WarningKind> {
    clean(report);
    report.warnings.iter().map(|warning| warning.kind.clone()).collect()
}

fn leaks_a_thread() {
    thread::spawn(thread::park);
}

fn leaks_a_lock() {
    let lock = Arc::new(Mutex::new(0));
    let other = {
        let lock = lock.clone();
        thread::spawn(move || forget(lock.lock()))
    };
    other.join().unwrap();
    assert!(lock.try_lock().is_err());
}

fn leaks_a_read_lock() {
    let lock = RwLock::new(0);
    forget(lock.read());
    assert!(lock.try_read().is_ok() && lock.try_write().is_err());
}

fn releases_everything() {
    let lock = Arc::new((Mutex::new(0), RwLock::new(0)));
    let detached = lock.clone();
    thread::spawn(move || *detached.0.lock().unwrap() += *detached.1.read().unwrap());
    *lock.1.write().unwrap() += 1;
}

#[test]
fn leaks_are_warnings() {
    let report = Config::new().run(leaks_a_thread);
    assert!(
        matches!(warnings(&report)[..], [WarningKind::Leak(Leak::Thread { thread, .. })] if thread.0 == 1)
    );
    let text = raddle::text(&report);
    assert!(text.contains("note: in execution 1, thread 1 is still blocked at"), "{text}");
    assert!(report.to_json().contains(r#""kind": "leak""#));

    let report = Config::new().run(leaks_a_lock);
    assert!(
        matches!(warnings(&report)[..], [WarningKind::Leak(Leak::Lock { thread, .. })] if thread.0 == 1)
    );
    let text = raddle::text(&report);
    assert!(text.contains("thread 1 ended while it held the lock acquired at"), "{text}");
    let report = Config::new().run(leaks_a_read_lock);
    assert!(matches!(warnings(&report)[..], [WarningKind::Leak(Leak::Lock { .. })]));
}

#[test]
fn leaks_can_be_failures_or_ignored() {
    for (program, expected) in [
        (leaks_a_thread as fn(), "thread 1 is still blocked when all other threads have ended"),
        (leaks_a_lock, "thread 1 ended while it held mutex 1"),
        (leaks_a_read_lock, "main ended while it held rwlock 1"),
    ] {
        let report = Config::new().name("leak").leaks(Leaks::Fail).run(program);
        let failure = report.failure().expect("there is a leak");
        assert!(matches!(failure.finding, Finding::Leak(_)) && failure.reproduced);
        let text = raddle::text(&report);
        assert!(text.contains(expected) && text.contains("warnings.rs:"), "{text}");
        let again =
            Config::new().name("leak").leaks(Leaks::Fail).replay(&failure.token).run(program);
        assert_eq!(again.failure().expect("again").finding, failure.finding);

        assert_eq!(warnings(&Config::new().leaks(Leaks::Ignore).run(program)), []);
    }
}

#[test]
fn released_resources_are_not_leaks() {
    let report = Config::new().leaks(Leaks::Fail).run(releases_everything);
    assert_eq!(warnings(&report), []);
    assert!(matches!(report.verdict, Verdict::Exhausted), "{report:?}");
}

/// Two threads acquire two locks in opposite orders, one after the other if `apart`.
fn opposite(apart: bool) -> impl Fn() + Send + Sync + Clone {
    move || {
        let locks = Arc::new((Mutex::new(0), Mutex::new(0)));
        let other = {
            let locks = locks.clone();
            thread::spawn(move || {
                let mut first = locks.0.lock().unwrap();
                *first += *locks.1.lock().unwrap();
            })
        };
        let other = if apart { other.join().map(|()| None).unwrap() } else { Some(other) };
        {
            let mut second = locks.1.lock().unwrap();
            *second += *locks.0.lock().unwrap();
        }
        if let Some(other) = other {
            other.join().unwrap();
        }
    }
}

#[test]
fn a_deadlock_is_constructed_from_opposite_lock_orders() {
    // The only execution of this strategy does not deadlock.
    let config = || Config::new().name("opposite").strategy("pct:1").runs(1);
    clean(&config().run(opposite(false)));
    let report = config().lock_order(true).run(opposite(false));
    let failure = report.failure().expect("a deadlock");
    let Finding::Deadlock(waits) = &failure.finding else { panic!("{:?}", failure.finding) };
    assert!(waits.iter().filter(|wait| wait.in_cycle).count() == 2 && failure.reproduced);
    let again = Config::new().name("opposite").replay(&failure.token).run(opposite(false));
    assert_eq!(again.failure().expect("again").finding, failure.finding);
}

#[test]
fn sequential_lock_orders_are_no_warning() {
    let report = Config::new().lock_order(true).run(opposite(true));
    assert_eq!(warnings(&report), []);
}

#[test]
fn a_gate_lock_prevents_the_warning() {
    let report = Config::new().run(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(0), Mutex::new(0)));
        let other = {
            let locks = locks.clone();
            thread::spawn(move || {
                let _gate = locks.0.lock().unwrap();
                let mut first = locks.1.lock().unwrap();
                *first += *locks.2.lock().unwrap();
            })
        };
        {
            let _gate = locks.0.lock().unwrap();
            let mut second = locks.2.lock().unwrap();
            *second += *locks.1.lock().unwrap();
        }
        other.join().unwrap();
    });
    assert_eq!(warnings(&report), []);
}

#[test]
fn opposite_orders_of_readers_are_no_warning() {
    let report = Config::new().run(|| {
        let locks = Arc::new((RwLock::new(0), RwLock::new(0)));
        let other = {
            let locks = locks.clone();
            thread::spawn(move || *locks.0.read().unwrap() + *locks.1.read().unwrap())
        };
        let _sum = *locks.1.read().unwrap() + *locks.0.read().unwrap();
        other.join().unwrap();
    });
    assert_eq!(warnings(&report), []);
}

#[test]
fn opposite_orders_that_never_overlap_are_a_warning() {
    let report = Config::new().run(|| {
        let shared = Arc::new((Mutex::new(0), Mutex::new(0), AtomicBool::new(false)));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                {
                    let mut first = shared.0.lock().unwrap();
                    *first += *shared.1.lock().unwrap();
                }
                shared.2.store(true, SeqCst);
            })
        };
        // Main acquires the locks only if the flag is set, so the two threads never hold locks at the same time.
        if shared.2.load(SeqCst) {
            let mut second = shared.1.lock().unwrap();
            *second += *shared.0.lock().unwrap();
        }
        other.join().unwrap();
    });
    let found = warnings(&report);
    let [WarningKind::LockOrder(orders)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(orders.len(), 2);
    assert!(orders[0].held == orders[1].wanted && orders[0].wanted == orders[1].held);
    assert!(matches!(report.verdict, Verdict::Exhausted), "a warning is no failure");
    let text = raddle::text(&report);
    assert!(text.contains("warning: locks are acquired in different orders: "), "{text}");
    assert!(text.contains("holds A (acquired at") && text.contains("and acquires B at"), "{text}");
    assert!(report.to_json().contains(r#""kind": "lock-order""#));
    assert!(report.to_html().contains("locks are acquired in different orders"));
}

#[test]
fn a_cycle_of_three_locks() {
    let config = Config::new().name("three").strategy("pct:1").runs(1).lock_order(true);
    let report = config.run(|| {
        let locks: Arc<[Mutex<u32>; 3]> = Arc::default();
        let start = Arc::new(Barrier::new(3));
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let (locks, start) = (locks.clone(), start.clone());
                thread::spawn(move || {
                    start.wait();
                    let _first = locks[number].lock().unwrap();
                    let _second = locks[(number + 1) % 3].lock().unwrap();
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let failure = report.failure().expect("a deadlock");
    let Finding::Deadlock(waits) = &failure.finding else { panic!("{:?}", failure.finding) };
    assert_eq!(waits.iter().filter(|wait| wait.in_cycle).count(), 3);
}

#[raddle::test(leaks = "ignore", lock_order = true, watchdog = "30s")]
fn leaks_can_be_set_in_the_attribute() {
    leaks_a_thread();
}
