//! A mutex that can be destroyed, as in C: whoever takes or releases it afterwards fails.

use std::sync::atomic::{AtomicBool as Quiet, Ordering::Relaxed};

use raddle::sync::{Mutex, MutexGuard};

/// A mutex with an end.
pub(super) struct Mortal<T> {
    mutex: Mutex<T>,
    /// No point of its own: it is looked at in the very step that takes or releases the mutex.
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
        assert!(!self.is_destroyed.load(Relaxed), "a mutex is used that was destroyed");
    }
}
