//! Results without a failure. Each says what was tried, never more.

use raddle_core::Report;

use crate::number::{count, thousands, time};

/// The memory model of every run so far.
const MEMORY: &str = "SC";

/// The strategy's word of a report on a replay.
pub(crate) const REPLAY: &str = "replay";

pub(crate) fn exhaustive(report: &Report) -> String {
    let how_far = if report.discarded > 0 { " up to the step limit" } else { "" };
    let mut text = format!(
        "{} exhaustive{how_far}: {}, {}, {}, {MEMORY}",
        ok(report),
        classes(report),
        executions(report),
        time(report.elapsed)
    );
    if report.discarded > 0 {
        text += &format!(
            "\n        {} it and {} set aside: nothing is known of {}",
            count(report.discarded, "execution reached", "executions reached"),
            if report.discarded == 1 { "was" } else { "were" },
            if report.discarded == 1 { "it" } else { "them" },
        );
    }
    text
}

pub(crate) fn sampled(report: &Report) -> String {
    if report.strategy == REPLAY {
        return format!("{} replayed: this execution does not fail", ok(report));
    }
    let mut text = format!(
        "{} sampled: {} ({}), {} seen, {}",
        ok(report),
        executions(report),
        report.strategy,
        classes(report),
        time(report.elapsed)
    );
    if report.discarded > 0 {
        text += &format!(
            "\n        of these, {} reached the step limit and {} set aside",
            thousands(report.discarded),
            if report.discarded == 1 { "was" } else { "were" },
        );
    }
    text
}

pub(crate) fn nothing_to_explore(report: &Report) -> String {
    let why = if report.threads > 1 {
        "at every step only one thread can go on, and the program makes no choices"
    } else {
        "the program runs one thread and makes no choices"
    };
    format!("{} nothing to explore: {why}; it ran without failing", ok(report))
}

fn ok(report: &Report) -> String {
    format!("raddle: test `{}` ok —", report.name)
}

fn executions(report: &Report) -> String {
    count(report.executions, "execution", "executions")
}

fn classes(report: &Report) -> String {
    let about = if report.classes_exact { "" } else { "≈ " };
    format!("{about}{}", count(report.classes, "class", "classes"))
}
