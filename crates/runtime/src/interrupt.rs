//! Ctrl-C: a check that is interrupted ends with what it has.
//!
//! While somebody [`Watch`]es, the first SIGINT is noted, and everybody who watches is expected to come
//! to an end and call [`Watch::leave`]; the process then ends as it would have. A second SIGINT ends it
//! at once. A program that handles SIGINT itself is left alone. Where there are no signals nothing is
//! ever interrupted.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many watch. Changed under [`HANDLER`] only.
static WATCHING: AtomicUsize = AtomicUsize::new(0);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Held while the handler is installed or removed.
static HANDLER: Mutex<()> = Mutex::new(());

/// As long as there is one, SIGINT is noted.
#[derive(Debug)]
pub struct Watch(());

impl Watch {
    /// Watches from now on.
    #[expect(clippy::new_without_default, reason = "it changes what a signal does")]
    pub fn new() -> Watch {
        let _handler = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
        if WATCHING.fetch_add(1, Ordering::SeqCst) == 0 {
            system::install();
        }
        Watch(())
    }

    /// Whether there was a SIGINT.
    pub fn is_interrupted(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }

    /// To be called after an interruption, with everything said: ends the process, together with the
    /// last of those who watch.
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

    /// Handles SIGINT unless the program does.
    pub(super) fn install() {
        if handler() == libc::SIG_DFL {
            let handler = on_interrupt as extern "C" fn(libc::c_int);
            // SAFETY: the handler only does what handlers may.
            unsafe { libc::signal(libc::SIGINT, handler as *const () as libc::sighandler_t) };
        }
    }

    pub(super) fn remove() {
        if handler() == on_interrupt as *const () as libc::sighandler_t {
            // SAFETY: no handler is left behind.
            unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        }
    }

    /// Ends the process as SIGINT does.
    pub(super) fn end() {
        // SAFETY: a plain system call.
        unsafe { libc::raise(libc::SIGINT) };
    }

    /// What SIGINT does.
    fn handler() -> libc::sighandler_t {
        // SAFETY: all-zero is a valid `sigaction`.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: it is valid to be written to; nothing is changed.
        unsafe { libc::sigaction(libc::SIGINT, std::ptr::null(), &mut action) };
        action.sa_sigaction
    }

    extern "C" fn on_interrupt(_signal: libc::c_int) {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            // SAFETY: allowed in handlers.
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
