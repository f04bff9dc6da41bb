//! Accesses that last, and accesses to atomics that are not atomic.

use loom::cell::{Cell, UnsafeCell};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use crate::support::{assert_fails, failure};

struct Shared {
    cell: UnsafeCell<u32>,
    flag: AtomicUsize,
}

// SAFETY: raddle runs one thread at a time, and the accesses are what is tested.
unsafe impl Sync for Shared {}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { cell: UnsafeCell::new(0), flag: AtomicUsize::new(0) })
}

/// Writes the cell in another thread, before or after it sets the flag with this ordering.
fn with_writer(order: Ordering, reader: fn(&Shared)) {
    let shared = shared();
    let writer = {
        let shared = shared.clone();
        thread::spawn(move || {
            // SAFETY: raddle runs one thread at a time.
            shared.cell.with_mut(|number| unsafe { *number = 1 });
            shared.flag.store(1, order);
        })
    };
    reader(&shared);
    writer.join().unwrap();
}

fn read_if_set(shared: &Shared) {
    if shared.flag.load(Ordering::Acquire) == 1 {
        // SAFETY: raddle runs one thread at a time.
        assert_eq!(shared.cell.with(|number| unsafe { *number }), 1);
    }
}

#[test]
fn a_release_orders_accesses() {
    loom::model(|| with_writer(Ordering::Release, read_if_set));
    assert_fails("race", || with_writer(Ordering::Relaxed, read_if_set));
}

/// Sets the flag while an access lasts, or after it. The other thread accesses the cell if it sees the flag.
fn while_it_lasts(is_over: bool) {
    let shared = shared();
    let other = {
        let shared = shared.clone();
        thread::spawn(move || {
            if shared.flag.load(Ordering::Acquire) == 1 {
                shared.cell.with_mut(|_| ());
            }
        })
    };
    let pointer = shared.cell.get();
    if is_over {
        drop(pointer);
        shared.flag.store(1, Ordering::Release);
    } else {
        shared.flag.store(1, Ordering::Release);
        drop(pointer);
    }
    other.join().unwrap();
}

#[test]
fn an_access_lasts_until_its_pointer_is_dropped() {
    loom::model(|| while_it_lasts(true));
    // The pointer is dropped before the other access, or after it.
    let report = failure(|| while_it_lasts(false)).expect("a failure");
    assert!(report.contains("data race") || report.contains("overlap"), "{report}");
}

#[test]
fn an_access_lasts_until_its_function_returns() {
    loom::model(|| {
        let shared = shared();
        shared.cell.with_mut(|_| shared.flag.store(1, Ordering::Release));
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.cell.with(|_| shared.flag.load(Ordering::Acquire)))
        };
        other.join().unwrap();
        let pointer = shared.cell.get_mut();
        // SAFETY: there is no other reference.
        unsafe { *pointer.deref() += 1 };
        pointer.with(|_| ());
    });
    assert_fails("cell", || {
        let shared = shared();
        let other = {
            let shared = shared.clone();
            thread::spawn(move || shared.cell.with_mut(|_| shared.flag.store(1, Ordering::Release)))
        };
        // The write still lasts when it sets the flag.
        if shared.flag.load(Ordering::Acquire) == 1 {
            shared.cell.with(|_| ());
        }
        other.join().unwrap();
    });
}

/// The threads take turns, so nothing races. Yet the second access is made while the first lasts.
#[test]
fn ordered_accesses_may_overlap() {
    assert_fails("overlap", || {
        let shared = shared();
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                if shared.flag.load(Ordering::Acquire) == 1 {
                    shared.cell.with(|_| ());
                    shared.flag.store(2, Ordering::Release);
                }
            })
        };
        shared.cell.with_mut(|_| {
            shared.flag.store(1, Ordering::Release);
            shared.flag.load(Ordering::Acquire);
        });
        other.join().unwrap();
    });
}

#[test]
fn cells_move_values() {
    loom::model(|| {
        let (one, two) = (Cell::new(1), Cell::from(2));
        one.swap(&two);
        assert_eq!((one.get(), two.take(), two.replace(5)), (2, 1, 0));
        assert!(one < two && one == one.clone());
        assert_eq!(two.into_inner(), 5);
    });
}

fn unsync_load(order: Ordering) {
    let number = Arc::new(AtomicUsize::new(0));
    let flag = Arc::new(AtomicUsize::new(0));
    let other = {
        let (number, flag) = (number.clone(), flag.clone());
        thread::spawn(move || {
            number.store(1, Ordering::Relaxed);
            flag.store(1, order);
        })
    };
    if flag.load(Ordering::Acquire) == 1 {
        // SAFETY: what is tested.
        assert_eq!(unsafe { number.unsync_load() }, 1);
    }
    other.join().unwrap();
}

#[test]
fn a_load_that_is_not_atomic_races_with_stores() {
    loom::model(|| unsync_load(Ordering::Release));
    assert_fails("race", || unsync_load(Ordering::Relaxed));
}

/// The last owner of a number changes it without an atomic operation, after a decrement with this ordering.
fn last_owner(order: Ordering) {
    struct Counted {
        owners: AtomicUsize,
        number: UnsafeCell<AtomicUsize>,
    }
    // SAFETY: raddle runs one thread at a time.
    unsafe impl Sync for Counted {}
    fn release(counted: &Counted, order: Ordering) {
        counted.number.with(|number| {
            // SAFETY: the cell exists.
            unsafe { &*number }.fetch_add(1, Ordering::Relaxed)
        });
        if counted.owners.fetch_sub(1, order) == 1 {
            let number = counted.number.get_mut();
            // SAFETY: what is tested.
            unsafe { number.deref() }.with_mut(|number| *number += 1);
        }
    }
    let counted = Arc::new(Counted {
        owners: AtomicUsize::new(2),
        number: UnsafeCell::new(AtomicUsize::new(0)),
    });
    let other = {
        let counted = counted.clone();
        thread::spawn(move || release(&counted, order))
    };
    release(&counted, order);
    other.join().unwrap();
    // SAFETY: both threads are done.
    assert_eq!(counted.number.with(|number| unsafe { &*number }.load(Ordering::Relaxed)), 3);
}

#[test]
fn a_change_that_is_not_atomic_needs_synchronisation() {
    loom::model(|| last_owner(Ordering::AcqRel));
    assert_fails("race", || last_owner(Ordering::Relaxed));
}
