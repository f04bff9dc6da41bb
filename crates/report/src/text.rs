//! A whole report.

use raddle_core::{Report, Verdict};

use crate::paint::{Look, Paint};
use crate::{clean, failure};

/// The report in words, without a line break at its end.
pub fn text(report: &Report) -> String {
    written(report, Paint::Plain)
}

/// As [`text`], with colours for a terminal.
pub fn coloured_text(report: &Report) -> String {
    written(report, Paint::Colours)
}

fn written(report: &Report, paint: Paint) -> String {
    let text = match &report.verdict {
        Verdict::Failed(found) => return failure::text(report, found, paint),
        Verdict::Exhausted => clean::exhaustive(report),
        Verdict::Bounded(bound) => clean::bounded(report, bound),
        Verdict::Sampled => clean::sampled(report),
        Verdict::NothingToExplore => clean::nothing_to_explore(report),
    };
    let begin = clean::ok(report);
    match text.strip_prefix(&begin) {
        Some(rest) => {
            let ok = begin.replace("` ok —", &format!("` {} —", paint.paint(Look::Good, "ok")));
            ok + rest
        }
        None => text,
    }
}
