//! The `raddle` command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    raddle_command::raddle()
}
