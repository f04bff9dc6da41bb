//! The end of a task, and who waits for it.

use std::mem::ManuallyDrop;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use raddle_core::{Action, ObjectId, OnceOp, Op, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use super::polls;

/// Whether a task has ended. Ending it is one step, and so is every look at it; two if the order of polls matters.
pub(super) struct Completion {
    /// An object of raddle's own, whose end is no end of memory that the program uses.
    name: ManuallyDrop<Name>,
    state: Mutex<State>,
}

/// Inside a run it is accessed only in the step of an operation.
#[derive(Default)]
struct State {
    is_complete: bool,
    /// The waker of the future that waits for the end.
    waker: Option<Waker>,
}

impl Completion {
    pub(super) fn new(made: Site) -> Completion {
        Completion { name: ManuallyDrop::new(Name::made_at(made)), state: Mutex::default() }
    }

    /// Names the object in reports.
    pub(super) fn call(&self, name: &str, site: Site) {
        port::name_object(&self.name, || Some(Initial::Once), name, site);
    }

    /// Ends the task, and wakes who waits for that.
    pub(super) fn complete(&self, site: Site) {
        self.step(OnceOp::Complete, site);
        let waker = {
            let mut state = self.state();
            state.is_complete = true;
            state.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Returns whether the task has ended.
    pub(super) fn is_complete(&self, site: Site) -> bool {
        self.step(OnceOp::IsComplete, site);
        self.state().is_complete
    }

    /// Returns whether the task has ended. If not, its end wakes `waker`, and no other.
    pub(super) fn is_complete_or_wakes(&self, waker: &Waker, site: Site) -> bool {
        // Wakers may belong to the program: what they do when they are copied and dropped is not part of the step.
        let waker = waker.clone();
        self.step(OnceOp::IsComplete, site);
        let (is_complete, unused) = {
            let mut state = self.state();
            let unused = if state.is_complete { Some(waker) } else { state.waker.replace(waker) };
            (state.is_complete, unused)
        };
        drop(unused);
        is_complete
    }

    /// Performs an operation, in a run.
    ///
    /// What follows may access futures made of `std`, such as a set of futures: a wake-up changes it, and the poll of one
    /// future in it is followed by that of the next. So a step in the order of polls follows the operation.
    fn step(&self, op: OnceOp, site: Site) {
        let op = Op::new(ObjectId::NONE, Action::Once(op));
        port::operate(Kind::Any, &self.name, || Some(Initial::Once), op, site);
        drop(polls::begin(polls::shared(polls::order(), site).as_ref(), site));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
