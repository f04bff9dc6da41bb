//! Panics that the program catches, with operations in destructors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use raddle::sync::{Arc, Mutex, mpsc};
use raddle::{Config, Finding, Memory, Verdict, thread};

use crate::support::{child, child_case};

/// Explores every execution of `program`, none of which fails. Returns the numbers of executions and classes.
fn exhausted(program: fn()) -> (u64, u64) {
    let report = Config::new().strategy("dfs").run(program);
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
    (report.executions, report.classes)
}

struct LocksOnDrop(Arc<Mutex<()>>);

impl Drop for LocksOnDrop {
    fn drop(&mut self) {
        drop(self.0.lock());
    }
}

#[test]
fn a_search_handles_forced_steps() {
    let counts = exhausted(|| {
        let mutex = Arc::new(Mutex::new(()));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _guard = mutex.lock();
                    panic!("while locked")
                }));
                assert!(caught.is_err());
            }
        });
        drop(mutex.lock());
        other.join().unwrap();
    });
    // Main locks and unlocks first, or after the other thread's unlock, before or after its exit.
    assert_eq!(counts, (4, 2));
}

#[test]
fn a_thread_may_start_with_unwinding() {
    exhausted(|| {
        let mutex = Arc::new(Mutex::new(()));
        let other = thread::spawn({
            let mutex = mutex.clone();
            move || {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _locks = LocksOnDrop(mutex);
                    panic!("before anything else")
                }));
                assert!(caught.is_err());
            }
        });
        drop(mutex.lock());
        other.join().unwrap();
    });
}

/// The creator runs next, after the new thread has announced an operation.
#[test]
fn a_thread_may_start_with_a_wait_in_a_destructor() {
    exhausted(|| {
        let gate = Arc::new(Mutex::new(()));
        let slow = thread::spawn(|| {
            thread::yield_now();
            7
        });
        let held = gate.lock();
        let unwinds = thread::spawn({
            let gate = gate.clone();
            move || {
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _locks = LocksOnDrop(gate);
                    panic!("caught")
                }));
                assert!(caught.is_err());
            }
        });
        assert_eq!(slow.join().unwrap(), 7);
        drop(held);
        unwinds.join().unwrap();
    });
}

#[test]
fn nondeterminism_during_a_search_is_a_failure() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let report = Config::new().strategy("dfs").run(|| {
        let threads = if RUNS.fetch_add(1, Relaxed) < 4 { 2 } else { 1 };
        let threads: Vec<_> = (0..threads).map(|_| thread::spawn(thread::yield_now)).collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let failure = report.failure().expect("the program changes from run to run");
    assert!(matches!(failure.finding, Finding::Nondeterminism { .. }), "{:?}", failure.finding);
}

#[test]
fn a_guard_dropped_while_another_thread_unwinds_does_not_poison() {
    let report = Config::new().strategy("dfs").run(|| {
        let gate = Arc::new(Mutex::new(()));
        let holder = thread::spawn({
            let gate = gate.clone();
            move || {
                let _guard = gate.lock();
                thread::yield_now();
            }
        });
        let unwinds = thread::spawn({
            let gate = gate.clone();
            move || {
                thread::yield_now();
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    let _locks = LocksOnDrop(gate);
                    panic!("caught");
                }));
            }
        });
        unwinds.join().unwrap();
        holder.join().unwrap();
        assert!(!gate.is_poisoned(), "no thread panicked while it held the lock");
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
}

#[test]
fn a_deadlock_of_an_unwinding_thread_is_reproduced() {
    let report = Config::new().run(|| {
        let gate = Arc::new(Mutex::new(()));
        let _guard = gate.lock();
        let other = thread::spawn({
            let gate = gate.clone();
            move || {
                thread::yield_now();
                let _locks = LocksOnDrop(gate);
                panic!("escapes");
            }
        });
        other.join().unwrap();
    });
    let failure = report.failure().unwrap();
    assert!(matches!(failure.finding, Finding::Deadlock(_)));
    assert!(failure.reproduced, "{}", raddle::text(&report));
}

/// The number of bodies of threads that exist.
static ALIVE: AtomicU32 = AtomicU32::new(0);

/// A part of a body, which counts the bodies.
struct Alive;

impl Alive {
    fn new() -> Alive {
        ALIVE.fetch_add(1, Relaxed);
        Alive
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Relaxed);
    }
}

/// The body of a thread that begins with a spawn and ends with a join.
fn nested(alive: Alive) {
    let inner = Alive::new();
    let child = thread::spawn(move || {
        thread::yield_now();
        drop(inner);
    });
    thread::yield_now();
    child.join().unwrap();
    drop(alive);
}

/// In a process of its own, because all checks of a process share a budget of threads that they leave behind.
#[test]
fn threads_are_left_behind_during_spawns_and_joins() {
    if child_case().is_none() {
        let name = "unwinding::threads_are_left_behind_during_spawns_and_joins";
        let output = child(name, "alone");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        return;
    }
    let cases = [
        ("random", Memory::Sc),
        ("random", Memory::Rc11),
        ("pct:3", Memory::Sc),
        ("pos", Memory::Sc),
    ];
    for (strategy, memory) in cases {
        let config = Config::new().strategy(strategy).memory(memory).keep_going(true).runs(300);
        let report = config.run(|| {
            let (first, second) = (Alive::new(), Alive::new());
            let first = thread::spawn(move || nested(first));
            let panics = thread::spawn(|| {
                thread::yield_now();
                panic!("at any time")
            });
            let second = thread::spawn(move || nested(second));
            first.join().unwrap();
            second.join().unwrap();
            panics.join().unwrap();
        });
        let failures = report.failures.as_ref().expect("it fails");
        assert_eq!((failures.failing, failures.causes.len()), (300, 1), "{strategy}");
        // Threads that have not ended are leaked, wherever they are.
        assert!(ALIVE.swap(0, Relaxed) > 0 && report.leaked > 0, "{strategy}");
    }
}

/// A thread that is about to receive a message is not among the waiting senders. If another thread unwinds and waits, the
/// message is received on the slow path, which updates the waiters.
#[test]
fn a_message_is_taken_while_another_thread_unwinds() {
    let report = Config::new().strategy("random").runs(100).run(|| {
        let gate = Arc::new(Mutex::new(()));
        let (sender, receiver) = mpsc::sync_channel(1);
        sender.send(1).unwrap();
        let waits_for_room = thread::spawn(move || sender.send(2).unwrap());
        let held = gate.lock();
        let unwinds = thread::spawn({
            let gate = gate.clone();
            move || {
                thread::yield_now();
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    let _locks = LocksOnDrop(gate);
                    panic!("caught")
                }));
                assert!(caught.is_err());
            }
        });
        assert_eq!(receiver.recv(), Ok(1));
        drop(held);
        assert_eq!(receiver.recv(), Ok(2));
        waits_for_room.join().unwrap();
        unwinds.join().unwrap();
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
}
