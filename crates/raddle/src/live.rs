//! Progress of a running check.

use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use raddle_results::Progress;

use crate::settings::Show;

/// The time to the first line of progress and between lines.
const INTERVAL: Duration = Duration::from_millis(500);

thread_local! {
    /// Whether this is the main OS thread of the process.
    static IS_MAIN: bool = std::thread::current().name() == Some("main");
}

/// Whether the test harness was called for one test.
static IS_ONLY_TEST: LazyLock<bool> = LazyLock::new(|| {
    let names = std::env::args().skip(1).filter(|word| !word.starts_with('-')).count();
    names == 1 && std::env::args().any(|word| word == "--exact")
});

/// Prints the progress of a check.
pub(crate) struct Live<'a> {
    name: &'a str,
    show: Show,
    /// Whether the check runs on the main OS thread, and so outside a test harness, or is its only test.
    is_alone: bool,
    /// The time of the next line, in milliseconds since the beginning of the check.
    next: AtomicU64,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Output {
    Nothing,
    /// One line, which the next line overwrites.
    InPlace,
    Lines,
}

impl<'a> Live<'a> {
    /// Must be called on the OS thread that began the check.
    pub(crate) fn new(name: &'a str, show: Show) -> Live<'a> {
        let is_alone = IS_MAIN.with(|&is_main| is_main) || *IS_ONLY_TEST;
        Live { name, show, is_alone, next: AtomicU64::new(milliseconds(INTERVAL)) }
    }

    /// By default progress is not printed in tests, which run in parallel and whose harness prints too.
    fn output(&self) -> Output {
        match self.show {
            Show::Never => Output::Nothing,
            Show::Auto if !self.is_alone => Output::Nothing,
            // `is_terminal` takes longer than a short check, so it is called only when a line is due.
            Show::Always | Show::Auto if io::stderr().is_terminal() => Output::InPlace,
            Show::Always => Output::Lines,
            Show::Auto => Output::Nothing,
        }
    }

    /// Prints the progress if a line is due.
    pub(crate) fn on_progress(&self, progress: &Progress, elapsed: Duration) {
        let next = self.next.load(Ordering::Relaxed);
        let then = milliseconds(elapsed + INTERVAL);
        // Only one of several OS threads prints.
        let exchange =
            || self.next.compare_exchange(next, then, Ordering::Relaxed, Ordering::Relaxed);
        if milliseconds(elapsed) < next || exchange().is_err() {
            return;
        }
        let line = || raddle_report::progress(self.name, progress, elapsed);
        match self.output() {
            Output::Nothing => {}
            Output::InPlace => write(&format!("\r\x1b[K{}", line())),
            Output::Lines => write(&format!("raddle: {}\n", line())),
        }
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        let has_printed = self.next.load(Ordering::Relaxed) != milliseconds(INTERVAL);
        if has_printed && self.output() == Output::InPlace {
            write("\r\x1b[K");
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Writes to standard error, bypassing the capture of test harnesses.
fn write(text: &str) {
    // A lost line of progress does no harm.
    let _ = io::stderr().write_all(text.as_bytes());
}
