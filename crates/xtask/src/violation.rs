//! A violation of a rule in the source tree.

use std::fmt;

/// A violation: its location, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    /// The file, relative to the workspace.
    pub(crate) file: String,
    /// The line, counted from one; `None` if the violation concerns the whole file.
    pub(crate) line: Option<usize>,
    /// What is wrong and what to do.
    pub(crate) message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file, self.message),
            None => write!(out, "{}: {}", self.file, self.message),
        }
    }
}
