//! The compiler, with raddle's flags: Cargo calls this command in place of `rustc`, and of `rustdoc` for the tests in
//! documentation.
//!
//! Cargo has four sources of flags, and each of them hides others. A wrapper adds to whichever the user has. Build scripts
//! and procedural macros are compiled without `--target`, and stay as they are.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, id};

use crate::{Problem, library};

/// The variable with the flags, separated by [`SEPARATOR`].
const FLAGS: &str = "CARGO_RADDLE_RUSTC_FLAGS";
/// The variable with the user's own wrapper.
const INNER: &str = "CARGO_RADDLE_INNER_WRAPPER";
/// The variable with the user's own `rustdoc`.
const INNER_RUSTDOC: &str = "CARGO_RADDLE_INNER_RUSTDOC";
const SEPARATOR: char = '\u{1f}';
/// This command's name when it stands in for `rustdoc`, which has no wrappers: Cargo calls it without saying so.
const RUSTDOC: &str = "raddle-rustdoc";
/// The flag that tells crates for the host apart from others.
const TARGET: &str = "--target";

/// Returns the variables with which Cargo compiles with these flags.
pub(super) fn variables(flags: &[String]) -> Result<Vec<(String, OsString)>, Problem> {
    let own = own_path()?;
    let mut variables = vec![(FLAGS.to_owned(), flags.join(&SEPARATOR.to_string()).into())];
    for (name, kept, value) in
        [("RUSTC_WRAPPER", INNER, own.clone()), ("RUSTDOC", INNER_RUSTDOC, rustdoc(&own)?)]
    {
        let is_other = |inner: &OsString| !inner.is_empty() && Path::new(inner) != value;
        if let Some(inner) = env::var_os(name).filter(is_other) {
            variables.push((kept.to_owned(), inner));
        }
        variables.push((name.to_owned(), value.into_os_string()));
    }
    Ok(variables)
}

/// Returns the path of this command.
pub(super) fn own_path() -> Result<PathBuf, Problem> {
    env::current_exe().map_err(|error| Problem(format!("this command has no path: {error}")))
}

/// Returns a link to this command whose name says that it stands in for `rustdoc`.
fn rustdoc(own: &Path) -> Result<PathBuf, Problem> {
    let folder = library::cache()
        .join(format!("{:016x}", library::hash(own.as_os_str().as_encoded_bytes())));
    let link = folder.join(RUSTDOC);
    let new = folder.join(format!("{RUSTDOC}.{}", id()));
    std::fs::create_dir_all(&folder)
        .and_then(|()| symlink(own, &new))
        .and_then(|()| std::fs::rename(&new, &link))
        .map_err(|error| Problem(format!("{} cannot be written: {error}", link.display())))?;
    Ok(link)
}

/// Returns the tool that this command stands in for, and its arguments, if Cargo calls it in place of one. `name` is the
/// name by which this command was called.
pub(super) fn called_as(name: &OsStr, words: &[OsString]) -> Option<Vec<OsString>> {
    env::var_os(FLAGS)?;
    if Path::new(name).file_name().is_some_and(|name| name == RUSTDOC) {
        let tool = env::var_os(INNER_RUSTDOC).unwrap_or_else(|| "rustdoc".into());
        return Some([tool].into_iter().chain(words.iter().cloned()).collect());
    }
    // A wrapper is called with the path of the compiler.
    let tool = Path::new(words.first()?);
    let is_compiler = tool.file_stem()?.to_string_lossy().contains("rustc");
    let inner = env::var_os(INNER).into_iter();
    is_compiler.then(|| inner.chain(words.iter().cloned()).collect())
}

/// Calls a compiler: `words` are its path and its arguments.
pub(super) fn compile(words: &[OsString]) -> ExitCode {
    let Some((program, arguments)) = words.split_first() else { return ExitCode::from(2) };
    let mut command = Command::new(program);
    command.args(arguments);
    let is_doc = arguments.iter().any(|word| word == "--test")
        && Path::new(program).file_stem().is_some_and(|stem| stem == "rustdoc");
    if !is_doc {
        command.env_remove(FLAGS).env_remove(INNER);
    }
    if arguments.iter().any(|word| word == TARGET) {
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
