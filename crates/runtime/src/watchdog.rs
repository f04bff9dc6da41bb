//! Notices a run that has got out of raddle's control: a thread of the program waits for something real (a
//! lock, channel or thread of the standard library, input), or loops without doing anything that could be
//! seen. Such a run never ends, and nothing can end it but the process.
//!
//! An OS thread of its own asks from time to time, by a signal, how far the run on the watched OS thread has
//! come. The runs themselves do nothing for it. Where there are no signals nothing is watched.

use std::time::Duration;

/// Watches the OS thread that made it, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watchdog {
    #[cfg(unix)]
    _watch: Option<system::Watch>,
}

impl Watchdog {
    /// Ends the process if a run of the check `name` shows no sign of life for as long as `patience`.
    pub(crate) fn new(name: &str, patience: Option<Duration>) -> Watchdog {
        #[cfg(unix)]
        return Watchdog {
            _watch: patience.and_then(|patience| system::Watch::new(name, patience)),
        };
        #[cfg(not(unix))]
        {
            let _ = (name, patience);
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

    /// Ignored by default, and seldom used for anything.
    const SIGNAL: libc::c_int = libc::SIGURG;

    /// How often it is asked before the patience is over.
    const LOOKS: u32 = 4;

    /// How long the last words of the stuck thread may take.
    const LAST_WORDS: Duration = Duration::from_secs(5);

    #[derive(Debug)]
    pub(super) struct Watch {
        shared: Arc<Shared>,
        thread: Option<JoinHandle<()>>,
    }

    #[derive(Debug, Default)]
    struct Shared {
        is_over: Mutex<bool>,
        ends: Condvar,
        pulse: Pulse,
    }

    /// How far the watched OS thread has come, as it last told.
    #[derive(Debug, Default)]
    struct Pulse {
        /// How often it was asked, and how often it has answered.
        asked: AtomicU64,
        answered: AtomicU64,
        /// The run, or zero if it is in none.
        run: AtomicU64,
        steps: AtomicU64,
        /// Whether it is to say where it is.
        speaks: AtomicBool,
    }

    thread_local! {
        /// Where to tell, if somebody watches.
        static PULSE: AtomicPtr<Pulse> = const { AtomicPtr::new(std::ptr::null_mut()) };
    }

    impl Watch {
        pub(super) fn new(name: &str, patience: Duration) -> Option<Watch> {
            if !install_handler() {
                return None;
            }
            let shared = Arc::new(Shared::default());
            let pulse: *const Pulse = &shared.pulse;
            PULSE.with(|place| place.store(pulse.cast_mut(), Ordering::Relaxed));
            // SAFETY: always allowed.
            let watched = unsafe { libc::pthread_self() } as usize;
            let (name, theirs) = (name.to_owned(), shared.clone());
            let builder = std::thread::Builder::new().name("raddle watchdog".to_owned());
            let thread = builder.spawn(move || watch(&theirs, watched, &name, patience)).ok();
            Some(Watch { shared, thread })
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            *self.shared.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.shared.ends.notify_all();
            if let Some(thread) = self.thread.take() {
                let _ = thread.join();
            }
            // Nobody sends the signal any more, and what was sent has arrived: a signal that an OS thread
            // sends to another is there when the call returns, and this one has been running since.
            PULSE.with(|place| place.store(std::ptr::null_mut(), Ordering::Relaxed));
        }
    }

    /// What the watchdog does.
    fn watch(shared: &Shared, watched: usize, name: &str, patience: Duration) {
        let pulse = &shared.pulse;
        let mut last = (0, 0);
        // Counted in looks, not by the clock: all of the process may be stopped, by a debugger.
        let mut looks = 0;
        let mut is_over = shared.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        // A short check may be over before this begins, and then nobody is notified any more.
        while !*is_over {
            let waited = shared.ends.wait_timeout(is_over, patience / LOOKS);
            is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
            if *is_over {
                return;
            }
            let asked = pulse.asked.fetch_add(1, Ordering::SeqCst);
            if pulse.answered.load(Ordering::SeqCst) == asked {
                let now = (pulse.run.load(Ordering::SeqCst), pulse.steps.load(Ordering::SeqCst));
                if now != last || now.0 == 0 {
                    (last, looks) = (now, 0);
                } else if looks == LOOKS {
                    end(pulse, watched, name, patience);
                } else {
                    looks += 1;
                }
            } else {
                // It blocks signals, or does not get to run.
                pulse.asked.store(asked, Ordering::SeqCst);
            }
            ask(watched);
        }
    }

    fn ask(watched: usize) {
        // SAFETY: whoever is watched waits for this thread before it ends.
        unsafe { libc::pthread_kill(watched as libc::pthread_t, SIGNAL) };
    }

    /// Says what is known of a run that does not go on, and ends the process.
    fn end(pulse: &Pulse, watched: usize, name: &str, patience: Duration) -> ! {
        // Not by `eprintln!`, which a test harness may keep to itself.
        let words = format!(
            "\nraddle: the check `{name}` is stuck: for {patience:?} nothing has happened in it that \
             raddle can see.\n"
        );
        let _ = std::io::stderr().write_all(words.as_bytes());
        let answered = pulse.answered.load(Ordering::SeqCst);
        pulse.speaks.store(true, Ordering::SeqCst);
        ask(watched);
        let since = Instant::now();
        while pulse.answered.load(Ordering::SeqCst) == answered && since.elapsed() < LAST_WORDS {
            std::thread::sleep(Duration::from_millis(10));
        }
        std::process::exit(101);
    }

    /// Handles the signal, unless the program does. Whether it is handled.
    fn install_handler() -> bool {
        static INSTALLED: Once = Once::new();
        static IS_OURS: AtomicBool = AtomicBool::new(false);
        INSTALLED.call_once(|| {
            // SAFETY: all-zero is a valid `sigaction`.
            let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: it is valid to be written to; nothing is changed.
            unsafe { libc::sigaction(SIGNAL, std::ptr::null(), &mut before) };
            if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN {
                return;
            }
            // SAFETY: all-zero is a valid `sigaction`.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            action.sa_sigaction = on_signal as *const () as usize;
            // What the program waits for is waited for again.
            action.sa_flags = libc::SA_RESTART;
            // SAFETY: the structure is valid, and the handler only looks and stores.
            unsafe { libc::sigaction(SIGNAL, &action, std::ptr::null_mut()) };
            IS_OURS.store(true, Ordering::Relaxed);
        });
        IS_OURS.load(Ordering::Relaxed)
    }

    extern "C" fn on_signal(_signal: libc::c_int) {
        let pulse = PULSE.with(|place| place.load(Ordering::Relaxed));
        // SAFETY: while it is set, what it points to is there.
        let Some(pulse) = (unsafe { pulse.as_ref() }) else { return };
        let steps = port::steps();
        pulse.run.store(if steps.is_some() { port::run_number() } else { 0 }, Ordering::SeqCst);
        pulse.steps.store(steps.unwrap_or(0) as u64, Ordering::SeqCst);
        if pulse.speaks.load(Ordering::SeqCst) {
            speak();
        }
        pulse.answered.store(pulse.asked.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// Says where the calling OS thread is, which will not go on. This allocates, which a handler must
    /// not: if it never returns, the watchdog ends the process all the same.
    fn speak() {
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
        text += &format!("  replay: RADDLE_REPLAY={}\n", port::token());
        let _ = std::io::stderr().write_all(text.as_bytes());
    }

    /// The frames of a backtrace from the interruption up to where raddle called the program.
    fn program_part(backtrace: &str) -> String {
        let mut part = String::new();
        let mut is_ours = true;
        for line in backtrace.lines() {
            let words = line.trim_start();
            let frame = words.split_once(": ").filter(|(number, _)| number.parse::<u32>().is_ok());
            if let Some((_, function)) = frame {
                is_ours =
                    ["raddle_runtime::", "<raddle_runtime::", "std::backtrace", "std::panicking"]
                        .iter()
                        .any(|ours| function.starts_with(ours))
                        || ["__restore_rt", "catch_unwind", "__rust_try", "core::ops::function"]
                            .iter()
                            .any(|ours| function.contains(ours));
            }
            if !is_ours {
                part += &format!("    {}\n", line.trim_end());
            }
        }
        part
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_watchdog_that_comes_after_the_end_does_not_wait() {
            let over = Shared { is_over: Mutex::new(true), ..Shared::default() };
            // Otherwise for a quarter of an hour.
            watch(&over, 0, "over", Duration::from_secs(3600));
        }
    }
}
