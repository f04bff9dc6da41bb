//! Other runners of tests: cargo-nextest and `cargo test` itself build the tests with raddle's flags, and run each program
//! by this command ([`runner`](super::runner)).

use std::ffi::OsString;
use std::process::Command;

use super::Exit;
use super::build::{Workspace, cargo};
use crate::Problem;

/// The commands of cargo-nextest that build tests.
const COMMANDS: [&str; 4] = ["run", "r", "list", "archive"];

/// Runs cargo-nextest, unmodified, on the tests as raddle builds and checks them. Settings are in the environment.
pub(super) fn nextest(words: &[OsString]) -> Result<Exit, Problem> {
    let workspace = Workspace::find(words)?;
    let mut command = cargo();
    command.arg("nextest");
    let named = words.first().and_then(|word| word.to_str());
    let rest = match named.filter(|word| COMMANDS.contains(word)) {
        Some(name) => {
            command.arg(name);
            &words[1..]
        }
        None => {
            command.arg("run");
            words
        }
    };
    command.envs(workspace.variables()?).args(rest);
    run(&mut command, "cargo nextest", "install it with `cargo install cargo-nextest --locked`")
}

/// Checks the tests in documentation: `cargo test --doc`, whose programs this command runs.
pub(super) fn documentation(
    workspace: &Workspace,
    words: &[OsString],
    settings: Vec<(String, OsString)>,
) -> Result<Exit, Problem> {
    let mut command = cargo();
    command.args(["test", "--doc"]).args(words).envs(workspace.variables()?).envs(settings);
    Ok(match run(&mut command, "cargo test --doc", "install it with rustup")? {
        Exit::Build => Exit::Failed,
        exit => exit,
    })
}

/// Prints the variables with which `cargo test` and `cargo nextest` check tests, for a shell.
pub(super) fn variables(words: &[OsString]) -> Result<Exit, Problem> {
    for (name, value) in Workspace::find(words)?.variables()? {
        let value = value.to_string_lossy().replace('\'', "'\\''");
        println!("export {name}='{value}'");
    }
    Ok(Exit::Passed)
}

/// Runs a command, and passes its exit code on.
fn run(command: &mut Command, name: &str, advice: &str) -> Result<Exit, Problem> {
    let status = command
        .status()
        .map_err(|error| Problem(format!("`{name}` cannot be run: {error}; {advice}")))?;
    Ok(match status.code() {
        Some(0) => Exit::Passed,
        Some(4) => Exit::NoTests,
        Some(100) => Exit::Failed,
        Some(101) => {
            // Cargo also says so if there is no such command, and if tests fail.
            Exit::Build
        }
        Some(_) | None => Exit::Usage,
    })
}
