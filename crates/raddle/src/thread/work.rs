//! The body of a thread of a run and, later, what it returned: shared by the thread and its handle.

use std::sync::Arc;

use raddle_runtime::Body;

use super::state::DestroyThreadState;
use crate::run_cell::RunCell;

/// The body of a thread and, later, what it returned.
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

impl<F: FnOnce() -> T, T> Work<F, T> {
    /// Runs the function and keeps its result.
    pub(super) fn run(&self) {
        let State::Waiting(function) = self.replace(State::Running) else {
            unreachable!("raddle invariant broken: a thread was started twice")
        };
        let end = DestroyThreadState;
        let value = function();
        drop(end);
        self.replace(State::Done(value));
    }

    /// Returns the body of a thread that runs the work.
    pub(super) fn body<'a>(self: Arc<Self>) -> Box<dyn FnOnce() + 'a>
    where
        F: 'a,
        T: 'a,
    {
        Box::new(move || self.run())
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

/// What a scope needs of the work of a thread, without its types.
pub(super) trait Clear: Send + Sync {
    /// Drops the body and the result of a thread that has ended or never starts.
    fn clear(&self);
}

impl<F: Send, T: Send> Clear for Work<F, T> {
    fn clear(&self) {
        drop(self.replace(State::Taken));
    }
}

/// Makes the body of a scoped thread that of any thread.
///
/// # Safety
/// The work is [cleared](Clear::clear) before anything ends that it borrows. What is left of it then may be dropped at any
/// time.
pub(super) unsafe fn outlive_scope(body: Box<dyn FnOnce() + '_>) -> Body {
    // SAFETY: only the lifetime is changed; promised by the caller.
    unsafe { std::mem::transmute::<Box<dyn FnOnce() + '_>, Body>(body) }
}
