//! Spurious wakeups and spurious failures of weak exchanges, up to a bound.

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::{Config, Finding, Report, Verdict, thread};

fn searched(times: u32, program: fn()) -> Report {
    Config::new().name("spurious").strategy("dpor").spurious(times).run(program)
}

fn clean(report: &Report) {
    assert!(report.failure().is_none(), "{}", raddle::text(report));
    assert!(matches!(report.verdict, Verdict::Exhausted | Verdict::NothingToExplore), "{report:?}");
}

/// Asserts that the failure has this message, is reproduced, and can be replayed.
fn fails(report: &Report, program: fn(), message: &str) {
    let failure = report.failure().expect("a failure");
    let Finding::Panic(panic) = &failure.finding else { panic!("{:?}", failure.finding) };
    assert!(panic.message.contains(message) && failure.reproduced, "{}", raddle::text(report));
    let again = Config::new().name("spurious").spurious(1).replay(&failure.token).run(program);
    assert_eq!(again.failure().expect("again").finding, failure.finding);
}

fn waits_once() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = {
        let pair = pair.clone();
        thread::spawn(move || {
            *pair.0.lock().unwrap() = true;
            pair.1.notify_one();
        })
    };
    let mut ready = pair.0.lock().unwrap();
    if !*ready {
        ready = pair.1.wait(ready).unwrap();
    }
    assert!(*ready, "woken without a reason");
    drop(ready);
    other.join().unwrap();
}

fn waits_in_a_loop() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let other = {
        let pair = pair.clone();
        thread::spawn(move || {
            *pair.0.lock().unwrap() = true;
            pair.1.notify_one();
        })
    };
    let ready = pair.1.wait_while(pair.0.lock().unwrap(), |ready| !*ready).unwrap();
    assert!(*ready);
    drop(ready);
    other.join().unwrap();
}

#[test]
fn condition_variables() {
    clean(&searched(0, waits_once));
    fails(&searched(1, waits_once), waits_once, "woken without a reason");
    for times in [0, 1, 2] {
        clean(&searched(times, waits_in_a_loop));
    }
}

fn parks_once() {
    let told = Arc::new(AtomicU32::new(0));
    let parked = {
        let told = told.clone();
        thread::spawn(move || {
            thread::park();
            assert_eq!(told.load(SeqCst), 1, "woken without a reason");
        })
    };
    told.store(1, SeqCst);
    parked.thread().unpark();
    parked.join().unwrap();
}

#[test]
fn parking() {
    clean(&searched(0, parks_once));
    fails(&searched(1, parks_once), parks_once, "woken without a reason");
}

fn exchanges_once() {
    let number = AtomicU32::new(1);
    let result = number.compare_exchange_weak(1, 2, SeqCst, SeqCst);
    assert_eq!(result, Ok(1), "failed without a reason");
    assert_eq!(number.load(SeqCst), 2);
}

fn exchanges_in_a_loop() {
    let number = Arc::new(AtomicU32::new(0));
    let add = {
        let number = number.clone();
        move || number.fetch_update(SeqCst, SeqCst, |number| Some(number + 1)).unwrap()
    };
    let other = thread::spawn(add.clone());
    add();
    other.join().unwrap();
    assert_eq!(number.load(SeqCst), 2);
}

#[test]
fn weak_exchanges() {
    clean(&searched(0, exchanges_once));
    fails(&searched(1, exchanges_once), exchanges_once, "failed without a reason");
    let counts = [0, 1, 2].map(|times| {
        let report = searched(times, exchanges_in_a_loop);
        clean(&report);
        report.executions
    });
    assert!(counts[0] < counts[1] && counts[1] < counts[2], "{counts:?}");
}

/// The bound holds for each thread separately.
#[test]
fn the_bound_holds_for_each_thread() {
    static MOST: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let report = searched(2, || {
        let number = AtomicU32::new(1);
        let failures =
            (0..4).filter(|_| number.compare_exchange_weak(1, 1, SeqCst, SeqCst).is_err());
        let failures = failures.count() as u32;
        MOST.fetch_max(failures, SeqCst);
    });
    clean(&report);
    assert_eq!(MOST.load(SeqCst), 2);
    // The number of ways to choose at most two of four.
    assert_eq!(report.executions, 1 + 4 + 6);
}

#[raddle::test(spurious = 1, strategy = "dpor")]
#[should_panic = "failed without a reason"]
fn can_be_set_in_the_attribute() {
    exchanges_once();
}
