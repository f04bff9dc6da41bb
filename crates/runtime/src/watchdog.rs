//! Detects a run that raddle no longer controls. A thread of the program waits for something outside raddle (a lock,
//! channel or thread of the standard library, or input), or it loops without an operation. Such a run can only be ended
//! by ending the process.
//!
//! A separate OS thread periodically sends a signal to the watched OS thread, whose handler reports the progress of the
//! run. The runs themselves have no cost. Where there are no signals, nothing is watched.

use std::time::Duration;

/// Watches the OS thread that created it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    #[cfg(unix)]
    _watch: Option<system::Watch>,
}

impl Watchdog {
    /// Ends the process if a run of the check `name` makes no progress for as long as `timeout`.
    pub(crate) fn new(name: &str, timeout: Option<Duration>) -> Watchdog {
        #[cfg(unix)]
        return Watchdog { _watch: timeout.and_then(|timeout| system::Watch::new(name, timeout)) };
        #[cfg(not(unix))]
        {
            let _ = (name, timeout);
            Watchdog {}
        }
    }
}

#[cfg(unix)]
mod system {
    use std::backtrace::Backtrace;
    use std::io::Write as _;
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
    use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
    use std::thread::JoinHandle;
    use std::time::{Duration, Instant};

    use crate::port;

    /// A signal that is ignored by default and rarely used by programs.
    const SIGNAL: libc::c_int = libc::SIGURG;

    /// The number of signals without progress after which the run is stuck.
    const SIGNALS: u32 = 4;

    /// The time that the stuck thread has to describe where it is.
    const DESCRIPTION_TIMEOUT: Duration = Duration::from_secs(5);

    #[derive(Debug)]
    pub(super) struct Watch {
        shared: Arc<Shared>,
        thread: Option<JoinHandle<()>>,
    }

    #[derive(Debug, Default)]
    struct Shared {
        is_over: Mutex<bool>,
        over: Condvar,
        progress: Progress,
    }

    /// The progress of the watched OS thread, as last reported by its signal handler.
    #[derive(Debug, Default)]
    struct Progress {
        /// The number of requests, and the number of requests answered.
        asked: AtomicU64,
        answered: AtomicU64,
        /// The number of the run, or zero outside a run.
        run: AtomicU64,
        steps: AtomicU64,
        /// Whether the handler must print where the thread is.
        describes: AtomicBool,
    }

    thread_local! {
        /// Where the signal handler reports, or null if the OS thread is not watched.
        static PROGRESS: AtomicPtr<Progress> = const { AtomicPtr::new(std::ptr::null_mut()) };
    }

    impl Watch {
        pub(super) fn new(name: &str, timeout: Duration) -> Option<Watch> {
            if !install_handler() {
                return None;
            }
            let shared = Arc::new(Shared::default());
            let progress: *const Progress = &shared.progress;
            PROGRESS.with(|place| place.store(progress.cast_mut(), Ordering::Relaxed));
            // SAFETY: `pthread_self` has no preconditions.
            let watched = unsafe { libc::pthread_self() } as usize;
            let (name, theirs) = (name.to_owned(), shared.clone());
            let builder = std::thread::Builder::new().name("raddle watchdog".to_owned());
            let thread = builder.spawn(move || watch(&theirs, watched, &name, timeout)).ok();
            Some(Watch { shared, thread })
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            *self.shared.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.shared.over.notify_all();
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
            // No more signals are sent, and earlier ones have been handled: a signal is pending when `pthread_kill`
            // returns, and this OS thread has run since.
            PROGRESS.with(|place| place.store(std::ptr::null_mut(), Ordering::Relaxed));
        }
    }

    /// Watches an OS thread until the check is over. Runs on the OS thread of the watchdog.
    fn watch(shared: &Shared, watched: usize, name: &str, timeout: Duration) {
        let progress = &shared.progress;
        let mut last = (0, 0);
        // Signals are counted instead of time, because a debugger may stop the whole process.
        let mut unchanged = 0;
        let mut is_over = shared.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        // A short check may be over before this OS thread starts, and then there is no notification.
        while !*is_over {
            let waited = shared.over.wait_timeout(is_over, timeout / SIGNALS);
            is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            if *is_over {
                return;
            }
            let asked = progress.asked.fetch_add(1, Ordering::SeqCst);
            if progress.answered.load(Ordering::SeqCst) == asked {
                let now =
                    (progress.run.load(Ordering::SeqCst), progress.steps.load(Ordering::SeqCst));
                if now != last || now.0 == 0 {
                    (last, unchanged) = (now, 0);
                } else if unchanged == SIGNALS {
                    end(progress, watched, name, timeout);
                } else {
                    unchanged += 1;
                }
            } else {
                // The watched OS thread blocks signals, or has not been scheduled.
                progress.asked.store(asked, Ordering::SeqCst);
            }
            ask(watched);
        }
    }

    fn ask(watched: usize) {
        // SAFETY: the watched OS thread joins the watchdog before it ends.
        unsafe { libc::pthread_kill(watched as libc::pthread_t, SIGNAL) };
    }

    /// Describes a run that makes no progress, and ends the process.
    fn end(progress: &Progress, watched: usize, name: &str, timeout: Duration) -> ! {
        // A test harness may capture the output of `eprintln!`.
        let text = format!(
            "\nraddle: the check `{name}` is stuck: for {timeout:?} there was no scheduling point.\n"
        );
        let _ = std::io::stderr().write_all(text.as_bytes());
        let answered = progress.answered.load(Ordering::SeqCst);
        progress.describes.store(true, Ordering::SeqCst);
        ask(watched);
        let since = Instant::now();
        while progress.answered.load(Ordering::SeqCst) == answered
            && since.elapsed() < DESCRIPTION_TIMEOUT
        {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::process::exit(101);
    }

    /// Installs the signal handler, unless the program has one. Returns whether it is installed.
    fn install_handler() -> bool {
        static INSTALLED: Once = Once::new();
        static IS_OURS: AtomicBool = AtomicBool::new(false);
        INSTALLED.call_once(|| {
            // SAFETY: all-zero is a valid `sigaction`.
            let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: the structure can be written, and no handler is changed.
            unsafe { libc::sigaction(SIGNAL, std::ptr::null(), &mut before) };
            if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN {
                return;
            }
            // SAFETY: all-zero is a valid `sigaction`.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = on_signal as *const () as usize;
            // System calls of the program that are interrupted are restarted.
            action.sa_flags = libc::SA_RESTART;
            // SAFETY: the structure is valid, and the handler only loads and stores, unless the run is stuck.
            unsafe { libc::sigaction(SIGNAL, &action, std::ptr::null_mut()) };
            IS_OURS.store(true, Ordering::Relaxed);
        });
        IS_OURS.load(Ordering::Relaxed)
    }

    extern "C" fn on_signal(_signal: libc::c_int) {
        let progress = PROGRESS.with(|place| place.load(Ordering::Relaxed));
        // SAFETY: the pointer is null, or `Watch` keeps its target alive.
        let Some(progress) = (unsafe { progress.as_ref() }) else { return };
        let steps = port::steps();
        progress.run.store(if steps.is_some() { port::run_number() } else { 0 }, Ordering::SeqCst);
        progress.steps.store(steps.unwrap_or(0) as u64, Ordering::SeqCst);
        if progress.describes.load(Ordering::SeqCst) {
            describe();
        }
        progress.answered.store(progress.asked.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Prints where the calling OS thread is stuck. This allocates, which a signal handler must not do. If it never
    /// returns, the watchdog ends the process after a timeout.
    fn describe() {
        if port::steps().is_none() {
            return;
        }
        let mut text = format!(
            "  {} is {}. It waits for something outside raddle's control, such as a\n  \
             lock, channel, thread or sleep of `std`, or input; or it loops without an operation. Inside a \
             check use\n  `raddle::sync` and `raddle::thread` in place of `std`'s. If it just takes long, \
             see `Config::watchdog`.\n  where it is:\n",
            port::thread(),
            port::last_seen(),
        );
        let backtrace = Backtrace::force_capture().to_string();
        text += &program_part(&backtrace);
        text += &format!("  replay: {}\n", port::replay_line());
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    /// Returns the frames of the program in a backtrace.
    fn program_part(backtrace: &str) -> String {
        let mut part = String::new();
        let mut is_raddle = true;
        for line in backtrace.lines() {
            let text = line.trim_start();
            let frame = text.split_once(": ").filter(|(number, _)| number.parse::<u32>().is_ok());
            if let Some((_, function)) = frame {
                is_raddle =
                    ["raddle_runtime::", "<raddle_runtime::", "std::backtrace", "std::panicking"]
                        .iter()
                        .any(|prefix| function.starts_with(prefix))
                        || ["__restore_rt", "catch_unwind", "__rust_try", "core::ops::function"]
                            .iter()
                            .any(|prefix| function.contains(prefix));
            }
            if !is_raddle {
                part += &format!("    {}\n", line.trim_end());
            }
        }
        part
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_watchdog_that_starts_after_the_check_does_not_wait() {
            let over = Shared { is_over: Mutex::new(true), ..Shared::default() };
            // It would wait for a quarter of an hour.
            watch(&over, 0, "over", Duration::from_secs(3600));
        }
    }
}
