//! What stress tests share: a watchdog, and child processes for what may end the process.

pub(crate) mod alike;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A check that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(100);

/// Which case a child process is to run.
const CHILD: &str = "RADDLE_TEST_CHILD";

/// Runs `test` and ends the process as a failure if it hangs.
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
    if let Err(mpsc::RecvTimeoutError::Timeout) = receiver.recv_timeout(PATIENCE) {
        // Not by `eprintln!`, which the harness would keep to itself.
        let words = format!("{name} hangs: no result after {PATIENCE:?}\n");
        let _ = std::io::stderr().write_all(words.as_bytes());
        std::process::exit(101);
    }
    match thread.join() {
        Ok(result) => result,
        Err(payload) => std::panic::resume_unwind(payload),
    }
}

/// The case this process was started for, if it is a child.
pub(crate) fn child_case() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// Runs the test `entry` of this executable in a child process that is told to run `case`.
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
