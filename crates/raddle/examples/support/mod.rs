//! Helpers for the examples: they print and test that the bug is found and that the fixed program has none.
// Each example uses some of these functions.
#![allow(dead_code)]

use std::borrow::Cow;

use raddle::{Config, Finding, Memory, Report, Verdict};

/// Prints the reports of `bugged` and `fixed`.
pub(crate) fn show(name: &str, bugged: fn(), fixed: fn()) {
    println!("{}\n", checked(format!("{name}, bugged"), bugged));
    println!("{}", checked(format!("{name}, fixed"), fixed));
}

fn checked(name: impl Into<Cow<'static, str>>, program: fn()) -> Report {
    Config::new().name(name).strategy("auto").runs(1_000_000).run(program)
}

pub(crate) fn assert_deadlock(program: fn()) {
    let report = checked("deadlock", program);
    let failure = report.failure().expect("there is a bug");
    assert!(matches!(failure.finding, Finding::Deadlock(_)), "{}", raddle::text(&report));
    assert!(failure.reproduced);
}

pub(crate) fn assert_panic(program: fn(), message: &str) {
    let report = checked("panic", program);
    let text = raddle::text(&report);
    let failure = report.failure().expect("there is a bug");
    assert!(matches!(&failure.finding, Finding::Panic(_)) && text.contains(message), "{text}");
    assert!(failure.reproduced);
}

/// Asserts that all executions are explored and none fails, under RC11 each execution graph once.
pub(crate) fn assert_clean(program: fn()) {
    let report = checked("clean", program);
    assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
    let report = Config::new().memory(Memory::Rc11).strategy("dpor").run(program);
    let text = raddle::text(&report);
    assert!(matches!(report.verdict, Verdict::Exhausted), "{text}");
    assert!(report.executions == report.classes && text.contains(" graphs, "), "{text}");
}
