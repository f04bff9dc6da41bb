//! The runner of programs with tests, which Cargo and cargo-nextest call: `cargo-raddle runner PROGRAM ARGUMENTS`.
//!
//! A call that names one test is the check of this test. One that lists tests is passed on. Any other is the whole program,
//! as `cargo test` runs it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::build::{Binary, Workspace};
use super::check::{self, Result as Outcome};
use super::known::Known;
use super::options::Options;
use super::select::{Selected, Test, select};
use super::{Exit, test};
use crate::Problem;

/// The variables with the folders of the workspace, and where everything of raddle's goes.
pub(super) const ROOT: &str = "CARGO_RADDLE_ROOT";
pub(super) const TARGET: &str = "CARGO_RADDLE_TARGET";
/// What cargo-nextest calls a program.
const BINARY_ID: &str = "NEXTEST_BINARY_ID";
/// What rustdoc calls the program of a test in documentation.
const DOCUMENTATION: &str = "rust_out";
/// The exit code of Rust's test harness if tests fail.
const HARNESS_FAILED: u8 = 101;

/// Runs a program with tests.
pub(super) fn run(words: &[OsString]) -> Result<ExitCode, Problem> {
    let missing = || Problem("`cargo-raddle runner` is for Cargo; use `cargo raddle test`".into());
    let (program, arguments) = words.split_first().ok_or_else(missing)?;
    if arguments.iter().any(|word| word == "--list") {
        return pass_on(program, arguments);
    }
    let (binary, workspace) = here(program)?;
    let mut options = Options::parse(&with_dashes(arguments))?;
    let is_documentation = binary.path.file_stem().is_some_and(|stem| stem == DOCUMENTATION);
    let alone = match &options.filters[..] {
        [name] if options.exact => Some(Some(name.clone())),
        _ if is_documentation => Some(None),
        _ => None,
    };
    if let Some(name) = alone {
        return Ok(ExitCode::from(check_one(&workspace, Test { binary, name }, &options)?));
    }
    options.jobs = options.jobs.or(Some(1));
    let Selected { tests, skipped } = select(vec![binary], &options);
    let exit = test::check_all(&workspace, &tests, skipped, &options)?;
    Ok(ExitCode::from(match exit {
        Exit::Failed => HARNESS_FAILED,
        other => other as u8,
    }))
}

/// Lets the program do what it was asked, without raddle.
fn pass_on(program: &OsStr, arguments: &[OsString]) -> Result<ExitCode, Problem> {
    let status = Command::new(program).args(arguments).status().map_err(|error| {
        Problem(format!("{} cannot be run: {error}", program.to_string_lossy()))
    })?;
    Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)))
}

/// Returns the arguments of a program with tests as words of `cargo raddle test`.
fn with_dashes(arguments: &[OsString]) -> Vec<OsString> {
    [OsString::from("--")].into_iter().chain(arguments.iter().cloned()).collect()
}

/// Returns the program as Cargo and cargo-nextest describe it to those that they call.
fn here(program: &OsStr) -> Result<(Binary, Workspace), Problem> {
    let path = PathBuf::from(program);
    let path = path.canonicalize().map_err(|error| {
        Problem(format!("{} cannot be read: {error}", Path::new(program).display()))
    })?;
    let folder = env::current_dir()
        .map_err(|error| Problem(format!("there is no current folder: {error}")))?;
    let package = env::var("CARGO_PKG_NAME").unwrap_or_else(|_| "package".into());
    let own_name = || {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let stem = stem.rsplit_once('-').map_or(&stem[..], |(name, _)| name);
        if stem == package.replace('-', "_") {
            package.clone()
        } else {
            format!("{package}::{stem}")
        }
    };
    let name = env::var(BINARY_ID).unwrap_or_else(|_| own_name());
    let folder_of = |name: &str| env::var_os(name).map(PathBuf::from);
    let root = folder_of(ROOT).unwrap_or_else(|| folder.clone());
    let target = folder_of(TARGET).unwrap_or_else(|| root.join("target/raddle"));
    // A backtrace takes seconds, and panics are part of many tests.
    let environment = vec![("RUST_BACKTRACE".to_owned(), OsString::from("0"))];
    let binary = Binary { name, path, root: root.clone(), folder, environment };
    Ok((binary, Workspace { root, target }))
}

/// Checks one test. Prints its line, and the report if it fails.
fn check_one(workspace: &Workspace, test: Test, options: &Options) -> Result<u8, Problem> {
    let checked = check::check(&test, options)?;
    test::print(&test, &checked, options);
    if let Some(failed) = &checked.failure {
        println!("\n{}", failed.text.trim_end());
        let (summary, command) = (failed.summary.clone(), failed.command.clone());
        Known { summary, command }.keep(workspace);
    }
    Ok(match checked.result {
        Outcome::Pass => 0,
        Outcome::Fail => HARNESS_FAILED,
        Outcome::Inconclusive => Exit::Inconclusive as u8,
    })
}
