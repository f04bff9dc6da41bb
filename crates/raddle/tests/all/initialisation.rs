//! One-time initialisation: `Once`, `OnceLock` and `LazyLock` behave as in `std`, and their bugs are found.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, LazyLock, Once, OnceLock};
use raddle::{Config, Finding, thread};

use super::support::same_as_std::{deadlock, exhaust, failure, message, same_as_std};

#[test]
fn once() {
    let seen = same_as_std(|| {
        let once = Once::new();
        let mut seen = vec![once.is_completed().to_string()];
        seen.push(message(|| once.call_once(|| panic!("the first time"))));
        seen.push(message(|| once.call_once(|| {})));
        seen.push(once.is_completed().to_string());
        once.call_once_force(|state| seen.push(state.is_poisoned().to_string()));
        once.call_once(|| unreachable!());
        once.call_once_force(|_| unreachable!());
        seen.push(once.is_completed().to_string());
        let fresh = Once::default();
        fresh.call_once_force(|state| seen.push(state.is_poisoned().to_string()));
        seen
    });
    let poisoned = "Once instance has previously been poisoned";
    assert_eq!(seen, ["false", "the first time", poisoned, "false", "true", "true", "false"]);
}

#[test]
fn one_thread_initialises() {
    let executions = exhaust(|| {
        let shared = Arc::new((Once::new(), AtomicUsize::new(0)));
        let call = |shared: &(Once, AtomicUsize)| {
            shared.0.call_once(|| {
                shared.1.fetch_add(1, SeqCst);
            });
            assert_eq!(shared.1.load(SeqCst), 1);
        };
        let other = thread::spawn({
            let shared = shared.clone();
            move || call(&shared)
        });
        call(&shared);
        other.join().unwrap();
    });
    // If main is first, its load has 4 places among the steps of the other thread. If the other is first, there are 6 orders.
    assert_eq!(executions, 10);
}

#[test]
fn is_completed_is_an_operation() {
    let seen: &'static std::sync::Mutex<Vec<bool>> = Box::leak(Box::default());
    let report = Config::new().strategy("dfs").run(|| {
        let once = Arc::new(Once::new());
        let other = thread::spawn({
            let once = once.clone();
            move || once.call_once(|| {})
        });
        seen.lock().unwrap().push(once.is_completed());
        other.join().unwrap();
        assert!(once.is_completed());
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&true) && seen.contains(&false));
}

#[test]
fn a_recursive_initialisation_is_a_deadlock() {
    assert_eq!(
        deadlock(|| {
            let once = Once::new();
            thread::yield_now();
            once.call_once(|| once.call_once(|| {}));
        }),
        [(0, false)]
    );
    deadlock(|| {
        static FIRST: LazyLock<u32> = LazyLock::new(|| *SECOND + 1);
        static SECOND: LazyLock<u32> = LazyLock::new(|| *FIRST + 1);
        let other = thread::spawn(|| *SECOND);
        assert!(*FIRST > 0);
        other.join().unwrap();
    });
}

#[test]
fn initialisation_outside_is_complete_inside() {
    static ONCE: Once = Once::new();
    static LOCK: OnceLock<u32> = OnceLock::new();
    static LAZY: LazyLock<u32> = LazyLock::new(|| 5);
    ONCE.call_once(|| {});
    LOCK.set(4).unwrap();
    assert_eq!(*LAZY, 5);
    let report = Config::new().runs(3).explore_trivial(true).run(|| {
        ONCE.call_once(|| unreachable!());
        assert!(ONCE.is_completed());
        assert_eq!((LOCK.get(), LOCK.set(9), *LAZY), (Some(&4), Err(9), 5));
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
}

#[test]
fn statics_are_initialised_in_every_execution() {
    static MADE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    static ONCE: Once = Once::new();
    static LOCK: OnceLock<String> = OnceLock::new();
    static LAZY: LazyLock<AtomicUsize> = LazyLock::new(|| {
        MADE.fetch_add(1, SeqCst);
        AtomicUsize::new(1)
    });
    let report = Config::new().strategy("random").runs(20).explore_trivial(true).run(|| {
        let other = thread::spawn(|| LAZY.fetch_add(1, SeqCst));
        LAZY.fetch_add(1, SeqCst);
        other.join().unwrap();
        assert_eq!(LAZY.load(SeqCst), 3);
        assert!(!ONCE.is_completed() && LOCK.get().is_none());
        ONCE.call_once(|| {});
        assert_eq!(LOCK.get_or_init(|| "created".to_owned()), "created");
        assert!(LOCK.set("again".to_owned()).is_err());
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    // The executions 0, 1, 2, 4, 8, 16 and the last are run twice.
    assert_eq!(MADE.load(SeqCst), 27);
    assert!(!ONCE.is_completed() && LOCK.get().is_none());
    assert_eq!(LAZY.load(SeqCst), 1);
}

#[test]
fn once_lock() {
    same_as_std(|| {
        let mut lock = OnceLock::new();
        let mut seen = vec![format!("{lock:?} {:?}", lock.get())];
        seen.push(message(|| lock.get_or_init(|| panic!("not yet"))));
        seen.push(format!("{:?} {:?}", lock.set(1), lock.set(2)));
        seen.push(format!("{lock:?} {:?} {}", lock.get(), lock.get_or_init(|| 3)));
        *lock.get_mut().unwrap() += 10;
        seen.push(format!("{:?} {}", lock.clone(), lock == OnceLock::from(11)));
        seen.push(format!("{:?} {:?}", lock.take(), lock.take()));
        seen.push(format!("{} {:?}", lock.get_mut().is_none(), lock.get_or_init(|| 4)));
        seen.push(format!("{:?} {:?}", lock.into_inner(), OnceLock::<u8>::default().into_inner()));
        seen
    });
}

#[test]
fn a_value_is_set_once() {
    exhaust(|| {
        let lock = Arc::new(OnceLock::new());
        let other = thread::spawn({
            let lock = lock.clone();
            move || lock.set(1).is_ok()
        });
        let mine = *lock.get_or_init(|| 2);
        let set = other.join().unwrap();
        assert_eq!((set, lock.get()), (mine == 1, Some(&mine)));
    });
}

/// A thread reads a value that may not be set yet.
#[test]
fn a_value_that_may_not_be_set_yet() {
    let finding = failure(|| {
        let lock = Arc::new(OnceLock::new());
        let other = thread::spawn({
            let lock = lock.clone();
            move || lock.set(1).unwrap()
        });
        lock.get().expect("not set yet");
        other.join().unwrap();
    });
    assert!(matches!(finding, Finding::Panic(_)), "{finding:?}");
}

#[test]
fn values_of_a_once_lock_are_dropped_with_it() {
    same_as_std(|| {
        let value = Arc::new(());
        let lock = OnceLock::new();
        lock.set(value.clone()).unwrap();
        let before = Arc::strong_count(&value);
        drop(lock);
        (before, Arc::strong_count(&value))
    });
}

#[test]
fn lazy_lock() {
    let seen = same_as_std(|| {
        let word = String::from("a");
        let lazy = LazyLock::new(move || word + "b");
        let mut seen = vec![format!("{lazy:?}"), lazy.len().to_string()];
        seen.push(format!("{lazy:?} {}", LazyLock::force(&lazy)));
        let fails = LazyLock::<u32>::new(|| panic!("never"));
        seen.push(message(|| *fails));
        seen.push(message(|| *fails));
        let captures = LazyLock::new(|| -> u32 { panic!("{} times", seen.len()) });
        let (first, second) = (message(|| *captures), message(|| *captures));
        drop(captures);
        seen.extend([first, second, LazyLock::<u32>::default().to_string()]);
        seen
    });
    let poisoned = "LazyLock instance has previously been poisoned";
    assert_eq!(seen[3..5], ["never", poisoned]);
    assert_eq!(seen[5..], ["5 times", poisoned, "0"]);
}

#[test]
fn a_closure_of_a_lazy_lock_is_called_in_one_execution_only() {
    let lazy = Arc::new(LazyLock::new({
        let word = String::from("captured");
        move || word
    }));
    let report = Config::new().runs(1).run(move || {
        let lazy = &lazy;
        assert_eq!(lazy.len(), 8);
    });
    let finding = &report.failure().expect("the first execution is run twice").finding;
    let text = raddle::text(&report);
    assert!(
        text.contains("Create it inside the check")
            || matches!(finding, Finding::Nondeterminism { .. }),
        "{text}"
    );
}

#[test]
fn waiting_threads_retry_a_failed_initialisation() {
    exhaust(|| {
        let shared = Arc::new((OnceLock::new(), AtomicUsize::new(0)));
        let make = |shared: &(OnceLock<u32>, AtomicUsize)| {
            let made = catch_unwind(AssertUnwindSafe(|| {
                *shared.0.get_or_init(|| {
                    assert!(shared.1.fetch_add(1, SeqCst) > 0, "the first attempt fails");
                    7
                })
            }));
            made.ok()
        };
        let other = thread::spawn({
            let shared = shared.clone();
            move || make(&shared)
        });
        let mine = make(&shared);
        let theirs = other.join().unwrap();
        // The first thread failed, and the other initialised.
        assert_eq!((mine.or(theirs), mine.and(theirs)), (Some(7), None));
    });
}
