//! Panics of the program: threads that unwind, and panics that leave a thread.

use std::any::Any;
use std::cell::RefCell;

use raddle_core::{Panic, ThreadId};
use raddle_engine::{Memory, RunState};

use super::Run;
use crate::port::{self, Unwinding};
use crate::{Backend, panics};

type Payload = Box<dyn Any + Send>;

/// The panics that left threads of a run without ending it, in order.
#[derive(Default)]
pub(crate) struct JoinablePanics(RefCell<Vec<Left>>);

struct Left {
    panic: Panic,
    /// `None` once the thread has been joined.
    payload: Option<Payload>,
}

impl JoinablePanics {
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Returns the payload of the panic that ended `thread`, to the first caller.
    pub(super) fn take(&self, thread: ThreadId) -> Option<Payload> {
        let mut all = self.0.borrow_mut();
        all.iter_mut().find(|left| left.panic.thread == thread)?.payload.take()
    }

    /// Describes the panics so far, to be added to the message of the next one.
    fn describe(&self) -> String {
        let place = |panic: &Panic| {
            panic.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"))
        };
        let all = self.0.borrow();
        let lines = all.iter().map(|left| {
            let panic = &left.panic;
            format!("\nearlier {} panicked{}: {}", panic.thread, place(panic), panic.message)
        });
        lines.collect()
    }
}

impl<B: Backend, M: Memory> Run<'_, '_, B, M> {
    /// Notes that `thread` begins to unwind from a panic.
    pub(super) fn begin_unwinding(&self, thread: ThreadId) {
        port::note_unwinding();
        self.pool.data.get().unwinding.borrow_mut().push(thread);
        if !self.state().is_over() {
            self.with_engine(|engine, _| engine.begin_unwinding());
        }
    }

    /// Lets the run continue as others do, unless a thread still unwinds.
    pub(super) fn end_unwinding(&self) {
        if self.pool.data.get().unwinding.borrow().is_empty() {
            self.with_engine(|engine, _| engine.enter(RunState::Running));
        }
    }

    /// Returns whether a panic of `thread` is under way, or may be.
    pub(super) fn is_unwinding(&self, thread: ThreadId) -> bool {
        self.unwinding_of(thread) != Unwinding::No
    }

    /// Returns whether a panic of `thread` is under way.
    pub(super) fn unwinding_of(&self, thread: ThreadId) -> Unwinding {
        let mut unwinding = self.pool.data.get().unwinding.borrow_mut();
        if !std::thread::panicking() {
            unwinding.clear();
        }
        if !unwinding.contains(&thread) {
            return Unwinding::No;
        }
        let is_alone = unwinding.iter().all(|&other| other == thread);
        if is_alone { Unwinding::Surely } else { Unwinding::Perhaps }
    }

    /// Handles a panic that left the body of `me`: unless raddle began it, it is the result of the thread or ends the
    /// run.
    #[cold]
    pub(super) fn finish_panic(&self, me: ThreadId, payload: Payload) {
        let data = self.pool.data.get();
        data.unwinding.borrow_mut().retain(|&thread| thread != me);
        if self.state().is_over() {
            return;
        }
        let mut panic = panics::describe(me, &*payload);
        if self.pool.options.joinable_panics && me != ThreadId::MAIN {
            data.panics.0.borrow_mut().push(Left { panic, payload: Some(payload) });
            return;
        }
        panic.message += &data.panics.describe();
        self.with_engine(|engine, _| engine.fail(panic));
        self.discard(payload);
    }

    /// After the run: blames it on the first panic that no thread has joined, unless something else is wrong with it.
    #[cold]
    pub(super) fn blame_unjoined_panic(&self) {
        let all = self.pool.data.get().panics.0.take();
        if let Some(unjoined) = all.iter().find(|left| left.payload.is_some()) {
            self.with_engine(|engine, _| engine.blame(unjoined.panic.clone()));
        }
        self.discard(all);
    }
}
