//! Panics of the program: threads that unwind, and panics that leave a thread.

use std::any::Any;
use std::cell::RefCell;

use raddle_core::{Panic, ThreadId};
use raddle_engine::Memory;

use super::Run;
use crate::panic_count::TakenPanics;
use crate::port::Execution;
use crate::{Backend, own_bug, panics, port};

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
    /// Takes the panics of the calling thread, or of the host, out of the count of the OS thread.
    #[cold]
    pub(super) fn take_panics(&self) -> TakenPanics {
        port::unobserved(|| self.pool.panic_counts.take())
    }

    /// Puts panics back into the count of the OS thread.
    #[cold]
    pub(super) fn put_back_panics(&self, panics: TakenPanics) {
        port::unobserved(|| self.pool.panic_counts.put_back(panics));
    }

    /// Handles a panic that left the body of `me`: unless raddle began it, it is the result of the thread or ends the
    /// run.
    #[cold]
    pub(super) fn finish_panic(&self, me: ThreadId, payload: Payload) {
        let data = self.pool.data.get();
        if self.state().is_over() {
            return;
        }
        let panic = panics::describe(me, &*payload);
        let is_joinable = self.pool.options.joinable_panics && me != ThreadId::MAIN;
        let is_joinable = is_joinable && !own_bug::is_noted();
        if is_joinable && !panics::is_from_thread_local(&*payload) {
            let Panic { message, place, .. } = panic.clone();
            self.with_engine(|engine, _| engine.note_panic(me, message, place));
            data.panics.0.borrow_mut().push(Left { panic, payload: Some(payload) });
            return;
        }
        let is_led = self.with_engine(|engine, _| {
            let mut fatal = panic.clone();
            fatal.message += &data.panics.describe();
            engine.fail(fatal);
            engine.is_led_after_panic()
        });
        if is_led {
            // Threads that join this one continue as they would in `std`.
            data.panics.0.borrow_mut().push(Left { panic, payload: Some(payload) });
        } else {
            self.discard(payload);
        }
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

/// Panics if raddle has panicked in a run that is over, on the stack of a thread. The run says nothing then.
pub(super) fn fail_for_own_bug(run: &dyn Execution) {
    if own_bug::is_noted() {
        let text = own_bug::take(run.check().0, &run.token());
        panic!("{}", text.unwrap_or_default());
    }
}

/// Tells what raddle itself panicked with on the host's stack.
pub(super) struct TellOwnPanic<'a>(pub(super) &'a dyn Execution);

impl Drop for TellOwnPanic<'_> {
    fn drop(&mut self) {
        panics::tell(self.0.thread());
    }
}
