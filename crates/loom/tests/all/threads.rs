//! Threads and what they share.

use std::rc::Rc;

use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence, spin_loop_hint};
use loom::sync::{Arc, Barrier, Condvar, Mutex, RwLock, mpsc};
use loom::thread;

use crate::support::assert_fails;

#[test]
fn threads_need_not_be_send() {
    loom::model(|| {
        let text = Rc::new("text");
        let other = thread::spawn({
            let text = text.clone();
            move || Rc::new(text.len())
        });
        assert_eq!(*other.join().unwrap(), text.len());
    });
}

#[test]
fn threads_have_names_and_park() {
    loom::model(|| {
        let main = thread::current();
        let builder = thread::Builder::new().name("worker".to_owned()).stack_size(1);
        let other = builder.spawn(move || {
            main.unpark();
            thread::current().name().map(str::to_owned)
        });
        let other = other.unwrap();
        assert_ne!(other.thread().id(), thread::current().id());
        thread::park();
        assert_eq!(other.join().unwrap().as_deref(), Some("worker"));
    });
}

#[test]
fn a_thread_that_is_never_woken_is_a_failure() {
    assert_fails("park", || _ = thread::spawn(thread::park));
}

#[test]
fn locks_and_channels_work() {
    loom::model(|| {
        let shared = Arc::new((Mutex::new(false), Condvar::new(), RwLock::new(1)));
        let (sender, receiver) = mpsc::channel();
        let barrier = Arc::new(Barrier::new(2));
        let other = {
            let (shared, barrier) = (shared.clone(), barrier.clone());
            thread::spawn(move || {
                *shared.0.lock().unwrap() = true;
                shared.1.notify_one();
                sender.send(*shared.2.read().unwrap()).unwrap();
                barrier.wait();
            })
        };
        let mut is_set = shared.0.lock().unwrap();
        while !*is_set {
            is_set = shared.1.wait(is_set).unwrap();
        }
        drop(is_set);
        assert_eq!(receiver.recv(), Ok(1));
        barrier.wait();
        other.join().unwrap();
    });
}

#[test]
fn atomics_have_the_methods_of_loom() {
    loom::model(|| {
        let mut number = AtomicUsize::new(1);
        number.with_mut(|number| *number += 1);
        assert_eq!(number.compare_and_swap(2, 3, Ordering::SeqCst), 2);
        fence(Ordering::SeqCst);
        // SAFETY: there is one thread.
        assert_eq!(unsafe { number.unsync_load() }, 3);
        assert_eq!(number.into_inner(), 3);
        assert!(!AtomicBool::default().into_inner());
        loom::hint::spin_loop();
        spin_loop_hint();
        loom::stop_exploring();
        loom::explore();
        loom::skip_branch();
    });
    // SAFETY: it panics.
    assert_fails("unreachable", || unsafe { loom::hint::unreachable_unchecked() });
}
