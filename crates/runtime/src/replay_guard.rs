//! A process that is to replay an execution and replays none fails: the test was renamed, or a filter is wrong.
//!
//! A test harness that runs no test calls nothing of raddle. So a function that the system calls at the start of
//! the process looks for `RADDLE_REPLAY`. Where there is none, nothing is noticed.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an execution was replayed, or a replay was refused with an error of its own.
static REPLAYED: AtomicBool = AtomicBool::new(false);

/// Notes that this process has replayed an execution.
pub fn replayed() {
    REPLAYED.store(true, Ordering::Relaxed);
}

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::io::Write as _;
    use std::sync::atomic::Ordering;

    /// Called by the system at the start of the process.
    #[used]
    // SAFETY: the section holds pointers to functions without results, which take arguments that this one ignores.
    #[unsafe(link_section = ".init_array")]
    static AT_START: extern "C" fn() = at_start;

    extern "C" fn at_start() {
        // SAFETY: the name ends with a zero, and no other thread exists yet that could change the environment.
        let token = unsafe { libc::getenv(c"RADDLE_REPLAY".as_ptr()) };
        // SAFETY: a variable that exists is a text that ends with a zero.
        if !token.is_null() && unsafe { *token } != 0 {
            // SAFETY: the function may be called at the end of the process.
            unsafe { libc::atexit(at_end) };
        }
    }

    extern "C" fn at_end() {
        // A list of tests replays nothing.
        if super::REPLAYED.load(Ordering::Relaxed) || std::env::args().any(|word| word == "--list")
        {
            return;
        }
        let text = "raddle: RADDLE_REPLAY is set, but no check replayed it: no test ran, or none of its name. Is \
                    the test in another package or target, or has it been renamed?\n";
        let _ = std::io::stderr().write_all(text.as_bytes());
        // SAFETY: ends the process, which is ending already.
        unsafe { libc::_exit(101) };
    }
}
