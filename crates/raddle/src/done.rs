//! The result of a check, and how it is printed.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use raddle_report::Paint;

use crate::report::{self, Report};
use crate::settings::Show;

/// The result of a check.
pub(crate) struct Done {
    pub(crate) report: Report,
    /// The HTML file with the report.
    pub(crate) page: Option<PathBuf>,
    pub(crate) color: Show,
}

/// The destination of a text.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard output or standard error.
    Terminal,
    /// The message of a panic.
    Panic,
}

impl Done {
    pub(crate) fn text(&self, target: Target) -> String {
        let paint = match target {
            Target::Terminal if self.is_coloured() => Paint::Colours,
            Target::Terminal | Target::Panic => Paint::Plain,
        };
        let mut text = report::text(&self.report, paint);
        if let Some(page) = &self.page {
            text += &format!("\n  report: {}", page.display());
        }
        text
    }

    pub(crate) fn is_coloured(&self) -> bool {
        match self.color {
            Show::Always => true,
            Show::Never => false,
            Show::Auto if self.report.has_failed() => io::stderr().is_terminal(),
            Show::Auto => io::stdout().is_terminal(),
        }
    }
}

/// Writes to standard error, bypassing the capture of test harnesses.
pub(crate) fn write_to_stderr(text: &str) {
    // An error cannot be reported anywhere else.
    let _ = io::stderr().write_all(text.as_bytes());
}
