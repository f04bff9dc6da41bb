//! The text of source lines, for reports.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

/// A cache of source files.
#[derive(Default)]
pub(crate) struct Sources {
    /// The lines of each file, by its path in debug information. `None` if the file cannot be read.
    files: RefCell<HashMap<String, Option<Vec<String>>>>,
}

impl Sources {
    /// Returns a line of a file, counted from one, or `None` if it cannot be read.
    pub(crate) fn line(&self, file: &str, line: u32) -> Option<String> {
        let mut files = self.files.borrow_mut();
        if !files.contains_key(file) {
            files.insert(file.to_owned(), read(file));
        }
        let lines = files.get(file)?.as_ref()?;
        lines.get((line as usize).checked_sub(1)?).cloned()
    }
}

/// Reads a file whose path is relative to this folder or to one above it. The compiler's paths are relative to
/// the folder in which it ran, such as the root of the workspace; a test runs in the folder of its package.
fn read(file: &str) -> Option<Vec<String>> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let text = here.ancestors().find_map(|folder| fs::read_to_string(folder.join(file)).ok())?;
    Some(text.lines().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_from_the_folder_of_the_package() {
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
