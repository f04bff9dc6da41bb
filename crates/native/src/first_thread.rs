//! Checks that begin when the program creates its first thread: tests of Rust's test harness.
//!
//! The harness creates a thread for the test and waits for it. A run is what that thread does, and the threads that it
//! creates; the engine knows it as main. The harness itself is not part of runs: it has prepared the test before, and
//! learns the result after the run, when `pthread_create` returns to it. So the program is not started again for each
//! run, and no scheduling point is the harness's.

use std::cell::Cell;
use std::ptr;

use raddle_core::ThreadId;

use crate::coroutines::{self, Context};
use crate::host;
use crate::one_thread::OneThread;
use crate::run::{State, state, state_if_any};
use crate::threads::Thread;

/// The host, which waits for the first thread.
static HOST: OneThread<Cell<Context>> = OneThread::new(Cell::new(Context::NONE));

/// Lets the check begin with the first thread that the program creates.
pub(crate) fn await_thread(host: Context) {
    HOST.set(host);
    // Everything that a run allocates is allocated by a borrowed thread, in Rust.
    state().stacks.tell_allocations_apart();
    state().clock.set_up();
}

/// Returns whether the check has not begun because the program has created no thread.
pub(crate) fn is_awaited() -> bool {
    HOST.get().stack != 0
}

/// Creates the first thread, if the check begins with it: runs it until it has ended. `write` is called with its handle.
/// Returns once for each run. Returns false, with no effect, if the check does not begin here.
pub(crate) fn create(start: usize, argument: usize, write: impl Fn(usize)) -> bool {
    if !is_awaited() {
        return false;
    }
    let host = HOST.replace(Context::NONE);
    host::begin(host);
    let state = state();
    let borrowed = coroutines::take();
    write(borrowed.handle);
    state.threads.borrow_mut()[ThreadId::MAIN.index()] = Thread {
        context: borrowed.context,
        handle: borrowed.handle,
        start,
        argument,
        is_gone: false,
        slot: borrowed.slot,
        ..Thread::NONE
    };
    state.run_first_thread(borrowed.context);
    true
}

/// Returns the result of the first thread, which has ended, if this is its handle.
pub(crate) fn result(handle: libc::pthread_t) -> Option<*mut std::ffi::c_void> {
    let state = state_if_any().filter(|state| state.harness.get().local != 0)?;
    let threads = state.threads.borrow();
    let first = threads.first().filter(|first| first.handle == handle as usize)?;
    Some(ptr::with_exposed_provenance_mut(first.result))
}

impl State {
    /// Continues a thread that has not begun. Returns when the run is over.
    fn run_first_thread(&self, thread: Context) {
        let harness = Context { stack: 0, local: crate::system::thread_pointer() };
        let place = self.harness.as_ptr();
        // SAFETY: the state outlives the run, and only the end of the run reads the place.
        unsafe { place.write(harness) };
        // SAFETY: as above.
        let place = unsafe { &raw mut (*place).stack };
        // SAFETY: the thread sleeps and has not begun. The run ends with a switch back.
        unsafe { coroutines::switch(place, thread.stack, thread.local) };
    }
}
