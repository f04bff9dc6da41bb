//! A replay in gdb.

use std::process::Command;

use crate::Problem;

/// The function of raddle's library that is called when an execution fails.
const FAILURE: &str = "__raddle_failure";

/// Runs a program in gdb, which stops at crashes, at failures, and at a function of `breakpoints`. Returns whether gdb
/// ended well.
pub(crate) fn debug(command: &Command, breakpoints: &[&str]) -> Result<bool, Problem> {
    let mut gdb = Command::new("gdb");
    gdb.arg("-q");
    for words in [
        "set breakpoint pending on",
        "set startup-with-shell off",
        // raddle turns system calls into these.
        "handle SIGSYS nostop noprint pass",
        // And instructions that stand for fences.
        "handle SIGILL nostop noprint pass",
    ] {
        gdb.args(["-ex", words]);
    }
    for function in [FAILURE].iter().chain(breakpoints) {
        gdb.args(["-ex", &format!("break {function}")]);
    }
    for (name, value) in command.get_envs() {
        let name = name.to_string_lossy();
        match value {
            // The plan has several lines, which only the environment of gdb itself can pass on. The result would be
            // written to the terminal.
            Some(value) if name == "RADDLE_NATIVE_PLAN" => {
                let plan = format!("{}\nparent=0\ndebugged=true", value.to_string_lossy());
                gdb.env("RADDLE_NATIVE_PLAN", plan);
            }
            Some(value) => {
                let value = value.to_string_lossy();
                gdb.args(["-ex", &format!("set environment {name}={value}")]);
            }
            None => {
                gdb.args(["-ex", &format!("unset environment {name}")]);
            }
        }
    }
    if let Some(folder) = command.get_current_dir() {
        gdb.current_dir(folder);
    }
    gdb.args(["-ex", "run", "--args"]).arg(command.get_program()).args(command.get_args());
    let status = gdb.status().map_err(|error| {
        Problem(format!("gdb cannot be run: {error}; install it, or leave `--gdb` out"))
    })?;
    Ok(status.success())
}
