//! Values that only the threads of one run access.

use std::cell::RefCell;
use std::panic::{RefUnwindSafe, UnwindSafe};

use raddle_runtime::port;

/// A value that belongs to the run that created it. The threads of a run share an OS thread, so they need no lock.
pub(crate) struct RunCell<T> {
    run: u64,
    value: RefCell<T>,
}

// SAFETY: only `with` accesses the value through a shared reference, and it refuses callers that are not part of the run.
// All threads of the run are on one OS thread. The value may be dropped on another OS thread, so it must be `Send`.
unsafe impl<T: Send> Sync for RunCell<T> {}

impl<T> UnwindSafe for RunCell<T> {}
impl<T> RefUnwindSafe for RunCell<T> {}

impl<T> RunCell<T> {
    /// Returns a value of the current run.
    pub(crate) fn new(value: T) -> RunCell<T> {
        RunCell { run: port::run_number(), value: RefCell::new(value) }
    }

    /// Returns whether the caller is part of the run that created the value.
    #[inline(always)]
    pub(crate) fn is_here(&self) -> bool {
        port::run_number() == self.run
    }

    /// Calls `work` with the value. `work` must not run code of the program.
    ///
    /// # Panics
    /// Panics if the caller is not part of the run that created the value.
    #[inline(always)]
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        assert!(self.is_here(), "a value of an execution was used outside of it");
        work(&mut self.value.borrow_mut())
    }
}
