//! Whether a thread unwinds from a panic.
//!
//! The language counts panics for an OS thread, and so for all threads of a run together. It tells nobody how many there
//! are, nor that one was caught. Which thread unwinds is told by who began to: that is certain as long as no other
//! thread began to before the count was back at zero.

use super::{Ways, active, port};
use crate::bare;

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

/// Whether the calling thread is unwinding from a panic, as [`std::thread::panicking`] says outside
/// runs.
#[inline]
pub fn unwinding() -> Unwinding {
    if !std::thread::panicking() {
        return Unwinding::No;
    }
    if !active() {
        return Unwinding::Surely;
    }
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.unwinding)(run) }
}

/// As [`unwinding`], inside a run: one look is enough where nobody has panicked in it.
#[inline(always)]
pub fn unwinding_in_run() -> Unwinding {
    if has_unwound() { unwinding() } else { Unwinding::No }
}

/// Whether any thread of the run has begun to unwind from a panic.
#[inline(always)]
pub fn has_unwound() -> bool {
    let port = port();
    bare::get!(port.ways: Ways).unwound
}

/// A thread of the run begins to unwind.
pub(crate) fn unwinds() {
    let port = port();
    port.ways.set(Ways { unwound: true, ..port.ways.get() });
}

/// Tells that the calling thread has begun to panic.
pub(crate) fn panicked() {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended.
    unsafe { (entries.panicked)(run) }
}
