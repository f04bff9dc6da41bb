//! A mutex that can be destroyed, as in C. Locking or unlocking it afterwards fails.

use std::sync::atomic::{AtomicBool as Quiet, Ordering::Relaxed};

use raddle::sync::{Mutex, MutexGuard};

/// A mutex that can be destroyed.
pub(super) struct Mortal<T> {
    mutex: Mutex<T>,
    /// Not a scheduling point: it is read in the step that locks or unlocks the mutex.
    is_destroyed: Quiet,
}

impl<T> Mortal<T> {
    pub(super) fn new(value: T) -> Mortal<T> {
        Mortal { mutex: Mutex::new(value), is_destroyed: Quiet::new(false) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, T> {
        let guard = self.mutex.lock().unwrap();
        self.check();
        guard
    }

    pub(super) fn unlock(&self, guard: MutexGuard<'_, T>) {
        drop(guard);
        self.check();
    }

    pub(super) fn destroy(&self) {
        self.is_destroyed.store(true, Relaxed);
    }

    fn check(&self) {
        assert!(!self.is_destroyed.load(Relaxed), "use of a destroyed mutex");
    }
}
