//! What `#[raddle::test]` expands to calls this; nothing of it is for users.

use std::fmt::Debug;
use std::process::ExitCode;
use std::time::Duration;

use raddle_explore::{Leaks, OnStepLimit};

use crate::environment::duration;
use crate::settings::{Word, find};
use crate::{Accesses, Config, Granularity, Memory, Panics};

/// The settings of the test `name` in the module `module`.
pub fn config(module: &str, name: &str) -> Config {
    // As test harnesses name it: without the crate.
    let path = match module.split_once("::") {
        Some((_, inner)) => format!("{inner}::{name}"),
        None => name.to_owned(),
    };
    Config::new().name(path)
}

/// What a test may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a test returns",
    note = "a test returns nothing, an `ExitCode`, or a `Result` of these"
)]
pub trait Outcome {
    /// Panics if it stands for a failure.
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

/// The time that `text` stands for.
pub const fn time(text: &str) -> Duration {
    match duration(text) {
        Some(time) => time,
        None => panic!("this is not a time; say for example 500ms, 10s or 2m"),
    }
}

/// The memory model with this word.
pub const fn memory(word: &str) -> Memory {
    match find(Memory::WORDS, word) {
        Some(memory) => memory,
        None => panic!("this is not a memory model; say sc or rc11"),
    }
}

/// What tells accesses apart where coverage is told, by its word.
pub const fn coverage(word: &str) -> Accesses {
    match find(Accesses::WORDS, word) {
        Some(accesses) => accesses,
        None => panic!("this is not what tells accesses apart; say site or event"),
    }
}

/// The granularity with this word.
pub const fn granularity(word: &str) -> Granularity {
    match find(Granularity::WORDS, word) {
        Some(granularity) => granularity,
        None => panic!("this is not a granularity; say sync, racy or all"),
    }
}

/// What panics of spawned threads are, by its word.
pub const fn panics(word: &str) -> Panics {
    match find(Panics::WORDS, word) {
        Some(panics) => panics,
        None => panic!("this is not what a panic can be; say fail or join"),
    }
}

/// What leaving something behind is, by its word.
pub const fn leaks(word: &str) -> Leaks {
    match find(Leaks::WORDS, word) {
        Some(leaks) => leaks,
        None => panic!("this is not what a leak can be; say ignore, note or fail"),
    }
}

/// What is done at the step limit, by its word.
pub const fn on_step_limit(word: &str) -> OnStepLimit {
    match word.as_bytes() {
        b"fail" => OnStepLimit::Fail,
        b"discard" => OnStepLimit::Discard,
        _ => panic!("this is not what can be done at the step limit; say fail or discard"),
    }
}
