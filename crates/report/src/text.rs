//! A whole report.

use raddle_core::{Report, Verdict};

use crate::{clean, failure};

/// The report in words, without a line break at its end.
pub fn text(report: &Report) -> String {
    match &report.verdict {
        Verdict::Failed(found) => failure::text(report, found),
        Verdict::Exhausted => clean::exhaustive(report),
        Verdict::Bounded(bound) => clean::bounded(report, bound),
        Verdict::Sampled => clean::sampled(report),
        Verdict::NothingToExplore => clean::nothing_to_explore(report),
    }
}
