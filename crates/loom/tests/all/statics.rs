//! Statics and thread-locals with the life of an execution or a thread.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize as Real, Ordering::Relaxed as RealRelaxed};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

static INITIALISED: Real = Real::new(0);
static DROPPED: Real = Real::new(0);

struct Counter {
    number: Arc<AtomicUsize>,
}

impl Drop for Counter {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, RealRelaxed);
    }
}

loom::lazy_static! {
    /// Made anew in each execution.
    static ref COUNTER: Counter = {
        INITIALISED.fetch_add(1, RealRelaxed);
        Counter { number: Arc::new(AtomicUsize::new(0)) }
    };
}

loom::thread_local! {
    static NAMES: RefCell<Vec<u32>> = RefCell::new(Vec::new());
}

/// The value contains an `Arc`, which would be a leak if it were not dropped.
#[test]
fn a_lazy_static_lives_as_long_as_an_execution() {
    loom::model(|| {
        let other = thread::spawn(|| COUNTER.number.fetch_add(1, Ordering::Relaxed));
        COUNTER.number.fetch_add(1, Ordering::Relaxed);
        other.join().unwrap();
        assert_eq!(COUNTER.number.load(Ordering::Relaxed), 2);
    });
    assert!(INITIALISED.load(RealRelaxed) > 1);
    assert_eq!(INITIALISED.load(RealRelaxed), DROPPED.load(RealRelaxed));
}

#[test]
fn a_thread_local_belongs_to_a_thread() {
    loom::model(|| {
        NAMES.with(|names| names.borrow_mut().push(1));
        let other = thread::spawn(|| {
            NAMES.with(|names| {
                names.borrow_mut().push(2);
                names.borrow().len()
            })
        });
        assert_eq!(other.join().unwrap(), 1);
        assert_eq!(NAMES.try_with(|names| names.borrow().clone()), Ok(vec![1]));
    });
}
