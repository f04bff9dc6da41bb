//! Ctrl-C: an interrupted check ends with the results so far.
//!
//! While a [`Watch`] exists, the first SIGINT is only recorded. Every check is expected to end then and to call
//! [`Watch::leave`]. After the last one the process ends as by SIGINT. A second SIGINT ends it at once. If the program
//! handles SIGINT itself, nothing is changed. Where there are no signals, no check is interrupted.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The number of watches. Changed only while [`HANDLER`] is held.
static WATCHING: AtomicUsize = AtomicUsize::new(0);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Held while the handler is installed or removed.
static HANDLER: Mutex<()> = Mutex::new(());

/// Returns whether there was a SIGINT while a [`Watch`] existed.
pub fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// SIGINT is recorded as long as a watch exists.
#[derive(Debug)]
pub struct Watch(());

impl Watch {
    /// Begins to record SIGINT.
    #[expect(clippy::new_without_default, reason = "it changes the handling of a signal")]
    pub fn new() -> Watch {
        let _handler = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
        if WATCHING.fetch_add(1, Ordering::SeqCst) == 0 {
            system::install();
        }
        Watch(())
    }

    /// Returns whether there was a SIGINT.
    pub fn is_interrupted(&self) -> bool {
        is_interrupted()
    }

    /// Waits for the end of the process, which ends with the last watch. To be called after an interruption, when the
    /// results have been printed.
    pub fn leave(self) -> ! {
        drop(self);
        loop {
            std::thread::park();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _handler = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
        if WATCHING.fetch_sub(1, Ordering::SeqCst) == 1 {
            system::remove();
            if INTERRUPTED.load(Ordering::SeqCst) {
                system::end();
            }
        }
    }
}

#[cfg(unix)]
mod system {
    use std::sync::atomic::Ordering;

    use super::INTERRUPTED;

    /// Installs the handler for SIGINT, unless the program has one.
    pub(super) fn install() {
        if handler() == libc::SIG_DFL {
            let handler = on_interrupt as extern "C" fn(libc::c_int);
            // SAFETY: the handler is async-signal-safe.
            unsafe { libc::signal(libc::SIGINT, handler as *const () as libc::sighandler_t) };
        }
    }

    pub(super) fn remove() {
        if handler() == on_interrupt as *const () as libc::sighandler_t {
            // SAFETY: the default action is always valid.
            unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        }
    }

    /// Ends the process as SIGINT does.
    pub(super) fn end() {
        // SAFETY: `raise` has no preconditions.
        unsafe { libc::raise(libc::SIGINT) };
    }

    /// Returns the current handler of SIGINT.
    fn handler() -> libc::sighandler_t {
        // SAFETY: all-zero is a valid `sigaction`.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the structure can be written, and no handler is changed.
        unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), &mut action) };
        action.sa_sigaction
    }

    extern "C" fn on_interrupt(_signal: libc::c_int) {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            // SAFETY: `signal` is async-signal-safe.
            unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
            end();
        }
    }
}

#[cfg(not(unix))]
mod system {
    pub(super) fn install() {}
    pub(super) fn remove() {}
    pub(super) fn end() {}
}
