//! Files that checks write: reports in the folder of `RADDLE_REPORT`, and long replay tokens.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use raddle_results::{Report, token};

use crate::config::failures_mut;
use crate::index::add_to_index;
use crate::report;
use crate::settings::SettingError;

/// Tokens with more bytes than this are written to a file.
const MAX_TOKEN_BYTES: usize = 2_000;

/// Files with more bytes than this are not read.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The name of the page that leads to all reports, which no check has.
const INDEX: &str = "index";

/// Begins a token that is the path of a file, which contains the actual token.
const FILE_MARK: char = '@';

/// The folder for reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Creates the folder if it does not exist.
    pub(crate) fn new(path: &Path) -> Result<Folder, SettingError> {
        match fs::create_dir_all(path) {
            Ok(()) => Ok(Folder(path.to_owned())),
            Err(error) => Err(SettingError::new(format!(
                "RADDLE_REPORT=`{}` cannot be used as the folder for reports: {error}; set it to a \
                 folder that can be created and written",
                path.display()
            ))),
        }
    }

    /// Writes the report as JSON and as HTML, and adds it to the index of the folder. Returns the path of the HTML file.
    ///
    /// A second check of the same name in one process gets files with a number.
    pub(crate) fn write(&self, found: &Report) -> io::Result<PathBuf> {
        static WRITTEN: Mutex<Option<HashMap<PathBuf, u32>>> = Mutex::new(None);
        let mut path = self.0.join(file_name(&found.name));
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
        write(&json, &raddle_report::json(found))?;
        let document = raddle_report::document(found);
        write(&html, &report::page(&document))?;
        let page = html.file_name().unwrap_or_default().to_string_lossy();
        add_to_index(&self.0, &document, &page)?;
        Ok(html)
    }
}

/// Writes a file as a whole: another process sees the old file or the new one, never a part. A symbolic link is
/// replaced and not followed.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    static WRITTEN: AtomicU32 = AtomicU32::new(0);
    let mut new = path.to_owned();
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    new.as_mut_os_string().push(format!(".{}-{number}.new", std::process::id()));
    let written = fs::OpenOptions::new().write(true).create_new(true).open(&new);
    let written = written
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, path));
    written.map_err(|error| {
        // A part of a file is of no use.
        let _ = fs::remove_file(&new);
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    })
}

/// Reads a text file that is not larger than any file with tokens.
pub(crate) fn read_limited(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let limit = MAX_FILE_BYTES + 1;
    fs::File::open(path)?.take(limit).read_to_string(&mut text)?;
    if text.len() as u64 == limit {
        let message = format!("it has more than {MAX_FILE_BYTES} bytes, which no token has");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(text)
}

/// The file name for a check: `tests.counter` for `tests::counter`. Different checks have different file
/// names, also on file systems that ignore case.
pub(crate) fn file_name(name: &str) -> String {
    let plain = name.replace("::", ".");
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let clean: String =
        plain.chars().map(|letter| if fits(letter) { letter } else { '_' }).take(100).collect();
    let clean = clean.trim_start_matches('.');
    let is_same = clean == plain && !clean.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_same && !clean.is_empty() && clean != INDEX {
        clean.to_owned()
    } else {
        format!("{clean}-{:08x}", token::name_hash(name))
    }
}

/// Returns the token itself, or the content of the file that it names.
pub(crate) fn read_token(word: &str) -> Result<String, SettingError> {
    let Some(path) = word.trim().strip_prefix(FILE_MARK) else { return Ok(word.to_owned()) };
    read_limited(Path::new(path)).map_err(|error| {
        SettingError::new(format!(
            "the file `{path}` with the replay token cannot be read: {error}"
        ))
    })
}

/// Writes long tokens to files and replaces them by the paths.
pub(crate) fn shorten_tokens(report: &mut Report, folder: Option<&Folder>) {
    if report.failure().is_none() {
        return;
    }
    let name = file_name(&report.name);
    let folder = match folder {
        Some(folder) => folder.0.clone(),
        None => std::env::temp_dir().join("raddle"),
    };
    for failure in failures_mut(report).filter(|failure| failure.token.len() > MAX_TOKEN_BYTES) {
        let file = folder.join(format!("{name}-{:08x}.token", token::name_hash(&failure.token)));
        // If the file cannot be written, the long token is still valid.
        if write_new(&file, &failure.token).is_ok() {
            let path = std::path::absolute(&file).unwrap_or(file);
            failure.token = format!("{FILE_MARK}{}", path.display());
        }
    }
}

/// Writes `text` to `file`. Does not overwrite a file with another content.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
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
    fn file_names() {
        for (name, file) in [
            ("tests::counter", "tests.counter"),
            ("a_b-c.2", "a_b-c.2"),
            ("lost update", "lost_update-c3dc7f00"),
            ("../../etc", "_.._etc-cb7d5d3f"),
            ("Counter", "Counter-fc0f33c3"),
            ("", "-811c9dc5"),
            ("index", "index-090aa9ab"),
        ] {
            assert_eq!(file_name(name), file, "{name}");
        }
        assert_ne!(file_name("a b"), file_name("a/b"));
        assert!(file_name(&"x".repeat(1000)).len() < 120);
    }
}
