//! Programs for goldens. New ones go to the end, because the goldens contain line numbers.
use raddle::sync::atomic::{AtomicI32, Ordering};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread;

pub(crate) fn lost_update() {
    let counter = Arc::new(AtomicI32::new(-1));
    let other = thread::spawn({
        let counter = counter.clone();
        move || {
            let seen = counter.load(Ordering::SeqCst);
            counter.store(seen + 1, Ordering::SeqCst);
        }
    });
    let seen = counter.load(Ordering::SeqCst);
    counter.store(seen + 1, Ordering::SeqCst);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 1, "an update got lost");
}

pub(crate) fn opposite_locks() {
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
}

pub(crate) fn lost_wakeup() {
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let waiter = thread::spawn({
        let pair = pair.clone();
        move || {
            if !*pair.0.lock().unwrap() {
                let guard = pair.0.lock().unwrap();
                drop(pair.1.wait(guard).unwrap());
            }
        }
    });
    *pair.0.lock().unwrap() = true;
    pair.1.notify_one();
    waiter.join().unwrap();
}

pub(crate) fn named_threads() {
    let lock = Arc::new(Mutex::new(()));
    let worker = thread::Builder::new().name("worker".into()).spawn({
        let lock = lock.clone();
        move || std::mem::forget(lock.lock().unwrap())
    });
    worker.unwrap().join().unwrap();
    drop(lock.lock().unwrap());
}
