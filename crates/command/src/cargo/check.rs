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
use crate::launch::{Outcome, Window, launch};
use crate::options::Begin;
use crate::program::Program;
use crate::run::{confirm, source_line, write_files};
use crate::{Problem, calls, options};

/// The settings of tests, unless the user has others.
const DEFAULTS: [(&str, &str); 1] = [("RADDLE_TIME", "5s")];
/// The variable with the memory model.
const MEMORY: &str = "RADDLE_MEMORY";
/// The share of a test's time that is used under sequential consistency. The rest is used under RC11.
const SHARE_OF_SC: f64 = 0.6;
/// The most steps of an execution that are chosen, unless the user says otherwise.
const MAX_STEPS: u64 = 20_000;
/// The most steps after them, which are made with few switches: many tests make millions of steps to provoke bugs.
const MORE_STEPS: u64 = 4_000_000;
/// Begins the message of a run that waits for something outside of raddle's control.
const HANGS: &str = "the program hangs";
/// Begins the message of a run whose process was killed from outside.
const KILLED: &str = "the program was killed by signal";
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
    /// Whether the test has one thread, so that there is nothing more to try.
    is_alone: bool,
    /// The report of a failure.
    pub(super) failure: Option<Failed>,
}

/// A test that fails.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) token: Token,
    pub(super) summary: String,
    /// The command that replays it.
    pub(super) command: String,
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
    check.own_code = replay.map(|_| test.binary.root.clone());
    if let Some(schedule) = replay {
        check.settings.push(("RADDLE_REPLAY".to_owned(), schedule.into()));
    }
    check.max_steps = check.max_steps.or(Some(MAX_STEPS));
    check.program.clone_from(&test.binary.path);
    check.folder = Some(test.binary.folder.clone());
    check.environment.clone_from(&test.binary.environment);
    check.discards_long_runs = true;
    check.leads_on = Some(MORE_STEPS);
    check.arguments.clone_from(&options.arguments);
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

/// Checks a test under sequential consistency, and with the rest of the time under RC11, unless the user names a model.
pub(super) fn check(test: &Test, options: &Options) -> std::result::Result<Checked, Problem> {
    let is_given = options.check.settings.iter().any(|(name, _)| name == MEMORY);
    if is_given || env::var_os(MEMORY).is_some() {
        return check_under(test, options, 1.0);
    }
    let mut first = check_under(test, options, SHARE_OF_SC)?;
    if first.result != Result::Pass || first.is_alone {
        return Ok(first);
    }
    let mut weak = options.clone();
    weak.check.settings.push((MEMORY.to_owned(), "rc11".into()));
    weak.check_words.extend(["--memory".into(), "rc11".into()]);
    let second = check_under(test, &weak, 1.0 - SHARE_OF_SC)?;
    let elapsed = first.elapsed + second.elapsed;
    if second.result == Result::Fail {
        return Ok(Checked { elapsed, ..second });
    }
    let note = match second.result {
        Result::Pass => format!("{} under RC11", second.note),
        Result::Fail | Result::Inconclusive => format!("no result under RC11: {}", second.note),
    };
    first.note += &format!("; {note}");
    Ok(Checked { elapsed, ..first })
}

/// Checks a test with a share of the time, and confirms a failure in a process of its own.
fn check_under(
    test: &Test,
    options: &Options,
    share: f64,
) -> std::result::Result<Checked, Problem> {
    let start = Instant::now();
    let Prepared { program, options: check, mut settings } = prepare(test, options, None)?;
    if let Some(time) = settings.time {
        let time = time.mul_f64(share);
        settings.plan += &format!("time={}\n", time.as_millis());
        settings.time = Some(time);
    }
    let outcome = launch(&program, &check, &settings, None)?;
    let mut checked = match outcome {
        Outcome::Report { mut document, output, window, .. } => {
            confirm(&mut document, &program, &check, &settings)?;
            let detailed = detail(&document, test, &program, &check, &settings)?;
            if let Some(folder) = &settings.report {
                let shown = detailed.as_ref().unwrap_or(&document);
                let own = test.name.as_deref().unwrap_or(&test.binary.name);
                let name = format!("{}-{}", test.binary.name, own.replace("::", "."));
                let name = name.replace(['/', ' '], "-");
                let shown = Document { name: own.to_owned(), ..shown.clone() };
                write_files(folder, &shown, &name)?;
            }
            judge(&document, window, detailed.as_ref(), &output, test, options)
        }
        Outcome::Alone(0) => {
            Checked { is_alone: true, ..Checked::new(Result::Pass, "no threads".into()) }
        }
        Outcome::Alone(code) => Checked::failed(
            test,
            String::new(),
            format!("exit with code {code}, without raddle"),
            format!("the program ends with code {code} before it creates a thread"),
            options,
        ),
        Outcome::Refused(why) => Checked::new(Result::Inconclusive, why),
        Outcome::Lost(why) => Checked::new(Result::Inconclusive, why),
        Outcome::NeedsFork => Checked::new(Result::Inconclusive, "the check did not begin".into()),
    };
    checked.elapsed = start.elapsed();
    Ok(checked)
}

/// Replays a failure once more, and returns its report with stacks.
fn detail(
    document: &Document,
    test: &Test,
    program: &Program,
    check: &options::Options,
    settings: &NativeSettings,
) -> std::result::Result<Option<Document>, Problem> {
    let Some(failure) = document.failure.as_ref().filter(|failure| failure.reproduced) else {
        return Ok(None);
    };
    let check = options::Options { own_code: Some(test.binary.root.clone()), ..check.clone() };
    let Outcome::Report { document: detailed, shown: steps, .. } =
        launch(program, &check, settings, Some(&failure.token))?
    else {
        return Ok(None);
    };
    // The replay knows the execution; the check knows how it was found.
    let mut shown = document.clone();
    if let (Some(shown), Some(detailed)) = (&mut shown.failure, detailed.failure) {
        (shown.summary, shown.finding) = (detailed.summary, detailed.finding);
        shown.trace = detailed.trace;
        if let Some(explanation) = &mut shown.explanation {
            calls::show_causes(explanation, &steps);
        }
    }
    Ok(Some(shown))
}

impl Checked {
    fn new(result: Result, note: String) -> Checked {
        Checked { result, elapsed: Duration::ZERO, note, is_alone: false, failure: None }
    }

    fn failed(
        test: &Test,
        schedule: String,
        summary: String,
        text: String,
        options: &Options,
    ) -> Checked {
        let token = Token {
            binary: test.binary.name.clone(),
            test: test.name.clone(),
            build: build_of(&test.binary.path),
            schedule,
        };
        let (note, command) = (summary.clone(), replay_command(&token, options));
        let failure = Some(Failed { token, summary, command, text });
        Checked { failure, ..Checked::new(Result::Fail, note) }
    }
}

/// Returns what a report means for a test.
fn judge(
    document: &Document,
    window: Window,
    detailed: Option<&Document>,
    output: &str,
    test: &Test,
    options: &Options,
) -> Checked {
    let Some(failure) = &document.failure else { return without_failure(document, window) };
    let inconclusive = |why: String| Checked::new(Result::Inconclusive, why);
    match &failure.finding {
        Finding::Panic { message, .. } if message.starts_with(HANGS) => {
            inconclusive(format!("blocked outside raddle: {message}"))
        }
        // Crashes are noticed before they kill a process.
        Finding::Panic { message, .. } if message.starts_with(KILLED) => {
            inconclusive(message.clone())
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
            let shown = detailed.and_then(|detailed| detailed.failure.as_ref()).unwrap_or(failure);
            let (token, summary) = (failure.token.clone(), shown.summary.clone());
            let mut checked = Checked::failed(test, token, summary, String::new(), options);
            if let Some(failed) = &mut checked.failure {
                failed.text = text(detailed.unwrap_or(document), output, &failed.token, options);
            }
            checked
        }
    }
}

/// Returns what a check that has found nothing means for a test.
fn without_failure(document: &Document, window: Window) -> Checked {
    let Document { executions, discarded, probes, .. } = document;
    let Window { ended, chosen_steps, all_steps } = window;
    let executions = executions + probes;
    if ended == 0 {
        let why = if *discarded > 0 || executions > 0 {
            format!("no execution ended within {} steps", MAX_STEPS + MORE_STEPS)
        } else {
            "no execution ended in time".to_owned()
        };
        return Checked::new(Result::Inconclusive, why);
    }
    let mut note = format!("{executions} execution{}", if executions == 1 { "" } else { "s" });
    let is_alone = document.verdict == Verdict::NothingToExplore;
    match document.verdict {
        Verdict::Exhausted => note += ", exhaustive",
        Verdict::NothingToExplore => note += ", the only one",
        Verdict::Bounded(_) | Verdict::Sampled | Verdict::Failed => {}
    }
    if *discarded > 0 {
        note += &format!(", {discarded} cut off by the limit of steps");
    }
    if chosen_steps < all_steps {
        let share = 100.0 * chosen_steps as f64 / all_steps as f64;
        note += &format!(", {share:.1} % of the steps chosen");
    }
    Checked { is_alone, ..Checked::new(Result::Pass, note) }
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
fn replay_command(token: &Token, options: &Options) -> String {
    let words = options.build.iter().chain(&options.check_words);
    let mut command = format!("cargo raddle replay {}", quote(&token.to_string()));
    for word in words {
        command += &format!(" {}", quote(&word.to_string_lossy()));
    }
    if !options.arguments.is_empty() {
        command += " --";
    }
    for argument in &options.arguments {
        command += &format!(" {}", quote(&argument.to_string_lossy()));
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
