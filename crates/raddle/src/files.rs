//! Files that checks write: reports in the folder of `RADDLE_REPORT`, and tokens too long to be pasted.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use raddle_results::{Report, token};

use crate::config::failures_mut;
use crate::environment::SettingError;

/// Tokens longer than this go to a file.
const LONGEST_TOKEN: usize = 2_000;

/// What stands before the name of a file in place of a token.
const IN_FILE: char = '@';

/// Where reports go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder if it is not there.
    pub(crate) fn new(path: &Path) -> Result<Folder, SettingError> {
        match fs::create_dir_all(path) {
            Ok(()) => Ok(Folder(path.to_owned())),
            Err(error) => Err(SettingError::new(format!(
                "RADDLE_REPORT=`{}` cannot be used as a folder for reports: {error}",
                path.display()
            ))),
        }
    }

    /// Writes the report as JSON and as HTML. Returns the file of the latter.
    ///
    /// A second check of the same name in one process has files of its own.
    pub(crate) fn write(&self, report: &Report) -> io::Result<PathBuf> {
        static WRITTEN: Mutex<Option<HashMap<PathBuf, u32>>> = Mutex::new(None);
        let mut path = self.0.join(file_name(&report.name));
        let number = {
            let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
            let number = written.get_or_insert_default().entry(path.clone()).or_default();
            *number += 1;
            *number
        };
        if number > 1 {
            path.as_mut_os_string().push(format!("-{number}"));
        }
        let with = |ending: &str| {
            let mut path = path.clone();
            path.as_mut_os_string().push(ending);
            path
        };
        let (json, html) = (with(".json"), with(".html"));
        let document = raddle_report::document(report);
        write(&json, &format!("{document}\n"))?;
        write(&html, &crate::page(&document))?;
        Ok(html)
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// `tests.counter` for `tests::counter`. Different names have different files, also where capitals
/// cannot be told from small letters.
fn file_name(name: &str) -> String {
    let plain = name.replace("::", ".");
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let clean: String =
        plain.chars().map(|letter| if fits(letter) { letter } else { '_' }).take(100).collect();
    let clean = clean.trim_start_matches('.');
    let is_same = clean == plain && !clean.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_same && !clean.is_empty() {
        clean.to_owned()
    } else {
        format!("{clean}-{:08x}", token::name_hash(name))
    }
}

/// The token that `word` stands for: the word itself, or what is in the file that it names.
pub(crate) fn read_token(word: &str) -> Result<String, SettingError> {
    let Some(path) = word.trim().strip_prefix(IN_FILE) else { return Ok(word.to_owned()) };
    fs::read_to_string(path).map_err(|error| {
        SettingError::new(format!(
            "the replay token is in the file `{path}`, which cannot be read: {error}"
        ))
    })
}

/// Puts tokens that are too long to be pasted into files, and names these in their place.
pub(crate) fn shorten_tokens(report: &mut Report, folder: Option<&Folder>) {
    if report.failure().is_none() {
        return;
    }
    let name = file_name(&report.name);
    let folder = match folder {
        Some(folder) => folder.0.clone(),
        None => std::env::temp_dir().join("raddle"),
    };
    for failure in failures_mut(report).filter(|failure| failure.token.len() > LONGEST_TOKEN) {
        let file = folder.join(format!("{name}-{:08x}.token", token::name_hash(&failure.token)));
        // Without the file the token is still good.
        if keep(&file, &failure.token).is_ok() {
            let path = std::path::absolute(&file).unwrap_or(file);
            failure.token = format!("{IN_FILE}{}", path.display());
        }
    }
}

/// Makes sure that `text` is in `file`, which is never written over: it may be anybody's.
fn keep(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    match fs::OpenOptions::new().write(true).create_new(true).open(file) {
        Ok(mut new) => new.write_all(text.as_bytes()),
        Err(_) if fs::read_to_string(file).is_ok_and(|known| known == text) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files() {
        for (name, file) in [
            ("tests::counter", "tests.counter"),
            ("a_b-c.2", "a_b-c.2"),
            ("lost update", "lost_update-c3dc7f00"),
            ("../../etc", "_.._etc-cb7d5d3f"),
            ("Counter", "Counter-fc0f33c3"),
            ("", "-811c9dc5"),
        ] {
            assert_eq!(file_name(name), file, "{name}");
        }
        assert_ne!(file_name("a b"), file_name("a/b"));
        assert!(file_name(&"x".repeat(1000)).len() < 120);
    }
}
