//! `#[raddle::test]`: what it accepts, how the test harness sees the tests, and its error messages.

use std::fs;
use std::path::Path;
use std::process::Command;

use raddle::sync::atomic::{
    AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use raddle::{Granularity, OnStepLimit, Strategy, cell, thread};

/// Panics if an increment is lost.
fn lost_increments() {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        let increment = || {
            let seen = count.load(SeqCst);
            count.store(seen + 1, SeqCst);
        };
        scope.spawn(increment);
        increment();
    });
    assert_eq!(count.load(SeqCst), 2, "an update got lost");
}

#[raddle::test]
fn passes() {
    let count = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| count.fetch_add(1, SeqCst));
        count.fetch_add(1, SeqCst);
    });
    assert_eq!(count.load(SeqCst), 2);
}

#[raddle::test]
#[should_panic]
fn fails() {
    lost_increments();
}

#[should_panic(
    expected = "test `attribute::fails_with_message` FAILED — assertion `left == right` failed: an update"
)]
#[raddle::test(strategy = "dpor")]
fn fails_with_message() {
    lost_increments();
}

/// Documentation and other attributes are kept.
#[raddle::test(runs = 100)]
#[ignore = "tests this attribute; run by `the_harness_sees_tests`"]
#[allow(unused_variables)]
pub fn is_ignored() {
    let unused = 1;
    lost_increments();
}

#[raddle::test(
    strategy = "random".parse::<Strategy>().unwrap(),
    runs = RUNS,
    time = "30s",
    seed = 3 + 4,
    max_steps = 1_000,
    on_step_limit = "discard",
    granularity = "all",
    stack_size = 64 * 1024,
    name = "all of them",
)]
#[should_panic = "test `all of them` FAILED"]
fn every_setting() {
    // A plain access is a scheduling point only at this granularity.
    let total = cell::Shared::new(0);
    thread::scope(|scope| {
        scope.spawn(|| total.set(total.get() + 1));
        total.set(total.get() + 1);
    });
    assert_eq!(total.get(), 2);
}

const RUNS: u64 = 500;

#[raddle::test(memory = "rc11", strategy = "dfs", coverage = "event")]
#[should_panic = "stale"]
fn loads_may_be_stale() {
    let (data, flag) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(1, Relaxed);
            flag.store(1, Relaxed);
        });
        if flag.load(Relaxed) == 1 {
            assert_eq!(data.load(Relaxed), 1, "stale");
        }
    });
}

#[raddle::test(
    time = std::time::Duration::from_secs(20),
    granularity = Granularity::Sync,
    on_step_limit = OnStepLimit::Fail,
    max_steps = 10
)]
#[should_panic = "did not end within 10 steps"]
fn settings_are_expressions_too() {
    // An execution is led on for 10,000 steps after the limit.
    for _ in 0..20_000 {
        thread::yield_now();
    }
}

#[raddle::test]
fn returns_ok() -> Result<(), std::num::ParseIntError> {
    let number: usize = thread::spawn(|| "1".parse()).join().unwrap()?;
    if number == 1 {
        return Ok(());
    }
    unreachable!()
}

#[raddle::test]
#[should_panic = "the test returned Err(\"odd\")"]
fn returns_err() -> Result<(), &'static str> {
    if raddle::choose(2) == 1 { Err("odd") } else { Ok(()) }
}

#[raddle::test(watchdog = "off")]
fn r#true() {}

mod inner {
    #[raddle::test]
    #[should_panic = "raddle: test `attribute::inner::is_named_by_its_path` FAILED — here"]
    fn is_named_by_its_path() {
        super::finds_a_lost_increment();
    }
}

fn finds_a_lost_increment() {
    panic!("here");
}

/// Runs the harness with these arguments. Returns whether it succeeded, and its output.
fn harness(arguments: &[&str]) -> (bool, String) {
    let output = Command::new(std::env::current_exe().unwrap()).args(arguments).output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_harness_sees_tests() {
    let (_, list) = harness(&["--list"]);
    for name in ["passes", "inner::is_named_by_its_path", "r#true", "returns_ok"] {
        assert!(
            list.lines().any(|line| line == format!("attribute::{name}: test")),
            "{name} is not in\n{list}"
        );
    }
    let (content, text) = harness(&["--exact", "attribute::is_ignored"]);
    assert!(content && text.contains("1 ignored"), "{text}");
    // With one thread the harness does not name the thread after the test.
    let (content, text) =
        harness(&["--exact", "attribute::is_ignored", "--include-ignored", "--test-threads=1"]);
    assert!(!content && text.contains("test `attribute::is_ignored` FAILED"), "{text}");
    assert!(
        text.contains("--test all -- --include-ignored --exact attribute::is_ignored"),
        "{text}"
    );
}

/// The locations of an `Err`, of a panic and of its backtrace are in the test, not in a macro of raddle.
#[test]
fn failures_are_located_in_the_test() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "attribute::returns_err", "--nocapture"])
        .env("RUST_BACKTRACE", "1")
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains("attribute::returns_err") && !errors.contains("settings/"), "{errors}");
    assert!(errors.contains("main panicked at crates/raddle/tests/all/attribute.rs:1"), "{errors}");
}

/// Uses that do not compile, each with a part of the error message.
const WRONG: &[(&str, &str)] = &[
    (
        "#[raddle::test(strategie = 1)] fn a() {}",
        "unknown setting `strategie`; there are `strategy`",
    ),
    ("#[raddle::test(report = \"a\")] fn l() {}", "unknown setting `report`"),
    ("#[raddle::test(runs)] fn b() {}", "`runs` needs a value: `runs = 10_000`"),
    ("#[raddle::test(runs = )] fn c() {}", "`runs` needs a value"),
    ("#[raddle::test(seed = 1, seed = 2)] fn d() {}", "`seed` is set twice"),
    ("#[raddle::test(\"pct:3\")] fn e() {}", "settings are written as `name = value`"),
    ("#[raddle::test] unsafe fn g() {}", "a test cannot be unsafe"),
    ("#[raddle::test] fn h(_count: usize) {}", "a test takes no arguments"),
    ("#[raddle::test] fn i<T>() {}", "a test cannot be generic"),
    ("#[raddle::test] struct J;", "only a function can be a test"),
    ("#[raddle::test] #[test] fn k() {}", "remove this attribute"),
];

/// Uses whose errors are found after macro expansion, each with a part of the error message.
const WRONG_VALUES: &[(&str, &str)] = &[
    (
        "#[raddle::test(time = \"10 parsecs\")] fn a() {}",
        "this is not a time; say for example 500ms",
    ),
    ("#[raddle::test(watchdog = \"0s\")] fn h() {}", "say for example 500ms, 10s or off"),
    ("#[raddle::test(granularity = \"fine\")] fn b() {}", "say sync, racy or all"),
    ("#[raddle::test(on_step_limit = \"continue\")] fn c() {}", "say fail or discard"),
    ("#[raddle::test(memory = \"tso\")] fn f() {}", "say sc or rc11"),
    ("#[raddle::test(coverage = \"all\")] fn g() {}", "say site or event"),
    ("#[raddle::test(panics = \"no\")] fn d() {}", "say fail or join"),
    ("#[raddle::test(leaks = \"no\")] fn e() {}", "say ignore, note or fail"),
];

/// Uses with wrong types, each with a part of the error message.
const WRONG_TYPES: &[(&str, &str)] = &[
    ("#[raddle::test(runs = \"many\")] fn a() {}", "mismatched types"),
    ("#[raddle::test] fn b() -> u32 { 1 }", "a test cannot return `u32`"),
];

#[test]
fn misuse_is_explained() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong-attributes");
    fs::create_dir_all(root.join("tests")).unwrap();
    fs::create_dir_all(root.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"wrong-attributes\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\nraddle.path = {:?}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(root.join("Cargo.toml"), manifest).unwrap();
    fs::write(root.join("src/lib.rs"), "").unwrap();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    fs::copy(lock, root.join("Cargo.lock")).unwrap();
    let files = [("uses", WRONG), ("values", WRONG_VALUES), ("types", WRONG_TYPES)];
    for (name, cases) in files {
        let lines: Vec<&str> = cases.iter().map(|case| case.0).collect();
        fs::write(root.join(format!("tests/{name}.rs")), lines.join("\n")).unwrap();
    }
    let output = Command::new(env!("CARGO"))
        .args(["check", "--tests", "--keep-going", "--offline", "--target-dir", "target"])
        .current_dir(&root)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it compiles");
    for (name, cases) in files {
        for (number, (case, expected)) in cases.iter().enumerate() {
            let place = format!("--> tests/{name}.rs:{}:", number + 1);
            let found = errors
                .split("\n\n")
                .any(|error| error.contains(expected) && error.contains(&place));
            assert!(found, "{case}: no error at {place} contains `{expected}`:\n{errors}");
        }
    }
}
