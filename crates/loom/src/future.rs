//! Futures.

use std::task::Waker;

use raddle::sync::Mutex;

/// Runs a future to its end on the calling thread. In some executions it is polled once without a wake-up.
///
/// ```
/// loom::model(|| assert_eq!(loom::future::block_on(async { 7 }), 7));
/// ```
#[track_caller]
pub fn block_on<F: Future>(f: F) -> F::Output {
    raddle::drop_in::block_on_spuriously(f)
}

/// The waker of one task, which other threads take to wake it.
///
/// ```
/// use loom::future::AtomicWaker;
///
/// loom::model(|| {
///     let waker = AtomicWaker::new();
///     assert!(waker.take_waker().is_none());
/// });
/// ```
#[derive(Debug, Default)]
pub struct AtomicWaker {
    waker: Mutex<Option<Waker>>,
}

impl AtomicWaker {
    /// Returns a place without a waker.
    #[track_caller]
    pub fn new() -> AtomicWaker {
        AtomicWaker { waker: Mutex::new(None) }
    }

    /// Replaces the waker. Wakes it at once instead if another thread takes the waker at the same time.
    #[track_caller]
    pub fn register(&self, waker: Waker) {
        match self.waker.try_lock() {
            Ok(mut place) => {
                let before = place.replace(waker);
                drop(place);
                drop(before);
            }
            Err(_) => {
                waker.wake();
                // The task is polled again. Polls before the other thread has let go would all end here.
                drop(self.waker.lock());
            }
        }
    }

    /// Replaces the waker by a clone of `waker`, as [`register`](AtomicWaker::register).
    #[track_caller]
    pub fn register_by_ref(&self, waker: &Waker) {
        self.register(waker.clone());
    }

    /// Takes the waker and wakes its task. Does nothing if there is none.
    #[track_caller]
    pub fn wake(&self) {
        if let Some(waker) = self.take_waker() {
            waker.wake();
        }
    }

    /// Takes the waker.
    #[track_caller]
    pub fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
    }
}
