//! Checks of the source tree that the compiler does not make.
//!
//! `cargo run -p xtask -- layering` checks which crate depends on which, and `-- tidy` checks the text of the
//! tracked files. Without an argument both run. `-- mistakes` inserts known mistakes into a copy of the tree
//! and checks that tests fail, which takes minutes. The exit code is 0 if all checks pass, 1 if a check
//! finds a violation, and 2 if a check could not run.
#![forbid(unsafe_code)]

mod layering;
mod metadata;
mod mistakes;
mod rules;
mod tidy;
mod violation;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use violation::Violation;

const USAGE: &str =
    "usage: cargo run -p xtask -- [layering] [tidy] [mistakes]   (default: layering tidy)";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let outcome = Check::from_words(&words).and_then(|checks| run(&checks));
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
    }
}

/// A check of this program.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Check {
    Layering,
    Tidy,
    Mistakes,
}

impl Check {
    fn from_words(words: &[String]) -> Result<Vec<Check>, String> {
        if words.is_empty() {
            return Ok(vec![Check::Layering, Check::Tidy]);
        }
        words
            .iter()
            .map(|word| match word.as_str() {
                "layering" => Ok(Check::Layering),
                "tidy" => Ok(Check::Tidy),
                "mistakes" => Ok(Check::Mistakes),
                unknown => Err(format!("unknown check `{unknown}`\n{USAGE}")),
            })
            .collect()
    }

    fn word(self) -> &'static str {
        match self {
            Check::Layering => "layering",
            Check::Tidy => "tidy",
            Check::Mistakes => "mistakes",
        }
    }

    fn run(self, root: &Path) -> Result<Vec<Violation>, String> {
        match self {
            Check::Layering => layering::check(root),
            Check::Tidy => tidy::check(root),
            Check::Mistakes => mistakes::check(root),
        }
    }
}

/// Runs the checks and prints the violations. Returns whether there are none.
fn run(checks: &[Check]) -> Result<bool, String> {
    let root = workspace_root()?;
    let mut clean = true;
    for check in checks {
        let violations = check.run(&root)?;
        for violation in &violations {
            println!("{violation}");
        }
        match violations.len() {
            0 => println!("{}: ok", check.word()),
            count => println!("{}: {count} violations", check.word()),
        }
        clean &= violations.is_empty();
    }
    Ok(clean)
}

/// Returns the root of the workspace of the current folder.
fn workspace_root() -> Result<PathBuf, String> {
    let manifest =
        output(cargo().args(["locate-project", "--workspace", "--message-format", "plain"]))?;
    let root = Path::new(manifest.trim()).parent();
    Ok(root.ok_or("cargo found no workspace")?.to_path_buf())
}

/// Returns a command that runs the cargo that started this program.
fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the output of a command, or an error if it does not run or does not succeed.
fn output(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let done = command.output().map_err(|error| format!("cannot run {shown}: {error}"))?;
    if !done.status.success() {
        let errors = String::from_utf8_lossy(&done.stderr);
        return Err(format!("{shown} failed ({}): {}", done.status, errors.trim()));
    }
    String::from_utf8(done.stdout).map_err(|_| format!("{shown} printed invalid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Vec<Check>, String> {
        Check::from_words(&words.iter().map(|word| word.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn words_name_checks() {
        assert_eq!(parse(&[]), Ok(vec![Check::Layering, Check::Tidy]));
        assert_eq!(parse(&["tidy"]), Ok(vec![Check::Tidy]));
        assert_eq!(parse(&["layering"]), Ok(vec![Check::Layering]));
        assert!(parse(&["tidy", "neat"]).unwrap_err().contains("unknown check `neat`"));
    }

    #[test]
    fn a_failing_command_is_an_error() {
        assert!(output(Command::new("cargo").arg("--no-such-flag")).is_err());
        assert!(output(&mut Command::new("no-such-program-anywhere")).is_err());
    }
}
