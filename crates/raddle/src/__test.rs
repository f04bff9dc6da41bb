//! Functions that the expansions of `#[raddle::test]` and of macros such as `raddle::note!` call. They are not part of the public API.

use std::fmt::Debug;
use std::process::ExitCode;

use raddle_core::{NoteKind, Site};
pub use raddle_macros::expand;
use raddle_runtime::port;
pub use raddle_runtime::port::records;

use crate::Config;
pub use crate::conditions::sometimes;
pub use crate::origin::Origin;
pub use crate::print::{print, prints};
pub use crate::settings::text;

/// Returns the default settings of the test `name` in the module `module`.
pub fn config(module: &str, name: &str, origin: Origin) -> Config {
    // Test harnesses name a test without its crate.
    let path = match module.split_once("::") {
        Some((_, inner)) => format!("{inner}::{name}"),
        None => name.to_owned(),
    };
    Config::new().origin(path, origin).remember(true)
}

/// Records a note of the calling thread.
#[cold]
#[track_caller]
pub fn note(text: String) {
    port::note(NoteKind::Note, text, Site::caller());
}

/// A type that a test can return.
#[diagnostic::on_unimplemented(
    message = "a test cannot return `{Self}`",
    note = "a test returns nothing, an `ExitCode`, or a `Result` of these"
)]
pub trait Outcome {
    /// Panics if the value is a failure.
    fn accept(self);
}

impl Outcome for () {
    fn accept(self) {}
}

impl Outcome for ExitCode {
    #[track_caller]
    fn accept(self) {
        assert!(self == ExitCode::SUCCESS, "the test returned {self:?}");
    }
}

impl<T: Outcome, E: Debug> Outcome for Result<T, E> {
    #[track_caller]
    fn accept(self) {
        match self {
            Ok(outcome) => outcome.accept(),
            Err(error) => panic!("the test returned Err({error:?})"),
        }
    }
}
