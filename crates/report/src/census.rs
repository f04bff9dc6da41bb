//! All failures of a check that went on after the first: how many executions fail, and why.

use std::fmt::Write;

use raddle_results::{Cause, Failures, Finding, Report};

use crate::failure::{headline, quoted};
use crate::names::Names;
use crate::number::{count, share, thousands};

pub(crate) fn text(report: &Report, failures: &Failures) -> String {
    let Failures { failing, runs, interval: (low, high), causes, others } = failures;
    let mut text = format!(
        "  {} of {} fail: {} (between {} and {} with 95 % confidence), the first after {}\n",
        thousands(*failing),
        count(*runs, "execution", "executions"),
        share(*failing as f64 / (*runs).max(1) as f64),
        share(*low),
        share(*high),
        causes.first().map_or(0, |cause| cause.failure.execution),
    );
    if report.phases.len() > 1 {
        let phase = |phase: &raddle_results::Phase| {
            let (failing, executions) = (thousands(phase.failing), thousands(phase.executions));
            format!("{} {failing} of {executions}", phase.strategy)
        };
        let phases: Vec<String> = report.phases.iter().map(phase).collect();
        let _ = writeln!(text, "  by strategy: {}", phases.join(" · "));
    }
    let _ = writeln!(text, "  {}:", count(causes.len() as u64, "cause", "causes"));
    for cause in causes {
        text += &line(cause);
    }
    if *others > 0 {
        let _ = writeln!(text, "    {} × something else", thousands(*others));
    }
    text
}

/// A cause: how often, what, where, and how to have it again.
fn line(cause: &Cause) -> String {
    let Cause { failure, runs } = cause;
    let place = match &failure.finding {
        Finding::Panic(panic) => panic.place.as_ref().map(|place| format!(" at {place}")),
        Finding::Deadlock(_)
        | Finding::Race { .. }
        | Finding::Leak(_)
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. }
        | Finding::Stuck { .. } => None,
    };
    format!(
        "    {} × {}{}\n      first after {}{} · RADDLE_REPLAY={}\n",
        thousands(*runs),
        headline(&failure.finding, &Names::new(&failure.trace)),
        place.unwrap_or_default(),
        count(failure.execution, "execution", "executions"),
        if failure.reproduced { "" } else { ", NOT reproduced" },
        quoted(&failure.token),
    )
}
