//! Helpers for stress tests: a watchdog, and child processes for cases that may end the process.

pub(crate) mod same_as_std;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The time after which a test is considered to hang.
const TIMEOUT: Duration = Duration::from_secs(100);

/// The environment variable that names the case for a child process.
const CHILD: &str = "RADDLE_TEST_CHILD";

/// Runs `test`. Ends the process with a failure if the test hangs.
pub(crate) fn watched<R: Send + 'static>(
    name: &str,
    test: impl FnOnce() -> R + Send + 'static,
) -> R {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        let result = test();
        let _ = sender.send(());
        result
    });
    let thread = thread.expect("a thread can be started");
    if let Err(mpsc::RecvTimeoutError::Timeout) = receiver.recv_timeout(TIMEOUT) {
        // The harness captures the output of `eprintln!`.
        let text = format!("{name} hangs: no result after {TIMEOUT:?}\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
        std::process::exit(101);
    }
    match thread.join() {
        Ok(result) => result,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// Returns the case of a child process, or `None` in other processes.
pub(crate) fn child_case() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// Runs the test `entry` of this executable in a child process, with `case`.
pub(crate) fn child(entry: &str, case: &str) -> Output {
    let program = std::env::current_exe().expect("a test knows its executable");
    let child = Command::new(program)
        .args(["--exact", entry, "--nocapture", "--test-threads=1"])
        .env(CHILD, case)
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .output();
    child.expect("a child can be started")
}
