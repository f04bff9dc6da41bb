//! Values that only the threads of one run touch.

use std::cell::RefCell;
use std::panic::{RefUnwindSafe, UnwindSafe};

use raddle_runtime::port;

/// A value that belongs to the run that made it. Its threads share an OS thread, so that they need no lock.
pub(crate) struct RunCell<T> {
    run: u64,
    value: RefCell<T>,
}

// SAFETY: only `with` reaches the value through a shared reference, and it refuses callers that are not part of the run.
// All others are on one OS thread at a time. The value may be dropped on another OS thread, so it must be `Send`.
unsafe impl<T: Send> Sync for RunCell<T> {}

impl<T> UnwindSafe for RunCell<T> {}
impl<T> RefUnwindSafe for RunCell<T> {}

impl<T> RunCell<T> {
    /// Makes a value of the current run.
    pub(crate) fn new(value: T) -> RunCell<T> {
        RunCell { run: port::run_number(), value: RefCell::new(value) }
    }

    /// Returns whether the caller is part of the run that made the value.
    pub(crate) fn is_here(&self) -> bool {
        port::run_number() == self.run
    }

    /// Calls `work` with the value. `work` must not run code of the program.
    ///
    /// # Panics
    /// If the caller is not part of the run that made the value.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        assert!(self.is_here(), "a value of an execution was used outside of it");
        work(&mut self.value.borrow_mut())
    }
}
