//! The result of a check, with the forms in which it can be shown.

use std::fmt;
use std::ops::{Deref, DerefMut};

use raddle_report::Paint;
use raddle_results::document::Document;

use crate::sources::Sources;

/// The result of a check.
///
/// Its fields are those of [`raddle_results::Report`]. [`Display`](fmt::Display) writes what a check prints, with the
/// source lines of the steps where the files can be read.
///
/// ```
/// let report = raddle::Config::new().name("seven").run(|| assert!(raddle::choose(10) != 7, "seven"));
/// assert!(report.to_string().starts_with("raddle: test `seven` FAILED — seven"));
/// assert!(report.to_json().contains(r#""summary": "seven""#));
/// assert!(report.to_html().contains("<title>"));
/// assert_eq!(report.failure().unwrap().execution, report.executions);
/// ```
#[derive(Clone, Debug)]
pub struct Report(raddle_results::Report);

impl Report {
    pub(crate) fn new(report: raddle_results::Report) -> Report {
        Report(report)
    }

    /// Returns the report as JSON, with a line break at its end. `docs/report-json.md` describes its form, which has a
    /// version.
    ///
    /// With `RADDLE_REPORT=folder` every check writes such a file.
    pub fn to_json(&self) -> String {
        raddle_report::json(&self.0)
    }

    /// Returns the report as one HTML page without other files: the failure, the failing execution step by step
    /// with its source, and statistics of the check.
    ///
    /// With `RADDLE_REPORT=folder` every check writes such a page.
    pub fn to_html(&self) -> String {
        page(&raddle_report::document(&self.0))
    }
}

impl Deref for Report {
    type Target = raddle_results::Report;

    fn deref(&self) -> &raddle_results::Report {
        &self.0
    }
}

impl DerefMut for Report {
    fn deref_mut(&mut self) -> &mut raddle_results::Report {
        &mut self.0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(&self.0, Paint::Plain))
    }
}

/// Returns the report as text, without a line break at its end, with source lines.
pub(crate) fn text(report: &raddle_results::Report, paint: Paint) -> String {
    let sources = Sources::default();
    let source = |file: &str, line| sources.line(file, line);
    raddle_report::text_with(&raddle_report::document(report), paint, &source)
}

/// Returns the page of a document, with source lines.
pub(crate) fn page(document: &Document) -> String {
    let sources = Sources::default();
    raddle_report::html(document, &|file, line| sources.line(file, line))
}
