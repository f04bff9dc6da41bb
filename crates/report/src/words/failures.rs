//! All failures of a check that continued after the first: how many executions fail, and why.

use raddle_results::Phase;
use raddle_results::document::{Cause, Document, Failures, Finding};

use crate::number::{count, share, thousands};
use crate::phrase::quoted;
use crate::words::clean::ended_early;

/// Returns the failures by cause, in lines.
pub(crate) fn lines(document: &Document, failures: &Failures) -> Vec<String> {
    let Failures { failing, runs, interval: [low, high], causes, others } = failures;
    let mut lines = vec![format!(
        "{} of {} fail: {} (between {} and {} with 95 % confidence), the first after {}",
        thousands(*failing),
        count(*runs, "execution", "executions"),
        share(*failing as f64 / (*runs).max(1) as f64),
        share(*low),
        share(*high),
        causes.first().map_or(0, |cause| cause.execution),
    )];
    if document.phases.len() > 1 {
        let phase = |phase: &Phase| {
            let (failing, executions) = (thousands(phase.failing), thousands(phase.executions));
            format!("{} {failing} of {executions}", phase.strategy)
        };
        let phases: Vec<String> = document.phases.iter().map(phase).collect();
        lines.push(format!("by strategy: {}", phases.join(" · ")));
    }
    lines.push(format!("{}:", count(causes.len() as u64, "cause", "causes")));
    lines.extend(causes.iter().flat_map(cause_lines));
    if *others > 0 {
        lines.push(format!("  {} × other causes", thousands(*others)));
    }
    lines.extend(ended_early(document));
    lines
}

/// Returns how often, what and where; and how to replay the first.
fn cause_lines(cause: &Cause) -> [String; 2] {
    let place = match &cause.finding {
        Finding::Panic { place: Some(place), .. } => format!(" at {place}"),
        Finding::Panic { place: None, .. }
        | Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::Leak { .. }
        | Finding::StepLimit { .. }
        | Finding::Nondeterminism { .. } => String::new(),
    };
    [
        format!("  {} × {}{place}", thousands(cause.runs), cause.summary),
        format!(
            "    first after {}{} · RADDLE_REPLAY={}",
            count(cause.execution, "execution", "executions"),
            if cause.reproduced { "" } else { ", NOT reproduced" },
            quoted(&cause.token),
        ),
    ]
}
