//! `panicking()` and poison, as in `std`, whatever other threads do.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Panics, thread, thread_local};

use super::{assert_clean, reports};

fn caught(body: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(body)).is_err());
}

/// Adds 1 twice when it is dropped.
struct AddsTwice(Arc<AtomicU32>);

impl Drop for AddsTwice {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        self.0.fetch_add(1, SeqCst);
    }
}

/// Panics and catches the panic, with steps in between.
fn panic_slowly(variable: Arc<AtomicU32>) {
    caught(|| {
        let _adds = AddsTwice(variable);
        panic!("on purpose")
    });
}

fn assert_not_panicking() {
    assert!(!std::thread::panicking() && !thread::panicking());
}

#[test]
fn two_threads_that_panic_poison_a_lock_each() {
    assert_clean(|| {
        let variable = Arc::new(AtomicU32::new(0));
        let locks = [Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0))];
        let threads = locks.clone().map(|lock| {
            let variable = variable.clone();
            thread::spawn(move || {
                caught(|| {
                    let _held = lock.lock().unwrap();
                    let _adds = AddsTwice(variable);
                    panic!("on purpose")
                })
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(locks.iter().all(|lock| lock.is_poisoned()));
    });
}

#[test]
fn a_lock_is_not_poisoned_by_another_thread() {
    assert_clean(|| {
        let variable = Arc::new(AtomicU32::new(0));
        let lock = Arc::new(Mutex::new(0));
        let panics = thread::spawn({
            let variable = variable.clone();
            move || panic_slowly(variable)
        });
        let locks = thread::spawn({
            let lock = lock.clone();
            move || {
                let _held = lock.lock().unwrap();
                variable.fetch_add(1, SeqCst);
            }
        });
        panics.join().unwrap();
        locks.join().unwrap();
        assert!(!lock.is_poisoned());
    });
}

#[test]
fn a_thread_is_not_panicking_because_another_unwinds() {
    assert_clean(|| {
        let variable = Arc::new(AtomicU32::new(0));
        let panics = thread::spawn({
            let variable = variable.clone();
            move || panic_slowly(variable)
        });
        let asks = thread::spawn(move || {
            assert_not_panicking();
            variable.fetch_add(1, SeqCst);
            assert_not_panicking();
        });
        panics.join().unwrap();
        asks.join().unwrap();
        assert_not_panicking();
    });
}

#[test]
fn a_lock_of_std_is_not_poisoned_by_another_thread() {
    assert_clean(|| {
        let variable = Arc::new(AtomicU32::new(0));
        let lock = Arc::new(std::sync::Mutex::new(0));
        let panics = thread::spawn({
            let variable = variable.clone();
            move || panic_slowly(variable)
        });
        let locks = thread::spawn({
            let lock = lock.clone();
            move || {
                variable.fetch_add(1, SeqCst);
                *lock.lock().unwrap() += 1;
                variable.fetch_add(1, SeqCst);
            }
        });
        panics.join().unwrap();
        locks.join().unwrap();
        assert!(!lock.is_poisoned());
    });
}

#[test]
fn a_resumed_panic_poisons() {
    assert_clean(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = thread::spawn({
            let lock = lock.clone();
            move || {
                caught(|| {
                    let _held = lock.lock().unwrap();
                    resume_unwind(Box::new(1))
                })
            }
        });
        other.join().unwrap();
        assert!(lock.is_poisoned());
    });
}

#[test]
fn a_caught_panic_is_over_while_another_thread_unwinds() {
    assert_clean(|| {
        let variable = Arc::new(AtomicU32::new(0));
        let lock = Arc::new(Mutex::new(0));
        let first = thread::spawn({
            let (lock, variable) = (lock.clone(), variable.clone());
            move || {
                panic_slowly(variable.clone());
                let held = lock.lock().unwrap();
                variable.fetch_add(1, SeqCst);
                drop(held);
                assert_not_panicking();
            }
        });
        let second = thread::spawn(move || panic_slowly(variable));
        first.join().unwrap();
        second.join().unwrap();
        assert!(!lock.is_poisoned());
    });
}

/// Panics in turn, and catches that, when it is dropped.
struct PanicsInside(Arc<AtomicU32>);

impl Drop for PanicsInside {
    fn drop(&mut self) {
        assert!(thread::panicking());
        panic_slowly(self.0.clone());
        assert!(thread::panicking(), "the outer panic is still under way");
        self.0.fetch_add(1, SeqCst);
        assert!(thread::panicking(), "the outer panic is still under way");
    }
}

#[test]
fn a_nested_panic_does_not_end_the_outer_one() {
    assert_clean(|| {
        let variable = Arc::new(AtomicU32::new(0));
        let other = thread::spawn({
            let variable = variable.clone();
            move || {
                caught(|| {
                    let _panics = PanicsInside(variable);
                    panic!("outer")
                });
                assert_not_panicking();
            }
        });
        panic_slowly(variable.clone());
        assert_not_panicking();
        other.join().unwrap();
    });
}

struct AsksInThreadLocal;

impl Drop for AsksInThreadLocal {
    fn drop(&mut self) {
        assert_not_panicking();
        thread::yield_now();
        assert_not_panicking();
    }
}

thread_local! {
    static ASKS: AsksInThreadLocal = const { AsksInThreadLocal };
}

fn joined() -> Config {
    Config::new().panics(Panics::Join)
}

/// The panic has left the thread before its thread-local values are destroyed, as in `std`.
#[test]
fn thread_local_destructors_do_not_unwind() {
    let program = || {
        let other = thread::spawn(|| {
            ASKS.with(|_| ());
            panic!("joined")
        });
        thread::yield_now();
        let _: Box<_> = other.join().map(|_: ()| ()).unwrap_err();
    };
    for report in reports(joined, program) {
        assert!(report.failure().is_none(), "{}", raddle::text(&report));
    }
}

struct PanicsInThreadLocal;

impl Drop for PanicsInThreadLocal {
    fn drop(&mut self) {
        panic!("the destructor fails")
    }
}

thread_local! {
    static PANICS: PanicsInThreadLocal = const { PanicsInThreadLocal };
}

/// `std` ends the process, so no `join` may hide the panic, and it need not be the only one.
#[test]
fn a_panic_of_a_thread_local_destructor_is_a_failure() {
    let programs: [fn(); 2] = [
        || {
            let other = thread::spawn(|| PANICS.with(|_| ()));
            let _ = other.join();
        },
        || {
            let other = thread::spawn(|| {
                PANICS.with(|_| ());
                panic!("joined")
            });
            let _: thread::Result<()> = other.join();
        },
    ];
    for program in programs {
        for report in reports(joined, program) {
            let text = raddle::text(&report);
            assert!(text.contains("the destructor fails"), "{text}");
            assert!(text.contains("without raddle the process aborts"), "{text}");
            assert!(report.failure().is_some_and(|failure| failure.reproduced), "{text}");
        }
    }
}

/// A check that is made by a destructor while its OS thread unwinds.
#[test]
fn a_check_in_a_destructor() {
    struct Checks;
    impl Drop for Checks {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            let report = Config::new().run(|| {
                let other = thread::spawn(|| {
                    assert_not_panicking();
                    panic_slowly(Arc::new(AtomicU32::new(0)));
                    assert_not_panicking();
                });
                thread::yield_now();
                other.join().unwrap();
            });
            assert!(report.failure().is_none(), "{}", raddle::text(&report));
            assert!(std::thread::panicking());
        }
    }
    caught(|| {
        let _checks = Checks;
        resume_unwind(Box::new("on purpose"))
    });
    assert!(!std::thread::panicking());
}
