//! `cargo raddle`: runs the tests of a crate, which was not written for raddle, under many schedules.
//!
//! The tests are built by Cargo, instrumented by the compiler itself ([`wrapper`]) together with its standard library
//! ([`sysroot`]). Each test is a check of its own, in a process with raddle's library inside ([`check`]).

mod build;
mod check;
mod json;
mod known;
mod nextest;
mod options;
mod program;
mod replay;
mod runner;
mod select;
mod sysroot;
mod test;
mod token;
mod wrapper;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use crate::{Problem, doctor};

/// What the exit codes mean: those of cargo-nextest where there is one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Exit {
    /// No test fails.
    Passed = 0,
    /// The command or the machine cannot be used as asked.
    Usage = 2,
    /// No test fails, but some came to no result.
    Inconclusive = 3,
    /// There are no tests to run.
    NoTests = 4,
    /// A test fails.
    Failed = 100,
    /// The tests cannot be built.
    Build = 101,
}

const USAGE: &str = "\
cargo raddle runs the tests of a crate many times, and chooses which thread runs next.

usage:
  cargo raddle test [OPTIONS] [FILTERS] [-- FILTERS AND OPTIONS OF THE TESTS]
                                builds and checks the tests
  cargo raddle run [OPTIONS] [-- ARGUMENTS]
                                builds a binary of the crate and checks it
  cargo raddle nextest [run] …  runs cargo-nextest on the tests; settings are in the environment
  cargo raddle env              prints variables with which `cargo test` checks tests, for a shell
  cargo raddle replay TOKEN [--gdb] [OPTIONS]
                                runs the failing execution of a report again
  cargo raddle explain TOKEN    the same, with everything that can be said of why it fails
  cargo raddle list             lists the failures that were found in this workspace
  cargo raddle setup            instruments the standard library of the toolchain, once
  cargo raddle doctor           checks whether this machine has what raddle needs
  cargo raddle help             prints this text, and the options

exit codes: 0 no test fails, 100 one fails, 101 the build fails, 4 no tests, 3 no result for some, 2 usage or machine";

/// Runs the command.
pub(crate) fn main() -> ExitCode {
    let mut words = env::args_os();
    let name = words.next().unwrap_or_default();
    let given: Vec<OsString> = words.collect();
    if let Some(words) = wrapper::called_as(&name, &given) {
        return wrapper::compile(&words);
    }
    let mut words = given.into_iter().peekable();
    // Cargo passes the name of the subcommand on.
    words.next_if(|word| word == "raddle");
    let command = words.next().unwrap_or_default();
    let rest: Vec<OsString> = words.collect();
    let done = match command.to_str() {
        Some("test" | "t") => test::test(&rest),
        Some("run" | "r") => program::run(&rest),
        Some("nextest") => nextest::nextest(&rest),
        Some("env") => nextest::variables(&rest),
        Some("runner") => {
            return runner::run(&rest).unwrap_or_else(|problem| {
                eprintln!("cargo raddle: {problem}");
                ExitCode::from(Exit::Usage as u8)
            });
        }
        Some("replay") => replay::replay(&rest),
        Some("explain") => replay::explain(&rest),
        Some("list") => known::list(&rest),
        Some("setup") => sysroot::set_up(&rest),
        Some("doctor") => diagnose(),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}\n\n{}", options::help());
            Ok(Exit::Passed)
        }
        Some("--version" | "-V") => {
            println!("cargo-raddle {}", env!("CARGO_PKG_VERSION"));
            Ok(Exit::Passed)
        }
        Some("") | None => Err(Problem(USAGE.to_owned())),
        Some(unknown) => Err(Problem(format!("`{unknown}` is not a command\n\n{USAGE}"))),
    };
    let exit = done.unwrap_or_else(|problem| {
        eprintln!("cargo raddle: {problem}");
        Exit::Usage
    });
    ExitCode::from(exit as u8)
}

/// Checks the machine, and the toolchain.
fn diagnose() -> Result<Exit, Problem> {
    let machine = doctor::doctor()?;
    let toolchain = sysroot::Toolchain::find().and_then(|toolchain| toolchain.check());
    match &toolchain {
        Ok(text) => println!("ok  toolchain: {text}"),
        Err(problem) => println!("NO  toolchain: {problem}"),
    }
    let is_usable = machine == crate::Exit::Clean && toolchain.is_ok();
    Ok(if is_usable { Exit::Passed } else { Exit::Usage })
}
