//! The body of a thread of a run and, later, its result, shared by the thread and its handle.

use std::sync::Arc;

use raddle_runtime::Body;

use super::state::run_body;
use crate::run_cell::RunCell;

/// The body of a thread and, later, its result.
pub(super) struct Work<F, T>(RunCell<State<F, T>>);

enum State<F, T> {
    Waiting(F),
    Running,
    Done(T),
    Taken,
}

impl<F, T> Work<F, T> {
    pub(super) fn new(function: F) -> Arc<Work<F, T>> {
        Arc::new(Work(RunCell::new(State::Waiting(function))))
    }

    fn replace(&self, state: State<F, T>) -> State<F, T> {
        self.0.with(|place| std::mem::replace(place, state))
    }
}

impl<F: FnOnce() -> T, T> Body for Work<F, T> {
    fn run(&self) {
        let State::Waiting(function) = self.replace(State::Running) else {
            unreachable!("raddle invariant broken: a thread was started twice")
        };
        let value = run_body(function);
        self.replace(State::Done(value));
    }
}

/// The result of a thread, without the type of its body.
pub(super) trait Outcome<T>: Send + Sync {
    /// Takes the result of a thread that has ended. Returns `None` if the thread panicked.
    fn take(&self) -> Option<T>;
}

impl<F: Send, T: Send> Outcome<T> for Work<F, T> {
    fn take(&self) -> Option<T> {
        match self.replace(State::Taken) {
            State::Done(value) => Some(value),
            State::Waiting(_) | State::Running | State::Taken => None,
        }
    }
}

/// The work of a thread as a scope sees it, without its types.
pub(super) trait Clear: Send + Sync {
    /// Drops the body and the result of a thread that has ended or never starts.
    fn clear(&self);
}

impl<F: Send, T: Send> Clear for Work<F, T> {
    fn clear(&self) {
        drop(self.replace(State::Taken));
    }
}
