//! Values that threads of one execution pass to each other although they are not `Send`.

use raddle_runtime::port;

/// A value that stays on one OS thread: all threads of an execution run there.
#[derive(Debug)]
pub struct OneOsThread<T> {
    value: T,
    run: u64,
}

// SAFETY: `new` and `into_inner` refuse callers that are not part of one run, whose threads are all on one OS thread. A
// thread that ends with its run drops the value there too. A handle that outlives its run and is sent elsewhere would be
// needed to drop the value on another OS thread; the run drops what its threads leave before that.
unsafe impl<T> Send for OneOsThread<T> {}

impl<T> OneOsThread<T> {
    /// Wraps a value of the current execution.
    ///
    /// # Panics
    /// Panics outside of executions.
    pub fn new(value: T) -> OneOsThread<T> {
        assert!(
            port::active(),
            "a thread of the program under test was used outside of a check, where there is no execution that could \
             run it"
        );
        OneOsThread { value, run: port::run_number() }
    }

    /// Returns the value.
    ///
    /// # Panics
    /// Panics outside of the execution that made it.
    pub fn into_inner(self) -> T {
        assert!(self.run == port::run_number(), "a value of an execution was used outside of it");
        self.value
    }
}
