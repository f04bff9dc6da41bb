//! Results for programs: a JSON object in each line.

use std::time::Duration;

use raddle_results::Json;

use super::check::{Checked, Result as Outcome};
use super::select::Test;

/// Returns the line of a test.
pub(super) fn of_test(test: &Test, checked: &Checked) -> String {
    let result = match checked.result {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Inconclusive => "inconclusive",
    };
    let or_null = |text: Option<String>| text.map_or(Json::Null, Json::text);
    let failure = checked.failure.as_ref();
    line(&Json::object(vec![
        ("type", Json::text("test")),
        ("binary", Json::text(&test.binary.name)),
        ("name", or_null(test.name.clone())),
        ("result", Json::text(result)),
        ("seconds", Json::Fraction(checked.elapsed.as_secs_f64())),
        ("note", Json::text(&checked.note)),
        ("token", or_null(failure.map(|failed| failed.token.to_string()))),
        ("replay", or_null(failure.map(|failed| failed.command.clone()))),
        ("report", or_null(failure.map(|failed| failed.text.clone()))),
    ]))
}

/// Returns the last line: the numbers of tests that passed, failed, came to no result, and did not run.
pub(super) fn of_summary(counts: [usize; 4], elapsed: Duration) -> String {
    let [passed, failed, inconclusive, skipped] = counts.map(|count| Json::Number(count as u64));
    line(&Json::object(vec![
        ("type", Json::text("summary")),
        ("passed", passed),
        ("failed", failed),
        ("inconclusive", inconclusive),
        ("skipped", skipped),
        ("seconds", Json::Fraction(elapsed.as_secs_f64())),
    ]))
}

/// Returns a value in one line. Line ends in texts are escaped, so those that are left are between values.
fn line(value: &Json) -> String {
    value.to_string().lines().map(str::trim_start).collect()
}
