//! The `raddle` command checks programs in C and C++ that were not written for raddle, `cargo raddle` tests in Rust.
//!
//! The command starts a program with raddle's library inside, reads the result, adds source lines, and prints it. It does not
//! explore: the check is made in the program's process.
#![forbid(unsafe_code)]

mod calls;
mod cargo;
mod compile;
mod doctor;
mod failures;
mod gdb;
mod launch;
mod library;
mod options;
mod program;
mod run;
mod symbols;
mod workers;

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::process::ExitCode;

/// What the exit codes mean.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Exit {
    /// No execution fails.
    Clean = 0,
    /// An execution fails.
    Found = 1,
    /// The command or the machine cannot be used as asked.
    Usage = 2,
    /// The check came to no result.
    Inconclusive = 3,
}

/// Why the command cannot do what it was asked to, and what helps.
#[derive(Debug)]
struct Problem(String);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const USAGE: &str = "\
raddle checks programs in C and C++: it runs a program many times and chooses which thread runs next.

usage:
  raddle cc …            compiles and links as the C compiler does, for raddle
  raddle c++ …           compiles and links as the C++ compiler does, for raddle
  raddle run [OPTIONS] [--] PROGRAM [ARGUMENTS]
                         checks a program
  raddle replay TOKEN [--gdb]
                         runs the failing execution of a report again
  raddle explain TOKEN   the same, with everything that can be said of why it fails
  raddle list            lists the failures that were found
  raddle doctor          checks whether this machine has what raddle needs
  raddle help            prints this text, and the options of `raddle run`

exit codes: 0 no execution fails, 1 one fails, 2 usage or machine, 3 no result";

/// Runs the `raddle` command. Returns its exit code.
pub fn raddle() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let command = words.next().unwrap_or_default();
    let rest: Vec<OsString> = words.collect();
    let done = match command.to_str() {
        Some("run") => run::run(&rest),
        Some("replay") => run::replay(&rest),
        Some("explain") => run::explain(&rest),
        Some("list") => failures::list(&rest),
        Some("cc") => return or_problem(compile::compile("CC", &["cc", "gcc", "clang"], &rest)),
        Some("c++") => {
            return or_problem(compile::compile("CXX", &["c++", "g++", "clang++"], &rest));
        }
        Some("doctor") => doctor::doctor(),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}\n\n{}", options::help());
            Ok(Exit::Clean)
        }
        Some("--version" | "-V") => {
            println!("raddle {}", env!("CARGO_PKG_VERSION"));
            Ok(Exit::Clean)
        }
        Some("") | None => Err(Problem(USAGE.to_owned())),
        Some(unknown) => Err(Problem(format!("`{unknown}` is not a command\n\n{USAGE}"))),
    };
    or_problem(done.map(|exit| ExitCode::from(exit as u8)))
}

fn or_problem(done: Result<ExitCode, Problem>) -> ExitCode {
    done.unwrap_or_else(|problem| {
        eprintln!("raddle: {problem}");
        ExitCode::from(Exit::Usage as u8)
    })
}

/// Runs the `cargo raddle` command. Returns its exit code.
pub fn cargo_raddle() -> ExitCode {
    cargo::main()
}
