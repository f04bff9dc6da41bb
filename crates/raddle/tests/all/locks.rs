//! Reader-writer locks and barriers: they behave as in `std`, and their bugs are found.

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Barrier, Mutex, PoisonError, RwLock, TryLockError};
use raddle::{Config, Finding, thread};

use super::support::same_as_std::{deadlock, exhaust, failure, message, same_as_std};

fn would_block<G>(result: &Result<G, TryLockError<G>>) -> bool {
    matches!(result, Err(TryLockError::WouldBlock))
}

#[test]
fn rwlock() {
    same_as_std(|| {
        let mut lock = RwLock::new(vec![1]);
        let mut seen = Vec::new();
        {
            let (first, second) = (lock.read().unwrap(), lock.try_read().unwrap());
            seen.push(format!("{first:?} {second:?} {}", would_block(&lock.try_write())));
        }
        {
            let mut writer = lock.write().unwrap();
            writer.push(2);
            seen.push(format!("{writer:?} {}", would_block(&lock.try_read())));
            seen.push(format!("{}", would_block(&lock.try_write())));
        }
        lock.try_write().unwrap().push(3);
        lock.get_mut().unwrap().push(4);
        seen.push(format!("{:?} {}", lock.read().unwrap(), lock.is_poisoned()));
        seen.push(format!("{:?}", lock.into_inner().unwrap()));
        seen.push(format!("{:?}", RwLock::<u8>::default().into_inner().unwrap()));
        seen.push(format!("{:?}", RwLock::from("a").into_inner().unwrap()));
        let slice: Arc<RwLock<[i32]>> = Arc::new(RwLock::new([1, 2]));
        slice.write().unwrap()[0] = 7;
        seen.push(format!("{:?}", slice.read().unwrap()));
        seen
    });
}

#[test]
fn locks_outside_are_formatted_as_in_std() {
    let (lock, real) = (RwLock::new(1), std::sync::RwLock::new(1));
    assert_eq!(format!("{lock:?}"), format!("{real:?}"));
    let (held, held_real) = (lock.write(), real.write());
    assert_eq!(format!("{lock:?}"), format!("{real:?}"));
    drop((held, held_real));
    let (lock, real) = (Mutex::new(1), std::sync::Mutex::new(1));
    assert_eq!(format!("{lock:?}"), format!("{real:?}"));
    let held = lock.lock();
    assert_eq!(format!("{lock:?}"), "Mutex { data: <locked>, poisoned: false, .. }");
    drop(held);
}

#[test]
fn only_a_writer_poisons_a_rwlock() {
    let seen = same_as_std(|| {
        let lock = RwLock::new(1);
        let mut seen = Vec::new();
        message::<()>(|| {
            let _reader = lock.read().unwrap();
            panic!("while reading")
        });
        seen.push(lock.is_poisoned().to_string());
        message::<()>(|| {
            *lock.write().unwrap() += 1;
            let _writer = lock.write().unwrap();
            panic!("while writing")
        });
        seen.push(lock.is_poisoned().to_string());
        seen.push(format!("{:?}", lock.read().map(|guard| *guard).map_err(|e| *e.into_inner())));
        seen.push(format!("{:?}", lock.write().map(|guard| *guard).map_err(|e| *e.into_inner())));
        seen.push(match lock.try_read() {
            Err(TryLockError::Poisoned(guard)) => format!("poisoned {}", guard.into_inner()),
            Ok(_) | Err(TryLockError::WouldBlock) => "not poisoned".into(),
        });
        lock.clear_poison();
        seen.push(format!("{:?}", lock.into_inner().map_err(PoisonError::into_inner)));
        seen
    });
    assert_eq!(seen, ["false", "true", "Err(2)", "Err(2)", "poisoned 2", "Ok(2)"]);
}

#[test]
fn poison_of_a_rwlock_does_not_outlive_its_execution() {
    static LOCK: RwLock<()> = RwLock::new(());
    let report = Config::new().runs(5).explore_trivial(true).run(|| {
        assert!(!LOCK.is_poisoned());
        message::<()>(|| {
            let _guard = LOCK.write();
            panic!("here")
        });
        assert!(LOCK.is_poisoned());
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    assert!(!LOCK.is_poisoned());
}

#[test]
fn readers_overlap_and_writers_do_not() {
    let executions = exhaust(|| {
        let lock = Arc::new(RwLock::new((0, 0)));
        let writer = thread::spawn({
            let lock = lock.clone();
            move || {
                let mut pair = lock.write().unwrap();
                pair.0 += 1;
                thread::yield_now();
                pair.1 += 1;
            }
        });
        let pair = lock.read().unwrap();
        assert_eq!(pair.0, pair.1);
        drop(pair);
        writer.join().unwrap();
    });
    // The reader is first, or the writer, which exits before, between or after the reader's two steps.
    assert_eq!(executions, 4);
}

#[test]
fn two_readers_hold_a_lock_at_once() {
    exhaust(|| {
        let lock = Arc::new(RwLock::new(()));
        let first = lock.read().unwrap();
        let other = thread::spawn({
            let lock = lock.clone();
            move || drop(lock.read().unwrap())
        });
        other.join().unwrap();
        drop(first);
    });
}

/// Both threads hold a read lock and wait for a write lock.
#[test]
fn upgrading_a_rwlock_is_a_deadlock() {
    let waits = deadlock(|| {
        let lock = Arc::new(RwLock::new(0));
        let upgrade = |lock: &RwLock<i32>| {
            let seen = lock.read().unwrap();
            if *seen == 0 {
                *lock.write().unwrap() = 1;
            }
            drop(seen);
        };
        let other = thread::spawn({
            let lock = lock.clone();
            move || upgrade(&lock)
        });
        upgrade(&lock);
        other.join().unwrap();
    });
    assert!(waits.contains(&(0, true)), "{waits:?}");
}

#[test]
fn an_update_based_on_a_read_lock_is_lost() {
    let finding = failure(|| {
        let lock = Arc::new(RwLock::new(0));
        let add = |lock: &RwLock<i32>| {
            let seen = *lock.read().unwrap();
            *lock.write().unwrap() = seen + 1;
        };
        let other = thread::spawn({
            let lock = lock.clone();
            move || add(&lock)
        });
        add(&lock);
        other.join().unwrap();
        assert_eq!(*lock.read().unwrap(), 2, "an update got lost");
    });
    assert!(matches!(finding, Finding::Panic(_)), "{finding:?}");
}

/// Outside runs a leaked guard leaves the lock held. This is the only effect.
#[test]
fn a_leaked_guard_outside_a_run() {
    let lock = RwLock::new(String::from("kept"));
    std::mem::forget(lock.write());
    let moved = Box::new(lock);
    assert!(would_block(&moved.try_read()));
    assert_eq!(moved.into_inner().unwrap(), "kept");
}

#[test]
fn a_guard_used_outside_its_execution_is_refused() {
    use raddle::sync::RwLockReadGuard;
    use std::cell::RefCell;
    static LOCK: RwLock<u32> = RwLock::new(3);
    thread_local! {
        static KEPT: RefCell<Option<RwLockReadGuard<'static, u32>>> = const { RefCell::new(None) };
    }
    let report = Config::new().runs(2).explore_trivial(true).run(|| {
        let guard = LOCK.read().unwrap();
        let before = KEPT.with(|kept| kept.borrow_mut().replace(guard));
        std::mem::forget(before);
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    let guard = KEPT.with(|kept| kept.borrow_mut().take()).unwrap();
    let text = message(|| *guard);
    assert!(text.contains("outside the execution that created it"), "{text}");
    drop(guard);
    *LOCK.write().unwrap() = 4;
}

#[test]
fn barrier() {
    same_as_std(|| {
        let barrier = Arc::new(Barrier::new(3));
        let meet = |barrier: &Barrier| {
            (0..2).map(|_| usize::from(barrier.wait().is_leader())).collect::<Vec<_>>()
        };
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let barrier = barrier.clone();
                thread::spawn(move || meet(&barrier))
            })
            .collect();
        let mut leaders = meet(&barrier);
        for thread in threads {
            for (sum, leader) in leaders.iter_mut().zip(thread.join().unwrap()) {
                *sum += leader;
            }
        }
        assert!(Barrier::new(0).wait().is_leader() && Barrier::new(1).wait().is_leader());
        leaders
    });
}

#[test]
fn a_barrier_with_too_few_threads_is_a_deadlock() {
    let waits = deadlock(|| {
        let barrier = Arc::new(Barrier::new(3));
        let other = thread::spawn({
            let barrier = barrier.clone();
            move || barrier.wait().is_leader()
        });
        barrier.wait();
        other.join().unwrap();
    });
    assert_eq!(waits, [(0, false), (1, false)]);
}

#[test]
fn a_barrier_separates_rounds() {
    exhaust(|| {
        let shared = Arc::new((Barrier::new(2), AtomicUsize::new(0)));
        let other = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.fetch_add(1, SeqCst);
                shared.0.wait();
            }
        });
        shared.0.wait();
        assert_eq!(shared.1.load(SeqCst), 1);
        other.join().unwrap();
    });
}
