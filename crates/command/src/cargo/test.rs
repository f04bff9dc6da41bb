//! `cargo raddle test`: a line for each test, the failures, and a summary.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::build::{Built, What, Workspace};
use super::check::{self, Checked, Result as Outcome};
use super::known::Known;
use super::options::{Format, Options};
use super::select::{Selected, Test, select};
use super::{Exit, json, nextest};
use crate::Problem;

/// Builds and checks the tests.
pub(super) fn test(words: &[OsString]) -> Result<Exit, Problem> {
    let options = Options::parse(words)?;
    let workspace = Workspace::find(&options.build)?;
    if options.documentation {
        return documentation(&workspace, &options);
    }
    let Built::Binaries(binaries) = workspace.build(What::Tests, &options.build)? else {
        return Ok(Exit::Build);
    };
    let Selected { tests, skipped } = select(binaries, &options);
    check_all(&workspace, &tests, skipped, &options)
}

/// Checks the tests in documentation. rustdoc builds them, and runs them by this command.
fn documentation(workspace: &Workspace, options: &Options) -> Result<Exit, Problem> {
    let mut words = options.build.clone();
    if !options.filters.is_empty() {
        words.push("--".into());
        words.extend(options.filters.iter().map(OsString::from));
    }
    let variables = options.check.settings.clone();
    nextest::documentation(workspace, &words, variables)
}

/// Checks tests, and prints what came of them.
pub(super) fn check_all(
    workspace: &Workspace,
    tests: &[Test],
    skipped: usize,
    options: &Options,
) -> Result<Exit, Problem> {
    if tests.is_empty() {
        eprintln!("cargo raddle: there are no tests to run ({skipped} skipped)");
        return Ok(Exit::NoTests);
    }
    let start = Instant::now();
    let results = run(tests, options)?;
    Ok(finish(workspace, tests, &results, skipped, start.elapsed(), options))
}

/// Checks the tests, several at once, and prints a line when one is done.
fn run(tests: &[Test], options: &Options) -> Result<Vec<Option<Checked>>, Problem> {
    let jobs =
        options.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let results = Mutex::new(vec![None; tests.len()]);
    let problem = Mutex::new(None);
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(test) = tests.get(index) else { return };
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            match check::check(test, options) {
                Ok(checked) => {
                    if checked.result == Outcome::Fail && options.fail_fast {
                        is_over.store(true, Ordering::Relaxed);
                    }
                    let mut results = results.lock().unwrap_or_else(|poison| poison.into_inner());
                    print(test, &checked, options);
                    results[index] = Some(checked);
                }
                Err(found) => {
                    is_over.store(true, Ordering::Relaxed);
                    *problem.lock().unwrap_or_else(|poison| poison.into_inner()) = Some(found);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.min(tests.len()) {
            scope.spawn(work);
        }
    });
    match problem.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
        Some(problem) => Err(problem),
        None => Ok(results.into_inner().unwrap_or_else(|poison| poison.into_inner())),
    }
}

/// Prints the line of a test.
pub(super) fn print(test: &Test, checked: &Checked, options: &Options) {
    if options.format == Format::Json {
        return println!("{}", json::of_test(test, checked));
    }
    let word = match checked.result {
        Outcome::Pass => "PASS",
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "INCONCLUSIVE",
    };
    let seconds = checked.elapsed.as_secs_f64();
    let note = checked.note.lines().next().unwrap_or_default();
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{word:>12} [{seconds:>6.1}s] {}  ({note})", test.title());
    let _ = out.flush();
}

/// Prints the failures and the summary. Returns the exit code.
fn finish(
    workspace: &Workspace,
    tests: &[Test],
    results: &[Option<Checked>],
    skipped: usize,
    elapsed: Duration,
    options: &Options,
) -> Exit {
    let count = |outcome: Outcome| {
        results.iter().flatten().filter(|checked| checked.result == outcome).count()
    };
    for (test, checked) in tests.iter().zip(results) {
        let Some(failed) = checked.as_ref().and_then(|checked| checked.failure.as_ref()) else {
            continue;
        };
        if options.format == Format::Human {
            println!("\n──── {}\n\n{}", test.title(), failed.text.trim_end());
        }
        let (summary, command) = (failed.summary.clone(), failed.command.clone());
        Known { summary, command }.keep(workspace);
    }
    let [passed, failed, inconclusive] =
        [Outcome::Pass, Outcome::Fail, Outcome::Inconclusive].map(count);
    let not_run = tests.len() - passed - failed - inconclusive;
    if options.format == Format::Json {
        let counts = [passed, failed, inconclusive, skipped + not_run];
        println!("{}", json::of_summary(counts, elapsed));
    } else {
        println!(
            "\n     Summary [{:>6.1}s] {} tests: {passed} passed, {failed} failed, {inconclusive} inconclusive, {} skipped",
            elapsed.as_secs_f64(),
            tests.len() - not_run,
            skipped + not_run,
        );
    }
    match (failed, inconclusive) {
        (1.., _) => Exit::Failed,
        (0, 1..) => Exit::Inconclusive,
        (0, 0) => Exit::Passed,
    }
}
