//! The command `all`: measures every table, each in a process of its own, and writes them to a folder.
//!
//! A marker in the folder says since when. Tables that are newer than the marker are skipped, so that a call
//! that was interrupted can be resumed. The marker is removed after the last table.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::ValueEnum;

use crate::child::this_executable;
use crate::table::Size;
use crate::tables::Name;

/// What to do with the tables of an interrupted call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Start {
    /// Measures only the missing tables.
    Resume,
    /// Measures all tables.
    Anew,
}

/// The name of the marker. It is not committed.
const MARKER: &str = ".unfinished";

/// Measures the named tables, or all tables and litmus tests if there are no names, and writes them to
/// `folder`.
pub(crate) fn measure(
    names: &[Name],
    folder: &Path,
    size: Size,
    start: Start,
) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    if !names.is_empty() {
        names.iter().try_for_each(|name| Job::table(*name, folder, size).write(folder))?;
        return crate::index::write(folder);
    }
    let (known, seconds) = taken(folder);
    let all = Name::value_variants().len() + 1;
    eprintln!(
        "{:.0} minutes of CPU time for {known} of {all} tables, when they were measured last",
        seconds / 60.0
    );
    let marker = folder.join(MARKER);
    if start == Start::Anew || !marker.exists() {
        fs::write(&marker, "").map_err(|error| failed(&marker, error))?;
    }
    let tables = Name::value_variants().iter().map(|name| Job::table(*name, folder, size));
    for job in tables.chain([Job::litmus()]) {
        if is_newer(&job.file(folder), &marker)? {
            eprintln!("{}: there already", job.name);
        } else {
            job.write(folder)?;
        }
    }
    let (known, seconds) = taken(folder);
    eprintln!("{:.0} minutes of CPU time for {known} of {all} tables", seconds / 60.0);
    crate::index::write(folder)?;
    fs::remove_file(&marker).map_err(|error| failed(&marker, error))
}

/// A command of this executable whose output is kept in a file.
struct Job {
    name: String,
    arguments: Vec<String>,
}

impl Job {
    fn table(name: Name, folder: &Path, size: Size) -> Job {
        let mut arguments = vec!["table".to_owned(), name.word()];
        match size {
            Size::Full => {}
            Size::Quick => arguments.push("--quick".to_owned()),
        }
        if let Some(plots) = name.plots() {
            let mut plots = folder.join(plots).display().to_string();
            plots.truncate(plots.trim_end_matches('/').len());
            arguments.extend(["--plots".to_owned(), plots]);
        }
        Job { name: name.word(), arguments }
    }

    fn litmus() -> Job {
        Job { name: "litmus".to_owned(), arguments: vec!["litmus".to_owned()] }
    }

    fn file(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.txt", self.name))
    }

    /// Runs the command and writes its output. The file has its name only if the command succeeds.
    fn write(&self, folder: &Path) -> Result<(), String> {
        eprintln!("{}", self.name);
        let (start, before) = (Instant::now(), seconds_of_children());
        let output = Command::new(this_executable()?)
            .args(&self.arguments)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("{}: {error}", self.name))?;
        if !output.status.success() {
            return Err(format!("{}: {}", self.name, output.status));
        }
        let mut text = format!("$ {}\n\n", crate::command(&self.arguments)).into_bytes();
        text.extend(output.stdout);
        let took = seconds_of_children() - before;
        text.extend(format!("\n{TOOK}{took:.0} s of CPU time\n").into_bytes());
        let (unfinished, file) = (folder.join(format!(".{}.txt", self.name)), self.file(folder));
        fs::write(&unfinished, text).map_err(|error| failed(&unfinished, error))?;
        fs::rename(&unfinished, &file).map_err(|error| failed(&file, error))?;
        let elapsed = start.elapsed().as_secs();
        eprintln!("{}: {elapsed} s, {took:.0} s of CPU time", self.name);
        Ok(())
    }
}

/// How the last line of a table begins.
const TOOK: &str = "measured in ";

/// Returns the number of tables in `folder` that say how long they took, and the sum of their seconds of CPU time.
pub(crate) fn taken(folder: &Path) -> (usize, f64) {
    let names = Name::value_variants().iter().map(|name| name.word());
    let texts = names
        .chain(["litmus".to_owned()])
        .filter_map(|name| fs::read_to_string(folder.join(format!("{name}.txt"))).ok());
    let seconds: Vec<f64> = texts.filter_map(|text| seconds(&text)).collect();
    (seconds.len(), seconds.iter().sum())
}

/// Returns the seconds that a table says it took.
fn seconds(text: &str) -> Option<f64> {
    let line = text.lines().rev().find_map(|line| line.strip_prefix(TOOK))?;
    line.split(' ').next()?.parse().ok()
}

/// Returns the CPU time of all child processes that have ended, and of theirs. Zero where the system does not tell.
fn seconds_of_children() -> f64 {
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in parentheses may contain spaces. User and system time of children are fields 16 and 17.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let times = fields.skip(13).take(2).filter_map(|field| field.parse::<f64>().ok());
    times.sum::<f64>() / TICKS
}

/// Returns whether `file` exists and was written after `marker`.
fn is_newer(file: &Path, marker: &Path) -> Result<bool, String> {
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified());
    let since = time(marker).map_err(|error| failed(marker, error))?;
    Ok(time(file).is_ok_and(|written| written > since))
}

fn failed(path: &Path, error: std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_go_beside_the_text_or_into_a_folder() {
        let arguments = |name| Job::table(name, Path::new("a/b"), Size::Full).arguments.join(" ");
        assert_eq!(arguments(Name::PctFig9), "table pct-fig9 --plots a/b");
        assert_eq!(arguments(Name::PcrFig6), "table pcr-fig6 --plots a/b/pcr-fig6");
        assert_eq!(arguments(Name::Pos1), "table pos-1");
    }

    #[test]
    fn tables_say_how_long_they_took() {
        assert_eq!(seconds("table\n\nmeasured in 87 s of CPU time\n"), Some(87.0));
        assert_eq!(seconds("table\n"), None);
        let before = seconds_of_children();
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", busy]).status().unwrap().success());
        assert!(seconds_of_children() > before);
    }

    #[test]
    fn what_is_newer_than_the_marker_is_done() {
        let folder = std::env::temp_dir().join(format!("raddle-all-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [marker, file] = ["marker", "file"].map(|name| folder.join(name));
        fs::write(&marker, "").unwrap();
        assert_eq!(is_newer(&file, &marker), Ok(false));
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(10);
        fs::File::create(&file).unwrap().set_modified(later).unwrap();
        assert_eq!(is_newer(&file, &marker), Ok(true));
        assert_eq!(is_newer(&marker, &file), Ok(false));
        fs::remove_dir_all(&folder).unwrap();
    }
}
