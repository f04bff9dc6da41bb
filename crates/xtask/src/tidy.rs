//! Checks the text of every tracked file, and that the expected files exist.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::rules::{self, Source};
use crate::violation::Violation;

/// Files that must exist.
const EXPECTED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
];

/// Checks the tracked files of the workspace at `root`.
pub(crate) fn check(root: &Path) -> Result<Vec<Violation>, String> {
    let paths = tracked(root)?;
    let mut violations = missing(&paths);
    for path in &paths {
        let file = root.join(path);
        // The file is deleted but the deletion is not committed, or it is a link to a folder.
        if !file.is_file() {
            continue;
        }
        let bytes = fs::read(&file).map_err(|error| format!("cannot read {path}: {error}"))?;
        // A file that is not UTF-8 is not text. Cargo and rustc refuse such sources.
        if let Ok(text) = std::str::from_utf8(&bytes) {
            rules::check(Source { path, text }, &mut violations);
        }
    }
    Ok(violations)
}

fn tracked(root: &Path) -> Result<Vec<String>, String> {
    let list = crate::output(Command::new("git").arg("-C").arg(root).args(["ls-files", "-z"]))?;
    let paths: Vec<String> =
        list.split('\0').filter(|path| !path.is_empty()).map(str::to_string).collect();
    if paths.is_empty() {
        return Err("git tracks no files here".to_string());
    }
    Ok(paths)
}

fn missing(paths: &[String]) -> Vec<Violation> {
    EXPECTED
        .iter()
        .filter(|expected| !paths.iter().any(|path| path == *expected))
        .map(|expected| Violation {
            file: expected.to_string(),
            line: None,
            message: "does not exist or is not tracked: write it and add it".to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_found() {
        let mut paths: Vec<String> = EXPECTED.iter().map(|path| path.to_string()).collect();
        assert_eq!(missing(&paths), []);
        let gone = paths.remove(3);
        paths.push(format!("crates/core/{gone}"));
        let missed: Vec<String> = missing(&paths).into_iter().map(|found| found.file).collect();
        assert_eq!(missed, [gone]);
    }
}
