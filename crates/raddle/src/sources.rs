//! The text of source lines, for reports.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

/// Source files that were asked for, read once each.
#[derive(Default)]
pub(crate) struct Sources {
    /// By the name that the compiler knows the file by; `None` if it cannot be read.
    files: RefCell<HashMap<String, Option<Vec<String>>>>,
}

impl Sources {
    /// A line of a file, counted from one, if it can be read.
    pub(crate) fn line(&self, file: &str, line: u32) -> Option<String> {
        let mut files = self.files.borrow_mut();
        if !files.contains_key(file) {
            files.insert(file.to_owned(), read(file));
        }
        let lines = files.get(file)?.as_ref()?;
        lines.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// The compiler names files as seen from where it ran, the root of the workspace for instance; a test
/// runs in the folder of its package.
fn read(file: &str) -> Option<Vec<String>> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let text = here.ancestors().find_map(|folder| fs::read_to_string(folder.join(file)).ok())?;
    Some(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_from_where_a_test_runs() {
        let sources = Sources::default();
        assert_eq!(
            sources.line(file!(), 1).as_deref(),
            Some("//! The text of source lines, for reports.")
        );
        assert_eq!(sources.line(file!(), 0), None);
        assert_eq!(sources.line(file!(), 100_000), None);
        assert_eq!(sources.line("no/such/file.rs", 1), None);
    }
}
