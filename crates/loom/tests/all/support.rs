//! Runs a model and returns the report of its failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the report if the model fails.
pub(crate) fn failure(program: impl Fn() + Send + Sync + 'static) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(|| loom::model(program))).err()?;
    Some(*payload.downcast::<String>().expect("a report"))
}

/// Asserts that the model fails, and that its report contains `text`.
#[track_caller]
pub(crate) fn assert_fails(text: &str, program: impl Fn() + Send + Sync + 'static) {
    let report = failure(program).expect("the model fails");
    assert!(report.contains(text), "{report}");
}
