//! One thing found wrong in the source tree.

use std::fmt;

/// Where something is wrong and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Violation {
    /// The file, relative to the workspace.
    pub(crate) file: String,
    /// The line, counted from one, if it is about a line.
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
