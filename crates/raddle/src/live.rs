//! What a check says while it is under way.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use raddle_core::Progress;

use crate::settings::Show;

/// Checks shorter than this say nothing, and no check says anything more often.
const EVERY: Duration = Duration::from_millis(500);

thread_local! {
    /// Whether this OS thread is the first of the process.
    static IS_MAIN: bool = std::thread::current().name() == Some("main");
}

/// Says how far a check has come, or keeps quiet.
pub(crate) struct Live<'a> {
    name: &'a str,
    show: Show,
    /// Whether the check is not one of several tests.
    is_alone: bool,
    /// When to say something next, in milliseconds since the beginning of the check.
    next: AtomicU64,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Manner {
    /// Not at all.
    Quiet,
    /// One line, which the next overwrites.
    InPlace,
    /// Line after line.
    Lines,
}

impl<'a> Live<'a> {
    /// To be made on the OS thread that began the check.
    pub(crate) fn new(name: &'a str, show: Show) -> Live<'a> {
        let is_alone = IS_MAIN.with(|&is_main| is_main);
        Live { name, show, is_alone, next: AtomicU64::new(milliseconds(EVERY)) }
    }

    /// By default only a program of its own speaks on a terminal: tests run beside each other, and their
    /// harness writes there too.
    fn manner(&self) -> Manner {
        match self.show {
            Show::Never => Manner::Quiet,
            Show::Auto if !self.is_alone => Manner::Quiet,
            // To ask takes longer than a short check, which says nothing.
            Show::Always | Show::Auto if io::stderr().is_terminal() => Manner::InPlace,
            Show::Always => Manner::Lines,
            Show::Auto => Manner::Quiet,
        }
    }

    /// Says how far the check has come, if it is time to.
    pub(crate) fn hear(&self, progress: &Progress, elapsed: Duration) {
        let next = self.next.load(Ordering::Relaxed);
        let then = milliseconds(elapsed + EVERY);
        // Of several OS threads one speaks.
        let exchange =
            || self.next.compare_exchange(next, then, Ordering::Relaxed, Ordering::Relaxed);
        if milliseconds(elapsed) < next || exchange().is_err() {
            return;
        }
        let line = || raddle_report::progress(self.name, progress, elapsed);
        match self.manner() {
            Manner::Quiet => {}
            Manner::InPlace => write(&format!("\r\x1b[K{}", line())),
            Manner::Lines => write(&format!("raddle: {}\n", line())),
        }
    }
}

impl Drop for Live<'_> {
    fn drop(&mut self) {
        let has_spoken = self.next.load(Ordering::Relaxed) != milliseconds(EVERY);
        if has_spoken && self.manner() == Manner::InPlace {
            write("\r\x1b[K");
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Past a test harness that keeps what its tests print.
fn write(text: &str) {
    // Nothing is lost with a line of progress.
    let _ = io::stderr().write_all(text.as_bytes());
}
