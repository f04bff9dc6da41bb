//! Helpers for stress tests: a watchdog, and child processes for cases that may end the process.

pub(crate) mod same_as_std;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use raddle::{Memory, Strategy};
use raddle_explore::{Kind, Models};

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

/// A strategy under a memory model.
pub(crate) struct Known {
    pub(crate) word: String,
    pub(crate) memory: Memory,
    pub(crate) is_sampler: bool,
}

/// Returns every strategy of the table, with numbers in place of letters, under every memory model that it supports.
pub(crate) fn every_strategy() -> Vec<Known> {
    let number = |letter: char| match letter {
        'A' => "random".into(),
        'B' => "pct:3".into(),
        'F' => "1".into(),
        'K' => "100".into(),
        'D' | 'H' | 'P' => "2".into(),
        other => other.to_string(),
    };
    let known = Strategy::table().iter().flat_map(|row| {
        let word: String = row.pattern.chars().map(number).collect();
        let models: &[Memory] = match row.memory {
            Models::All => &[Memory::Sc, Memory::Rc11],
            Models::Sc => &[Memory::Sc],
            Models::Rc11 => &[Memory::Rc11],
        };
        // A portfolio takes turns with samplers.
        let is_sampler = row.kind() == Kind::Sampler || row.pattern.starts_with("portfolio");
        models.iter().map(move |&memory| Known { word: word.clone(), memory, is_sampler })
    });
    known.collect()
}
