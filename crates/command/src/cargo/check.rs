//! The check of one test.

use std::env;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use raddle::NativeSettings;
use raddle_report::Paint;
use raddle_results::document::{Document, Finding, Verdict};

use super::options::Options;
use super::select::Test;
use super::token::{Token, build_of};
use crate::launch::{Outcome, launch};
use crate::options::Begin;
use crate::program::Program;
use crate::run::{confirm, source_line};
use crate::{Problem, options};

/// The settings of tests, unless the user has others.
const DEFAULTS: [(&str, &str); 1] = [("RADDLE_TIME", "5s")];
/// The most steps of an execution, unless the user says otherwise.
const MAX_STEPS: u64 = 200_000;
/// Begins the message of a run that waits for something outside of raddle's control.
const HANGS: &str = "the program hangs";
/// The most bytes of a test's output that are shown.
const MAX_OUTPUT: usize = 4_000;

/// What the check of a test came to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Result {
    Pass,
    Fail,
    Inconclusive,
}

/// The check of a test.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) result: Result,
    pub(super) elapsed: Duration,
    /// What is worth saying of it in a few words: how much was tried, or why there is no result.
    pub(super) note: String,
    /// The report of a failure.
    pub(super) failure: Option<Failed>,
}

/// A test that fails.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) token: Token,
    pub(super) summary: String,
    /// The whole report.
    pub(super) text: String,
}

/// The program and the options for a check of a test.
pub(super) struct Prepared {
    pub(super) program: Program,
    pub(super) options: options::Options,
    pub(super) settings: NativeSettings,
}

/// Prepares the check of a test, or the replay of a schedule.
pub(super) fn prepare(
    test: &Test,
    options: &Options,
    replay: Option<&str>,
) -> std::result::Result<Prepared, Problem> {
    let program = Program::find(&test.binary.path)?;
    let mut check = options.check.clone();
    for (name, value) in DEFAULTS {
        let is_given =
            check.settings.iter().any(|(known, _)| known == name) || env::var_os(name).is_some();
        if !is_given {
            check.settings.push((name.to_owned(), value.into()));
        }
    }
    if let Some(schedule) = replay {
        check.settings.push(("RADDLE_REPLAY".to_owned(), schedule.into()));
    }
    check.max_steps = check.max_steps.or(Some(MAX_STEPS));
    check.program.clone_from(&test.binary.path);
    check.folder = Some(test.binary.folder.clone());
    check.environment.clone_from(&test.binary.environment);
    check.discards_long_runs = true;
    if let Some(name) = &test.name {
        // Two tests at once: the harness runs a single one in the main thread otherwise.
        let words = [&name[..], "--exact", "--nocapture", "--include-ignored", "--test-threads=2"];
        check.arguments = words.map(OsString::from).to_vec();
        check.begin = Begin::FirstThread;
    }
    let settings = NativeSettings::new(&test.title(), &check.settings)
        .map_err(|error| Problem(error.to_string()))?;
    Ok(Prepared { program, options: check, settings })
}

/// Checks a test, and confirms a failure in a process of its own.
pub(super) fn check(test: &Test, options: &Options) -> std::result::Result<Checked, Problem> {
    let start = Instant::now();
    let Prepared { program, options: check, settings } = prepare(test, options, None)?;
    let outcome = launch(&program, &check, &settings, None)?;
    let mut checked = match outcome {
        Outcome::Report { mut document, output } => {
            confirm(&mut document, &program, &check, &settings)?;
            judge(&document, &output, test, options)
        }
        Outcome::Alone(0) => Checked::new(Result::Pass, "no threads".into()),
        Outcome::Alone(code) => Checked::failed(
            test,
            String::new(),
            format!("exit with code {code}, without raddle"),
            format!("the program ends with code {code} before it creates a thread"),
        ),
        Outcome::Refused(why) => Checked::new(Result::Inconclusive, why),
        Outcome::Lost(why) => Checked::new(Result::Inconclusive, why),
        Outcome::NeedsFork => Checked::new(Result::Inconclusive, "the check did not begin".into()),
    };
    checked.elapsed = start.elapsed();
    Ok(checked)
}

impl Checked {
    fn new(result: Result, note: String) -> Checked {
        Checked { result, elapsed: Duration::ZERO, note, failure: None }
    }

    fn failed(test: &Test, schedule: String, summary: String, text: String) -> Checked {
        let token = Token {
            binary: test.binary.name.clone(),
            test: test.name.clone(),
            build: build_of(&test.binary.path),
            schedule,
        };
        let note = summary.clone();
        let failure = Some(Failed { token, summary, text });
        Checked { result: Result::Fail, elapsed: Duration::ZERO, note, failure }
    }
}

/// Returns what a report means for a test.
fn judge(document: &Document, output: &str, test: &Test, options: &Options) -> Checked {
    let Some(failure) = &document.failure else { return without_failure(document) };
    let inconclusive = |why: String| Checked::new(Result::Inconclusive, why);
    match &failure.finding {
        Finding::Panic { message, .. } if message.starts_with(HANGS) => {
            inconclusive(format!("blocked outside raddle: {message}"))
        }
        Finding::Nondeterminism { step, first, second } => inconclusive(format!(
            "the same choices gave different executions: at step {step} first {first}, then {second}"
        )),
        Finding::StepLimit { steps, .. } => {
            inconclusive(format!("an execution did not end within {steps} steps"))
        }
        _ if !failure.reproduced => {
            inconclusive(format!("{}, but not again in another process", failure.summary))
        }
        Finding::Panic { .. }
        | Finding::Deadlock { .. }
        | Finding::WaitsForever { .. }
        | Finding::Race { .. }
        | Finding::UseAfterFree { .. }
        | Finding::FreedTwice { .. }
        | Finding::ReadTwice { .. }
        | Finding::Leak { .. } => {
            let mut checked = Checked::failed(
                test,
                failure.token.clone(),
                failure.summary.clone(),
                String::new(),
            );
            if let Some(failed) = &mut checked.failure {
                failed.text = text(document, output, &failed.token, options);
            }
            checked
        }
    }
}

fn without_failure(document: &Document) -> Checked {
    let Document { executions, discarded, .. } = document;
    let cut = document.incomplete.as_ref().map_or(0, |incomplete| incomplete.out_of_time);
    let plural = |number: u64| if number == 1 { "" } else { "s" };
    if executions == discarded && *discarded > 0 || *executions == 0 {
        let why = format!("no execution ended within the limit of steps ({discarded} tried)");
        return Checked::new(Result::Inconclusive, why);
    }
    if *executions <= cut {
        return Checked::new(Result::Inconclusive, "no execution ended in time".into());
    }
    let mut note = format!("{executions} execution{}", plural(*executions));
    match document.verdict {
        Verdict::Exhausted => note += ", exhaustive",
        Verdict::NothingToExplore => note += ", the only one",
        Verdict::Bounded(_) | Verdict::Sampled | Verdict::Failed => {}
    }
    if *discarded > 0 {
        note += &format!(", {discarded} cut off by the limit of steps");
    }
    Checked::new(Result::Pass, note)
}

/// Returns the report of a failure as text.
pub(super) fn text(document: &Document, output: &str, token: &Token, options: &Options) -> String {
    let is_coloured = std::io::IsTerminal::is_terminal(&std::io::stdout());
    let paint = if is_coloured { Paint::Colours } else { Paint::Plain };
    let mut text = raddle_report::text_with(document, paint, &source_line);
    let general = format!("set RADDLE_REPLAY={} and run the check again", token.schedule);
    text = text.replace(&general, &replay_command(token, options));
    if !output.trim().is_empty() {
        text += "\n\n  output of this execution:\n";
        let shown: String = output.chars().take(MAX_OUTPUT).collect();
        let lines = shown.lines().map(|line| format!("    {line}\n"));
        text += lines.collect::<String>().trim_end();
    }
    text
}

/// Returns the command that replays a failure.
pub(super) fn replay_command(token: &Token, options: &Options) -> String {
    let words = options.build.iter().chain(&options.check_words);
    let mut command = format!("cargo raddle replay {}", quote(&token.to_string()));
    for word in words {
        command += &format!(" {}", quote(&word.to_string_lossy()));
    }
    command
}

/// Returns a word for a shell.
fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:,@+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
