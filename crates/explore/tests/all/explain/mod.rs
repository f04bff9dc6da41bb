//! Explanations of failures, compared with brute force on random programs.

mod caused;
mod shrunk;

use raddle_analysis::cause;
use raddle_engine::Substrate;
use raddle_explore::{Explain, Session, Settings};
use raddle_results::{Explanation, Failure, Report};
use raddle_testkit::oracle::Outcome;
use raddle_testkit::{Interpreter, Program};

use crate::tokens::NoTime;

/// More steps than any program has.
pub(crate) const MAX_STEPS: usize = 10_000;

/// Samples a program until it fails, and explains the failure.
pub(crate) fn checked(program: &Program, seed: u64, explain: Explain) -> Report {
    checked_on(Interpreter, program, seed, explain)
}

/// Does the same on a substrate.
pub(crate) fn checked_on<S: Substrate<Program = Program>>(
    mut substrate: S,
    program: &Program,
    seed: u64,
    explain: Explain,
) -> Report {
    let settings = settings(seed, explain);
    Session::new(&mut substrate, program, &settings, &NoTime).run().expect("nothing is refused")
}

/// Replays the execution of a token.
pub(crate) fn replayed(program: &Program, token: &str) -> Report {
    let settings = settings(0, Explain::Off);
    Session::new(&mut Interpreter, program, &settings, &NoTime)
        .replay(token)
        .expect("the token is of this program")
}

fn settings(seed: u64, explain: Explain) -> Settings {
    Settings {
        seed,
        runs: 200,
        max_steps: MAX_STEPS,
        races: false,
        read_twice: false,
        explain,
        ..Settings::new("a program", "random".parse().expect("a strategy"))
    }
}

/// Returns the explanation of a failure.
pub(crate) fn explanation(failure: &Failure) -> &Explanation {
    failure.explanation.as_deref().expect("the failure is explained")
}

/// Returns how the oracle's executions end that fail like this one. Programs of the test kit have no places, so that all
/// deadlocks have one cause, and all panics another.
pub(crate) fn ending(failure: &Failure) -> Outcome {
    match cause(&failure.finding) {
        deadlock if deadlock.starts_with("deadlock") => Outcome::Deadlock,
        panic if panic.starts_with("panic") => Outcome::Panicked,
        other => panic!("{other} is not a failure of the oracle"),
    }
}
