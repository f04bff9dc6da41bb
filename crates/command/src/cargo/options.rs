//! The words after `cargo raddle test`: Cargo's own, the test harness's, and raddle's.

use std::ffi::OsString;

use crate::{Problem, options};

/// Options of `cargo test` that choose what is built, with a value.
const CARGO_VALUES: [&str; 16] = [
    "-p",
    "--package",
    "--exclude",
    "-F",
    "--features",
    "--profile",
    "--test",
    "--bin",
    "--example",
    "--bench",
    "-j",
    "--jobs",
    "--manifest-path",
    "--config",
    "-Z",
    "--lockfile-path",
];
/// Options of `cargo test` that choose what is built, without a value.
const CARGO_FLAGS: [&str; 20] = [
    "--workspace",
    "--all",
    "--lib",
    "--bins",
    "--examples",
    "--tests",
    "--benches",
    "--all-targets",
    "--all-features",
    "--no-default-features",
    "--release",
    "-r",
    "--locked",
    "--offline",
    "--frozen",
    "--ignore-rust-version",
    "-v",
    "--verbose",
    "-q",
    "--quiet",
];
/// Options that raddle has a fixed answer to.
const WITHOUT_EFFECT: [&str; 5] =
    ["--no-fail-fast", "--nocapture", "--no-capture", "--show-output", "--no-run"];

/// What to run, and how.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    /// What Cargo builds.
    pub(super) build: Vec<OsString>,
    /// A test runs if its name contains one of these, or if there is none.
    pub(super) filters: Vec<String>,
    /// Whether names have to be equal to a filter.
    pub(super) exact: bool,
    /// A test does not run if its name contains one of these.
    pub(super) skip: Vec<String>,
    pub(super) ignored: Ignored,
    /// The number of tests that are checked at once.
    pub(super) jobs: Option<usize>,
    /// Whether to stop at the first failure.
    pub(super) fail_fast: bool,
    /// Whether to replay in a debugger.
    pub(super) debug: bool,
    pub(super) format: Format,
    /// Whether to check the tests in documentation, and no others.
    pub(super) documentation: bool,
    /// The arguments of a program that is not one with tests.
    pub(super) arguments: Vec<OsString>,
    /// The settings of a check.
    pub(super) check: options::Options,
    /// The words that set them.
    pub(super) check_words: Vec<OsString>,
}

/// The form of the results.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Format {
    #[default]
    Human,
    /// A JSON object in each line.
    Json,
}

/// Which of the tests run that are marked `#[ignore]`.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Ignored {
    #[default]
    No,
    Only,
    Too,
}

/// Returns the options in words.
pub(super) fn help() -> String {
    let mut text = String::from(
        "options of `cargo raddle test`:
  those of `cargo test` that choose packages, targets, features and profile
  --exact, --skip NAME, --ignored, --include-ignored
                           as the test harness has them, also after `--`
  --test-threads N         the number of tests that are checked at once
  --fail-fast              stop at the first failure
  --message-format json    a JSON object for each test, and one for all
  --doc                    the tests in documentation, and no others
",
    );
    let settings = options::help();
    // The options of a check, without those of `raddle run` alone.
    for line in settings.lines().skip(1) {
        let is_other = ["--stdin", "--format", "--replay"].iter().any(|word| line.contains(word));
        if !is_other {
            text += line;
            text.push('\n');
        }
    }
    text.trim_end().to_owned()
}

impl Options {
    /// Reads the words. Words that are no options are returned to `free`, which may refuse them.
    pub(super) fn parse(words: &[OsString]) -> Result<Options, Problem> {
        let mut options = Options::default();
        let mut words = words.iter();
        let mut after_dashes = false;
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if text == "--" && !after_dashes {
                after_dashes = true;
                continue;
            }
            if !text.starts_with('-') {
                options.filters.push(text);
                continue;
            }
            let (name, mut given) = match text.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(OsString::from(value))),
                None => (text.clone(), None),
            };
            let mut value = || {
                let missing = || Problem(format!("the option {name} needs a value"));
                given.take().or_else(|| words.next().cloned()).ok_or_else(missing)
            };
            if !after_dashes && CARGO_FLAGS.contains(&&name[..]) {
                options.build.push(word.clone());
            } else if !after_dashes && CARGO_VALUES.contains(&&name[..]) {
                let value = value()?;
                options.build.extend([name.into(), value]);
            } else if !options.set(&name, &mut value)? && !WITHOUT_EFFECT.contains(&&name[..]) {
                let name = name.trim_start_matches('-').to_owned();
                let value = value()?;
                options.check.set(&name, value.clone()).map_err(|problem| {
                    Problem(problem.0.replace("`raddle help`", "`cargo raddle help`"))
                })?;
                options.check_words.extend([format!("--{name}").into(), value]);
            }
        }
        Ok(options)
    }

    /// Sets an option of the test harness. Returns whether there is one of this name.
    fn set(
        &mut self,
        name: &str,
        value: &mut dyn FnMut() -> Result<OsString, Problem>,
    ) -> Result<bool, Problem> {
        match name {
            "--exact" => self.exact = true,
            "--fail-fast" => self.fail_fast = true,
            "--gdb" => self.debug = true,
            "--ignored" => self.ignored = Ignored::Only,
            "--include-ignored" => self.ignored = Ignored::Too,
            "--skip" => self.skip.push(value()?.to_string_lossy().into_owned()),
            "--test-threads" => {
                let text = value()?.to_string_lossy().into_owned();
                let jobs = text.parse().ok().filter(|&jobs| jobs > 0);
                let wrong = || Problem(format!("--test-threads: `{text}` is no number of tests"));
                self.jobs = Some(jobs.ok_or_else(wrong)?);
            }
            "--doc" => self.documentation = true,
            "--message-format" => {
                let text = value()?.to_string_lossy().into_owned();
                self.format = match &text[..] {
                    "human" => Format::Human,
                    "json" => Format::Json,
                    _ => {
                        return Err(Problem(format!(
                            "--message-format: `{text}` is not known; say human or json"
                        )));
                    }
                };
            }
            "--target" | "--target-dir" => {
                return Err(Problem(format!(
                    "`{name}` is chosen by raddle: tests are built for this machine, in a folder of their own"
                )));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns whether a test is to run.
    pub(super) fn selects(&self, name: &str, is_ignored: bool) -> bool {
        let fits =
            |filter: &String| if self.exact { name == filter } else { name.contains(&filter[..]) };
        let ignored_fits = match self.ignored {
            Ignored::No => !is_ignored,
            Ignored::Only => is_ignored,
            Ignored::Too => true,
        };
        ignored_fits
            && (self.filters.is_empty() || self.filters.iter().any(fits))
            && !self.skip.iter().any(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Options, String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        Options::parse(&words).map_err(|problem| problem.to_string())
    }

    #[test]
    fn words_go_to_cargo_to_the_harness_and_to_the_check() {
        let words = [
            "-p",
            "one",
            "--release",
            "name",
            "--strategy=pct:3",
            "--",
            "--exact",
            "--skip",
            "two",
        ];
        let options = parse(&words).unwrap();
        assert_eq!(options.build, ["-p", "one", "--release"]);
        assert_eq!(
            (options.filters, options.skip),
            (vec!["name".to_owned()], vec!["two".to_owned()])
        );
        assert!(options.exact);
        assert_eq!(options.check_words, ["--strategy", "pct:3"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (words, expected) in [
            (&["--strategie", "x"][..], "--strategie is not an option"),
            (&["--features"], "--features needs a value"),
            (&["--target", "wasm32"], "chosen by raddle"),
            (&["--message-format", "xml"], "say human or json"),
            (&["--test-threads", "0"], "`0` is no number"),
        ] {
            let error = parse(words).unwrap_err();
            assert!(error.contains(expected), "{words:?}: {error}");
        }
    }

    #[test]
    fn filters_are_parts_of_names_or_names() {
        let options = parse(&["one", "--skip", "none"]).unwrap();
        assert!(options.selects("a::one", false) && !options.selects("a::one", true));
        assert!(!options.selects("a::none", false) && !options.selects("a::two", false));
        let options = parse(&["one", "--exact", "--include-ignored"]).unwrap();
        assert!(options.selects("one", true) && !options.selects("a::one", false));
    }
}
