//! Executions that cannot end: the failure is reported and reproduced, whatever the destructors of their threads do.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex, MutexGuard, mpsc};
use raddle::{Config, Finding, hint, thread};

use super::{assert_clean, assert_found, is_deadlock, reports};
use crate::support::{child, child_case};

type Lock = Arc<Mutex<u32>>;

fn lock() -> Lock {
    Arc::new(Mutex::new(0))
}

fn lock_both(first: &Lock, second: &Lock) {
    let _first = first.lock();
    let _second = second.lock();
}

/// Two threads deadlock, each with a value from `make`, which gets a lock that neither holds.
fn deadlock_with<T: Send + 'static>(make: fn(Lock) -> T) {
    let (a, b, free) = (lock(), lock(), lock());
    let other = thread::spawn({
        let (a, b, free) = (a.clone(), b.clone(), free.clone());
        move || {
            let _value = make(free);
            lock_both(&b, &a);
        }
    });
    let _value = make(free);
    lock_both(&a, &b);
    other.join().unwrap();
}

struct LocksOnDrop(Lock);

impl Drop for LocksOnDrop {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

#[test]
fn destructors_that_lock() {
    assert_found(|| deadlock_with(LocksOnDrop), is_deadlock);
}

/// Takes the locks that the threads hold where they are stuck.
struct LocksBothOnDrop(Lock, Lock);

impl Drop for LocksBothOnDrop {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
        *self.1.lock().unwrap() += 1;
    }
}

#[test]
fn destructors_that_lock_what_is_held() {
    let program = || {
        let (a, b) = (lock(), lock());
        let _mine = LocksBothOnDrop(a.clone(), b.clone());
        let other = thread::spawn({
            let (a, b) = (a.clone(), b.clone());
            move || {
                let _locks = LocksBothOnDrop(a.clone(), b.clone());
                lock_both(&b, &a);
            }
        });
        lock_both(&a, &b);
        other.join().unwrap();
    };
    assert_found(program, is_deadlock);
}

/// Expects a value that another thread takes out and puts back while it holds the lock.
struct NeedsSome(Arc<Mutex<Option<u32>>>);

impl Drop for NeedsSome {
    fn drop(&mut self) {
        let held = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        held.expect("no thread sees the lock without a value");
    }
}

struct PutsBack<'a>(MutexGuard<'a, Option<u32>>, u32);

impl Drop for PutsBack<'_> {
    fn drop(&mut self) {
        *self.0 = Some(self.1);
    }
}

fn take_and_lock(slot: &Mutex<Option<u32>>, first: &Lock, second: &Lock) {
    let mut held = slot.lock().unwrap();
    let value = held.take().unwrap();
    let _back = PutsBack(held, value);
    lock_both(first, second);
}

#[test]
fn destructors_that_rely_on_a_broken_invariant() {
    let programs: [fn(); 2] = [
        || {
            let (slot, a, b) = (Arc::new(Mutex::new(Some(1))), lock(), lock());
            let other = thread::spawn({
                let (slot, a, b) = (slot.clone(), a.clone(), b.clone());
                move || {
                    let _needs = NeedsSome(slot);
                    lock_both(&b, &a);
                }
            });
            take_and_lock(&slot, &a, &b);
            other.join().unwrap();
        },
        || {
            let (slot, a, b) = (Arc::new(Mutex::new(Some(1))), lock(), lock());
            let _needs = NeedsSome(slot.clone());
            let other = thread::spawn({
                let (a, b) = (a.clone(), b.clone());
                move || take_and_lock(&slot, &b, &a)
            });
            lock_both(&a, &b);
            other.join().unwrap();
        },
    ];
    for program in programs {
        assert_found(program, is_deadlock);
    }
}

/// Must be closed before it is dropped.
trait Closes {
    fn new() -> Self;
    fn close(&mut self);
}

struct Closed(bool);

impl Drop for Closed {
    fn drop(&mut self) {
        assert!(self.0, "not closed");
    }
}

impl Closes for Closed {
    fn new() -> Closed {
        Closed(false)
    }

    fn close(&mut self) {
        self.0 = true;
    }
}

/// Need not be closed if the thread panics.
struct ClosedUnlessPanicking(bool);

impl Drop for ClosedUnlessPanicking {
    fn drop(&mut self) {
        assert!(self.0 || thread::panicking(), "not closed");
    }
}

impl Closes for ClosedUnlessPanicking {
    fn new() -> ClosedUnlessPanicking {
        ClosedUnlessPanicking(false)
    }

    fn close(&mut self) {
        self.0 = true;
    }
}

fn close_after_deadlock<C: Closes>(a: Lock, b: Lock) {
    let mut closed = C::new();
    lock_both(&a, &b);
    closed.close();
}

fn deadlock_before_closing<C: Closes>() {
    let (a, b) = (lock(), lock());
    let other = thread::spawn({
        let (a, b) = (a.clone(), b.clone());
        move || close_after_deadlock::<C>(b, a)
    });
    close_after_deadlock::<C>(a, b);
    other.join().unwrap();
}

#[test]
fn destructors_that_ask_whether_the_thread_panics() {
    assert_found(deadlock_before_closing::<ClosedUnlessPanicking>, is_deadlock);
}

#[test]
fn destructors_that_assert() {
    assert_found(deadlock_before_closing::<Closed>, is_deadlock);
}

struct JoinsOnDrop(Option<thread::JoinHandle<()>>);

impl Drop for JoinsOnDrop {
    fn drop(&mut self) {
        self.0.take().unwrap().join().unwrap();
    }
}

#[test]
fn destructors_that_join() {
    let program = || {
        let (a, b) = (lock(), lock());
        let (same_a, same_b) = (a.clone(), b.clone());
        let _joins = JoinsOnDrop(Some(thread::spawn(move || lock_both(&same_b, &same_a))));
        lock_both(&a, &b);
    };
    assert_found(program, is_deadlock);
}

/// Waits for a flag that no thread sets.
struct WaitsOnDrop(Arc<(Mutex<bool>, Condvar)>);

impl Drop for WaitsOnDrop {
    fn drop(&mut self) {
        let mut is_set = self.0.0.lock().unwrap();
        while !*is_set {
            is_set = self.0.1.wait(is_set).unwrap();
        }
    }
}

#[test]
fn destructors_that_wait() {
    let program = || {
        let flag = Arc::new((Mutex::new(false), Condvar::new()));
        let other = thread::spawn({
            let flag = flag.clone();
            move || drop(WaitsOnDrop(flag))
        });
        let _waits = WaitsOnDrop(flag);
        other.join().unwrap();
    };
    assert_found(program, is_deadlock);
}

/// A thread that catches the unwinding in a loop is in a deadlock as any other.
#[test]
fn threads_that_catch_in_a_loop() {
    let program = || {
        let (a, b) = (lock(), lock());
        let other = thread::spawn({
            let (a, b) = (a.clone(), b.clone());
            move || while catch_unwind(AssertUnwindSafe(|| lock_both(&b, &a))).is_err() {}
        });
        lock_both(&a, &b);
        other.join().unwrap();
    };
    assert_found(program, is_deadlock);
}

struct SpinsOnDrop(Arc<AtomicU32>);

impl Drop for SpinsOnDrop {
    fn drop(&mut self) {
        while self.0.load(SeqCst) == 0 {
            hint::spin_loop();
        }
    }
}

#[test]
fn destructors_that_spin() {
    let program = || {
        let (a, b, flag) = (lock(), lock(), Arc::new(AtomicU32::new(0)));
        let other = thread::spawn({
            let (a, b, flag) = (a.clone(), b.clone(), flag.clone());
            move || {
                let _spins = SpinsOnDrop(flag);
                lock_both(&b, &a);
            }
        });
        lock_both(&a, &b);
        flag.store(1, SeqCst);
        other.join().unwrap();
    };
    // The portable back end refuses searches of endless loops.
    if cfg!(feature = "portable") {
        for strategy in ["bpor:fair:1", "random", "pct:3"] {
            let report = Config::new().strategy(strategy).run(program);
            let failure = report.failure().unwrap_or_else(|| panic!("{}", raddle::text(&report)));
            assert!(is_deadlock(&failure.finding) && failure.reproduced);
        }
    } else {
        assert_found(program, is_deadlock);
    }
}

/// Two detached threads in a cycle are a deadlock, also if main has ended before.
#[test]
fn a_cycle_of_detached_threads() {
    let program = || {
        let (a, b) = (lock(), lock());
        let (same_a, same_b) = (a.clone(), b.clone());
        thread::spawn(move || lock_both(&a, &b));
        thread::spawn(move || lock_both(&same_b, &same_a));
    };
    assert_found(program, is_deadlock);
    let report = Config::new().strategy("dpor").run(program);
    let text = raddle::text(&report);
    assert!(text.contains("cycle: "), "{text}");
    match &report.failure().unwrap().finding {
        Finding::Deadlock(waits) => {
            assert_eq!(waits.iter().filter(|wait| wait.in_cycle).count(), 2, "{waits:?}");
        }
        other => panic!("{other:?}"),
    }
}

/// A detached thread that joins itself by way of another is a cycle, too.
#[test]
fn a_cycle_of_joins_and_locks() {
    let program = || {
        let held = lock();
        let other = thread::spawn({
            let held = held.clone();
            move || drop(held.lock())
        });
        thread::spawn(move || {
            let _held = held.lock();
            other.join().unwrap();
        });
    };
    assert_found(program, is_deadlock);
}

/// Threads that wait for no other thread are no deadlock, after main has ended.
#[test]
fn detached_workers() {
    assert_clean(|| {
        let (sender, receiver) = mpsc::channel::<u32>();
        let sum = Arc::new(AtomicU32::new(0));
        thread::spawn({
            let (sum, sender) = (sum.clone(), sender.clone());
            move || {
                let _keep = sender;
                for value in receiver {
                    sum.fetch_add(value, SeqCst);
                }
            }
        });
        sender.send(1).unwrap();
        sum.fetch_add(1, SeqCst);
    });
}

/// A detached worker is unwound with locks respected, and nothing is poisoned.
#[test]
fn a_detached_worker_is_unwound() {
    static DROPPED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    struct Counts(Lock);
    impl Drop for Counts {
        fn drop(&mut self) {
            assert!(thread::panicking() && !self.0.is_poisoned());
            *self.0.lock().unwrap() += 1;
            DROPPED.fetch_add(1, SeqCst);
        }
    }
    let program = || {
        let shared = lock();
        for _ in 0..2 {
            let shared = shared.clone();
            thread::spawn(move || {
                let _counts = Counts(shared.clone());
                let _held = shared.lock().unwrap();
                thread::park();
            });
        }
    };
    for strategy in ["random", "pct:3", "dpor"] {
        DROPPED.store(0, SeqCst);
        let report = Config::new().strategy(strategy).runs(50).run(program);
        assert!(report.failure().is_none(), "{}", raddle::text(&report));
        assert_eq!(report.leaked, 0, "{strategy}");
        assert!(u64::from(DROPPED.load(SeqCst)) >= 2 * report.executions);
    }
}

/// A thread that joins a thread that raddle has unwound gets no result, and stays where it is.
#[test]
fn a_join_of_a_thread_that_was_unwound_does_not_return() {
    let program = || {
        let parked = thread::spawn(thread::park);
        thread::spawn(move || {
            let _joins = JoinsOnDrop(Some(parked));
            thread::park();
        });
    };
    let report = Config::new().strategy("random").runs(20).run(program);
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    // Executions that are repeated leak, too.
    assert!(report.leaked >= report.executions, "{}", report.leaked);
}

/// A panic with other threads waiting is reported, whatever their destructors do.
#[test]
fn a_panic_while_others_wait() {
    let program = || {
        thread::spawn(|| {
            let _closed = Closed(false);
            thread::park();
        });
        panic!("main fails");
    };
    for report in reports(Config::new, program) {
        let failure = report.failure().unwrap_or_else(|| panic!("{}", raddle::text(&report)));
        assert!(matches!(&failure.finding, Finding::Panic(panic) if panic.message == "main fails"));
        assert!(failure.reproduced, "{}", raddle::text(&report));
    }
}

#[test]
fn child_entry() {
    if child_case().as_deref() == Some("destructor of a detached thread") {
        Config::new().runs(1).run(|| {
            thread::spawn(|| {
                let _closed = Closed(false);
                thread::park();
            });
        });
    }
}

/// A destructor that panics while raddle unwinds its thread ends the process. The message names the reason.
#[test]
fn a_destructor_that_panics_while_its_thread_is_cleared_away() {
    let output = child("ends::failed::child_entry", "destructor of a detached thread");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    let expected =
        "a destructor of thread 1 panicked while raddle cleared away a thread that waits forever";
    assert!(text.contains(expected) && text.contains("RADDLE_REPLAY=r1-"), "{text}");
}
