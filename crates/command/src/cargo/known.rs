//! The failures that were found in a workspace: a line with the summary, and one with the command for a replay.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use super::Exit;
use super::build::Workspace;
use crate::Problem;

/// A failure that was found.
pub(super) struct Known {
    pub(super) summary: String,
    /// The command that replays it.
    pub(super) command: String,
}

fn place(workspace: &Workspace) -> PathBuf {
    workspace.target.join("failures")
}

impl Known {
    /// Keeps the failure. That it cannot be kept is no reason to fail: the report has the command.
    pub(super) fn keep(&self, workspace: &Workspace) {
        let summary = self.summary.replace('\n', " ");
        let text = format!("{summary}\n    {}\n", self.command);
        let known = fs::read_to_string(place(workspace)).unwrap_or_default();
        if known.contains(&text) {
            return;
        }
        let file = fs::OpenOptions::new().create(true).append(true).open(place(workspace));
        let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

/// Prints the failures that were kept.
pub(super) fn list(words: &[OsString]) -> Result<Exit, Problem> {
    let workspace = Workspace::find(words)?;
    match fs::read_to_string(place(&workspace)) {
        Ok(text) if !text.is_empty() => print!("{text}"),
        Ok(_) | Err(_) => println!("no failures were found so far"),
    }
    Ok(Exit::Passed)
}
