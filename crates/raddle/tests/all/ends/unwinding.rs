//! Threads that unwind are interrupted: bugs that need it are found.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, TryLockError};
use raddle::thread;

use super::{assert_clean, assert_found, is_deadlock, is_panic};

fn caught(body: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(body)).is_err());
}

/// Stores twice when it is dropped.
struct StoresTwice(Arc<AtomicU32>);

impl Drop for StoresTwice {
    fn drop(&mut self) {
        self.0.store(1, SeqCst);
        self.0.store(2, SeqCst);
    }
}

/// Main must not see the first of the two stores that `body` makes with this value.
fn seen_half_way(body: fn(StoresTwice)) {
    let variable = Arc::new(AtomicU32::new(0));
    let stores = StoresTwice(variable.clone());
    let other = thread::spawn(move || body(stores));
    let seen = variable.load(SeqCst);
    other.join().unwrap();
    assert!(seen != 1, "seen half-way");
}

#[test]
fn between_a_panic_and_an_unlock() {
    let program = || {
        let lock = Arc::new(Mutex::new(0));
        let same = lock.clone();
        let panics = thread::spawn(move || {
            caught(|| {
                let _held = lock.lock();
                panic!("while locked")
            })
        });
        let tries =
            thread::spawn(move || !matches!(same.try_lock(), Err(TryLockError::WouldBlock)));
        panics.join().unwrap();
        assert!(tries.join().unwrap(), "the lock was not free");
    };
    assert_found(program, is_panic);
}

#[test]
fn between_two_stores_of_a_destructor() {
    let program = || {
        seen_half_way(|stores| {
            caught(|| {
                let _stores = stores;
                panic!("on purpose")
            })
        })
    };
    assert_found(program, is_panic);
}

#[test]
fn between_two_stores_without_a_panic() {
    assert_found(|| seen_half_way(drop), is_panic);
}

#[test]
fn between_two_stores_of_a_resumed_panic() {
    let program = || {
        seen_half_way(|stores| {
            caught(|| {
                let _stores = stores;
                resume_unwind(Box::new(1))
            })
        })
    };
    assert_found(program, is_panic);
}

/// Takes two locks when it is dropped.
struct LocksBoth(Arc<Mutex<u32>>, Arc<Mutex<u32>>);

impl Drop for LocksBoth {
    fn drop(&mut self) {
        let _first = self.0.lock();
        let _second = self.1.lock();
    }
}

fn locks_both(reversed: bool) {
    let (a, b) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
    let locks = LocksBoth(a.clone(), b.clone());
    let (first, second) = if reversed { (b, a) } else { (a, b) };
    let panics = thread::spawn(move || {
        caught(|| {
            let _locks = locks;
            panic!("on purpose")
        })
    });
    let other = thread::spawn(move || {
        let _first = first.lock();
        let _second = second.lock();
    });
    panics.join().unwrap();
    other.join().unwrap();
}

#[test]
fn between_two_locks_of_a_destructor() {
    assert_found(|| locks_both(true), is_deadlock);
}

#[test]
fn two_locks_of_a_destructor_in_the_same_order() {
    assert_clean(|| locks_both(false));
}
