//! Statics of the one OS thread that runs everything.

use std::ops::Deref;

/// A static that only the OS thread of the check uses.
///
/// Other OS threads exist only to own a stack and thread-local storage, and sleep. Before a check begins, and in a
/// program that runs alone, statics are only read.
#[repr(transparent)]
pub(crate) struct OneThread<T>(T);

// SAFETY: see the type.
unsafe impl<T> Sync for OneThread<T> {}

impl<T> OneThread<T> {
    pub(crate) const fn new(value: T) -> OneThread<T> {
        OneThread(value)
    }
}

impl<T> Deref for OneThread<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
