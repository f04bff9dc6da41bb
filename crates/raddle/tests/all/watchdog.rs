//! Executions that block outside raddle's control are reported instead of hanging.
#![cfg(unix)]

use std::time::Duration;

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::{Config, thread};

use super::support::{child, child_case, watched};

const PATIENCE: Duration = Duration::from_millis(400);

/// The cases that run in a child process.
#[test]
fn child_entry() {
    let Some(case) = child_case() else { return };
    let config = Config::new().name(case.clone()).watchdog(PATIENCE);
    match case.as_str() {
        "std lock" => config.check(|| {
            static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
            let take = || {
                let _held = LOCK.lock();
                thread::yield_now();
            };
            let other = thread::spawn(take);
            take();
            other.join().unwrap();
        }),
        "endless loop" => config.check(|| {
            let count = AtomicUsize::new(0);
            count.fetch_add(1, SeqCst);
            let flag = std::sync::atomic::AtomicBool::new(false);
            while !flag.load(SeqCst) {
                std::hint::spin_loop();
            }
        }),
        "before anything" => config.check(|| {
            loop {
                std::thread::park();
            }
        }),
        "slow" => {
            // The check and each execution take longer than the timeout, but they make progress.
            let timeout = 5 * PATIENCE;
            config.watchdog(timeout).runs(1).strategy("random").check(move || {
                let other = thread::spawn(|| {});
                for _ in 0..12 {
                    std::thread::sleep(timeout / 8);
                    thread::yield_now();
                }
                other.join().unwrap();
            });
            println!("slow but alive");
        }
        other => panic!("unknown case {other}"),
    }
}

/// Returns the output of a child, and its exit code.
fn run(case: &str) -> (String, Option<i32>) {
    let name = case.to_owned();
    let output = watched(case, move || child("watchdog::child_entry", &name));
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (text.concat(), output.status.code())
}

#[test]
fn blocking_in_std_is_reported() {
    for (case, step) in [
        ("std lock", "watchdog.rs:"),
        ("endless loop", "in step 2, after crates/raddle/tests/all/watchdog.rs:"),
        ("before anything", "in step 1, at its beginning"),
    ] {
        let (text, code) = run(case);
        assert!(text.contains(&format!("the check `{case}` is stuck: for 400ms")), "{text}");
        assert!(text.contains(step), "{text}");
        assert!(text.contains("child_entry"), "it says where: {text}");
        assert!(text.contains("replay: RADDLE_REPLAY=r1-"), "{text}");
        assert_eq!(code, Some(101), "{text}");
    }
}

#[test]
fn slow_executions_are_not_stuck() {
    let (text, code) = run("slow");
    assert!(text.contains("slow but alive") && !text.contains("is stuck"), "{text}");
    assert_eq!(code, Some(0), "{text}");
}
