//! The page that leads to all reports of a folder. Checks of several processes may write reports at the same time.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use raddle_results::document::{Document, Entry, Index};

use crate::files::write;

/// The index as data, in the folder.
const DATA: &str = "index.json";
/// The page.
const PAGE: &str = "index.html";
/// Exists while a process changes the index.
const LOCK: &str = "index.lock";
/// A process waits this long for another one. Then the index is not changed.
const PATIENCE: Duration = Duration::from_secs(5);
/// A lock that is older was left by a process that ended.
const MAX_AGE: Duration = Duration::from_secs(20);

/// Adds the report whose page has this name to the index of the folder.
pub fn add_to_index(folder: &Path, document: &Document, page: &str) -> io::Result<()> {
    let lock = folder.join(LOCK);
    let _lock = Lock::take(&lock)?;
    let data = folder.join(DATA);
    // An index that cannot be read is begun anew.
    let known = fs::read_to_string(&data).ok().and_then(|text| Index::parse(&text).ok());
    let mut index = known.unwrap_or_default();
    index.entries.retain(|entry| folder.join(&entry.page).exists());
    index.add(Entry::new(document, page.to_owned()));
    write(&data, &format!("{index}\n"))?;
    write(&folder.join(PAGE), &raddle_report::index(&index))
}

/// A file that exists while it is not dropped.
struct Lock<'a>(&'a Path);

impl Lock<'_> {
    fn take(path: &Path) -> io::Result<Lock<'_>> {
        let begin = Instant::now();
        loop {
            match fs::OpenOptions::new().write(true).create_new(true).open(path) {
                Ok(_) => return Ok(Lock(path)),
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(error) if begin.elapsed() > PATIENCE => return Err(error),
                Err(_) if is_old(path) => drop(fs::remove_file(path)),
                Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // Another process removes it later.
        let _ = fs::remove_file(self.0);
    }
}

fn is_old(path: &Path) -> bool {
    let written = fs::metadata(path).and_then(|known| known.modified());
    let age = written.ok().and_then(|written| SystemTime::now().duration_since(written).ok());
    age.is_some_and(|age| age > MAX_AGE)
}
