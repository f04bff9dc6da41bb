//! The words after `raddle run`.
//!
//! Each setting of a check has an option: `--strategy pct:3` is what `RADDLE_STRATEGY=pct:3` in the environment is.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use raddle::NativeSettings;

use crate::Problem;
use crate::launch::Backend;

/// Begins the names of the settings' variables.
const PREFIX: &str = "RADDLE_";

/// What to check, and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// Settings by their variables, with their values.
    pub(crate) settings: Vec<(String, OsString)>,
    pub(crate) races: Option<Races>,
    /// Whether to look for what a race leads to before it is reported.
    pub(crate) looks_further: bool,
    /// The places that race, as the library names them, if they are to be scheduling points.
    pub(crate) points: Option<String>,
    /// The most steps of an execution.
    pub(crate) max_steps: Option<u64>,
    /// The file that the program reads as standard input.
    pub(crate) stdin: Option<PathBuf>,
    /// The folder that the program runs in, which is emptied before each execution.
    pub(crate) fresh: Option<PathBuf>,
    /// Whether such a folder is to be made.
    pub(crate) wants_fresh: bool,
    /// The file with what the program is to write.
    pub(crate) expect: Option<PathBuf>,
    /// Which of several processes makes the check, if there are several.
    pub(crate) worker: Option<Worker>,
    /// Ends the check when it is set.
    pub(crate) stop: Arc<AtomicBool>,
    /// How runs are made. `None`: in one process if the program allows that.
    pub(crate) backend: Option<Backend>,
    /// The form of the report.
    pub(crate) format: Format,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The folder in which the program runs. `None`: this one.
    pub(crate) folder: Option<PathBuf>,
    /// What the program has in its environment besides this process's.
    pub(crate) environment: Vec<(String, OsString)>,
    /// Where runs begin.
    pub(crate) begin: Begin,
    /// The folder of the code under test, if a replay is to show stacks by the lines in it.
    pub(crate) own_code: Option<PathBuf>,
    /// Whether executions that reach the most steps are discarded. Otherwise they fail.
    pub(crate) discards_long_runs: bool,
    /// The most steps of an execution after the most that are chosen, if these are not a few.
    pub(crate) leads_on: Option<u64>,
}

/// Where runs begin.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Begin {
    #[default]
    Main,
    /// With the first thread that the program creates, which is that of a test.
    FirstThread,
}

/// One of several processes that share a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Worker {
    pub(crate) seed: u64,
    pub(crate) runs: u64,
    /// The strategy, if it is not the one of the settings.
    pub(crate) strategy: Option<String>,
}

/// What data races are.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Races {
    /// Failures, which are reported if they lead to no other failure.
    Failures,
    /// Failures, which are reported at once.
    AtOnce,
    /// No failures.
    Ignored,
}

/// The form of the report on standard output.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
    Html,
}

/// Returns the options in words.
pub(crate) fn help() -> String {
    let mut text = String::from("options of `raddle run`:\n");
    for (variable, values) in NativeSettings::variables() {
        text += &format!("  {:<24} {values}\n", format!("--{}", option(variable)));
    }
    for (name, values) in [
        (
            "--races",
            "true, first or false: failures after what they lead to, failures at once, or no failures",
        ),
        ("--max-steps", "a whole number: the most steps of an execution"),
        ("--stdin", "a file that the program reads as standard input; default: it is empty"),
        (
            "--expect",
            "a file; an execution fails if it writes something else to standard output and error",
        ),
        (
            "--fresh-folder",
            "true or false: whether executions run in a folder that is empty at their beginning",
        ),
        ("--backend", "snapshot or fork: runs in one process, or each in its own"),
        ("--format", "text, json or html: the report on standard output"),
    ] {
        text += &format!("  {name:<24} {values}\n");
    }
    text + "Each of the first has the meaning of its variable: `--runs 100` is RADDLE_RUNS=100."
}

impl Options {
    /// Reads the words after `raddle run`.
    pub(crate) fn parse(words: &[OsString]) -> Result<Options, Problem> {
        let mut options = Options::default();
        let mut words = words.iter();
        let mut program = None;
        while let Some(word) = words.next() {
            let Some(name) = word.to_str().and_then(|word| word.strip_prefix("--")) else {
                program = Some(word);
                break;
            };
            if name.is_empty() {
                program = words.next();
                break;
            }
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, OsString::from(value)),
                None => {
                    let missing = || Problem(format!("the option --{name} needs a value"));
                    (name, words.next().cloned().ok_or_else(missing)?)
                }
            };
            options.set(name, value)?;
        }
        let program = program.ok_or_else(|| {
            Problem("which program? Write `raddle run [OPTIONS] -- ./program arguments`".into())
        })?;
        options.program = program.into();
        options.arguments = words.cloned().collect();
        Ok(options)
    }

    /// Makes a replay see the scheduling points of the check that found an execution.
    pub(crate) fn replay_as_found(&mut self, points: &str) {
        self.looks_further = false;
        if !points.is_empty() {
            self.points = Some(points.to_owned());
        } else if self.races == Some(Races::Failures) {
            self.races = Some(Races::AtOnce);
        }
    }

    /// Sets an option. Returns an error if there is no such option or value.
    pub(crate) fn set(&mut self, name: &str, value: OsString) -> Result<(), Problem> {
        let text = value.to_string_lossy().into_owned();
        let wrong =
            |expected: &str| Problem(format!("--{name}: `{text}` is not known; say {expected}"));
        match name {
            "races" => {
                self.races = Some(match &text[..] {
                    "true" => Races::Failures,
                    "first" => Races::AtOnce,
                    "false" => Races::Ignored,
                    _ => return Err(wrong("true, first or false")),
                });
            }
            "max-steps" => {
                self.max_steps = Some(text.parse().map_err(|_| wrong("a whole number"))?);
            }
            "expect" => self.expect = Some(value.into()),
            "fresh-folder" => {
                self.wants_fresh = text.parse().map_err(|_| wrong("true or false"))?;
            }
            "stdin" => self.stdin = Some(value.into()),
            "backend" => {
                self.backend = Some(match &text[..] {
                    "snapshot" => Backend::Snapshot,
                    "fork" => Backend::Fork,
                    _ => return Err(wrong("snapshot or fork")),
                });
            }
            "format" => {
                self.format = match &text[..] {
                    "text" => Format::Text,
                    "json" => Format::Json,
                    "html" => Format::Html,
                    _ => return Err(wrong("text, json or html")),
                }
            }
            _ => {
                let is_it = |variable: &&str| option(variable) == name;
                let known = NativeSettings::variables().map(|(variable, _)| variable).find(is_it);
                let variable = known.ok_or_else(|| {
                    Problem(format!("--{name} is not an option; `raddle help` lists them"))
                })?;
                self.settings.push((variable.to_owned(), value));
            }
        }
        Ok(())
    }
}

/// Returns the option for a variable: `keep-going` for `RADDLE_KEEP_GOING`.
fn option(variable: &str) -> String {
    variable.trim_start_matches(PREFIX).to_lowercase().replace('_', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Options::parse(&words).map_err(|problem| problem.to_string())
    }

    #[test]
    fn settings_program_and_arguments() {
        let options = parse(&[
            "--strategy",
            "pct:3",
            "--keep-going=1",
            "--races",
            "false",
            "--",
            "./p",
            "--x",
        ])
        .unwrap();
        let expected = [("RADDLE_STRATEGY", "pct:3"), ("RADDLE_KEEP_GOING", "1")];
        let expected = expected.map(|(name, value)| (name.to_owned(), OsString::from(value)));
        assert_eq!(options.settings, expected);
        assert_eq!(options.races, Some(Races::Ignored));
        assert_eq!(options.program, PathBuf::from("./p"));
        assert_eq!(options.arguments, ["--x"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, expected) in [
            (&["--strategie", "x", "p"][..], "--strategie is not an option"),
            (&["--strategy"], "needs a value"),
            (&["--runs", "1"], "which program?"),
            (&["--format", "xml", "p"], "text, json or html"),
            (&["--races", "no", "p"], "true, first or false"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.contains(expected), "{words:?}: {error}");
        }
    }
}
