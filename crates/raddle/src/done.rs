//! A check that is over, and how its result is told.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use raddle_report::Paint;
use raddle_results::Report;

use crate::environment::Show;
use crate::sources::Sources;

/// A check that is over.
pub(crate) struct Done {
    pub(crate) report: Report,
    /// The file with the report as a page.
    pub(crate) page: Option<PathBuf>,
    /// Whether the environment says something about colours.
    pub(crate) colour: Option<Show>,
}

/// Who reads a text.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// Somebody at a terminal.
    Terminal,
    /// Whoever catches a panic.
    Panic,
}

impl Done {
    pub(crate) fn text(&self, target: Target) -> String {
        let paint = match target {
            Target::Terminal if self.is_coloured() => Paint::Colours,
            Target::Terminal | Target::Panic => Paint::Plain,
        };
        let sources = Sources::default();
        let source = |file: &str, line| sources.line(file, line);
        let mut text =
            raddle_report::text_with(&raddle_report::brief(&self.report), paint, &source);
        if let Some(page) = &self.page {
            text += &format!("\n  report: {}", page.display());
        }
        text
    }

    pub(crate) fn is_coloured(&self) -> bool {
        match self.colour {
            Some(Show::Always) => true,
            Some(Show::Never) => false,
            None if self.report.failure().is_some() => io::stderr().is_terminal(),
            None => io::stdout().is_terminal(),
        }
    }

    /// Says something past a test harness that keeps what its tests print.
    pub(crate) fn say(&self, text: &str) {
        // If nobody can be told there is nothing else to do.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}
