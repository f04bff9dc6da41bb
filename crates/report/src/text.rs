//! A whole report.

use raddle_results::{Report, Verdict};

use crate::paint::{Look, Paint};
use crate::{clean, coverage, failure, oddity};

/// The report in words, without a line break at its end.
pub fn text(report: &Report) -> String {
    text_with(report, Paint::Plain, &|_, _| None)
}

/// As [`text`], perhaps with colours, and with the source of the steps below their picture. `source`
/// gives a line of a source file, counted from one, if it can be had.
pub fn text_with(
    report: &Report,
    paint: Paint,
    source: &dyn Fn(&str, u32) -> Option<String>,
) -> String {
    let text = match &report.verdict {
        Verdict::Failed(found) => {
            return failure::text(report, found, paint, source) + &coverage::text(report);
        }
        Verdict::Exhausted => clean::exhaustive(report),
        Verdict::Bounded(bound) => clean::bounded(report, bound),
        Verdict::Sampled => clean::sampled(report),
        Verdict::NothingToExplore => clean::nothing_to_explore(report),
    };
    let text = text + &coverage::text(report) + &oddity::remarks(report);
    let begin = clean::ok(report);
    match text.strip_prefix(&begin) {
        Some(rest) => {
            let ok = begin.replace("` ok —", &format!("` {} —", paint.paint(Look::Good, "ok")));
            ok + rest
        }
        None => text,
    }
}
