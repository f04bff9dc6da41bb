//! Whether a thread unwinds from a panic.
//!
//! The language counts panics for an OS thread, and so for all threads of a run together. It says neither how many there
//! are nor when one is caught. Which thread unwinds follows from who began to: that is certain as long as no other
//! thread began to before the count was back at zero.

use super::{PORT, RunFlags, active, flags, run};

/// Whether a thread unwinds from a panic.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Unwinding {
    /// It does not.
    No,
    /// It began to, and so did others. It may have caught its panic.
    Perhaps,
    /// It does.
    Surely,
}

/// Returns whether the calling thread unwinds from a panic; outside a run as [`std::thread::panicking`] says.
#[inline]
pub fn unwinding() -> Unwinding {
    if !std::thread::panicking() {
        return Unwinding::No;
    }
    if active() { run().unwinding() } else { Unwinding::Surely }
}

/// [`unwinding`], inside a run: cheap if no thread of the run has panicked.
#[inline(always)]
pub fn unwinding_in_run() -> Unwinding {
    if has_unwound() { unwinding() } else { Unwinding::No }
}

/// Returns whether any thread of the run has begun to unwind from a panic.
#[inline(always)]
pub fn has_unwound() -> bool {
    flags().unwound
}

/// Notes that a thread of the run begins to unwind.
pub(crate) fn note_unwinding() {
    PORT.with(|port| port.flags.set(RunFlags { unwound: true, ..port.flags.get() }));
}

/// Notes that the calling thread has begun to panic.
pub(crate) fn panicked() {
    run().panicked();
}
