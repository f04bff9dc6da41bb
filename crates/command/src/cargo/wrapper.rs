//! The compiler, with raddle's flags: Cargo calls this command in place of `rustc`.
//!
//! Cargo has four sources of flags, and each of them hides others. A wrapper adds to whichever the user has. Build scripts
//! and procedural macros are compiled without `--target`, and stay as they are.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// The variable with the flags, separated by [`SEPARATOR`].
const FLAGS: &str = "CARGO_RADDLE_RUSTC_FLAGS";
/// The variable with the user's own wrapper.
const INNER: &str = "CARGO_RADDLE_INNER_WRAPPER";
const SEPARATOR: char = '\u{1f}';

/// Lets Cargo compile with these flags.
pub(super) fn set(cargo: &mut Command, flags: &[String]) -> std::io::Result<()> {
    cargo.env(FLAGS, flags.join(&SEPARATOR.to_string()));
    if let Some(inner) = env::var_os("RUSTC_WRAPPER").filter(|inner| !inner.is_empty()) {
        cargo.env(INNER, inner);
    }
    cargo.env("RUSTC_WRAPPER", env::current_exe()?);
    Ok(())
}

/// Returns whether Cargo calls this command as a wrapper.
pub(super) fn is_called() -> bool {
    env::var_os(FLAGS).is_some()
}

/// Calls the compiler: `words` are its path and its arguments.
pub(super) fn compile(words: Vec<OsString>) -> ExitCode {
    let words: Vec<OsString> = env::var_os(INNER).into_iter().chain(words).collect();
    let Some((program, arguments)) = words.split_first() else { return ExitCode::from(2) };
    let mut command = Command::new(program);
    command.args(arguments).env_remove(FLAGS).env_remove(INNER);
    if arguments.iter().any(|word| word == "--target") {
        let flags = env::var(FLAGS).unwrap_or_default();
        command.args(flags.split(SEPARATOR));
        let has_lines = |word: &OsString| word.to_string_lossy().contains("debuginfo=");
        if !arguments.iter().any(has_lines) {
            command.arg("-Cdebuginfo=line-tables-only");
        }
    }
    match command.status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("cargo raddle: {} cannot be run: {error}", program.to_string_lossy());
            ExitCode::from(2)
        }
    }
}
