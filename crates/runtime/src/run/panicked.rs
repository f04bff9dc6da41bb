//! Panics that leave the body of a thread: the end of the run, or the result of the thread.

use std::any::Any;
use std::cell::RefCell;

use raddle_core::{Chooser, Panic, ThreadId};
use raddle_engine::Memory;

use super::{Phase, Run};
use crate::{Backend, panics};

/// What a panic carries.
type Payload = Box<dyn Any + Send>;

/// The panics that left threads of a run without ending it, in order.
#[derive(Default)]
pub(super) struct Panics(RefCell<Vec<Left>>);

struct Left {
    panic: Panic,
    /// `None` once somebody has joined the thread.
    payload: Option<Payload>,
}

impl Panics {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// What `thread` panicked with, for the first who asks.
    pub(super) fn take(&self, thread: ThreadId) -> Option<Payload> {
        let mut all = self.0.borrow_mut();
        all.iter_mut().find(|left| left.panic.thread == thread)?.payload.take()
    }

    /// What had happened before another panic, to be added to its message.
    fn told_before(&self) -> String {
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

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    /// A panic left the body of `me`. If it is none of raddle's own making, it is the result of the
    /// thread or ends the run.
    #[cold]
    pub(super) fn finish_panic(&self, me: ThreadId, payload: Payload) {
        self.crew.extras.get().unwinding.borrow_mut().retain(|&thread| thread != me);
        if self.phase.get().is_over() {
            return;
        }
        let mut panic = panics::describe(me, &*payload);
        if self.crew.options.joinable_panics && me != ThreadId::MAIN {
            self.crew
                .extras
                .get()
                .panics
                .0
                .borrow_mut()
                .push(Left { panic, payload: Some(payload) });
            return;
        }
        panic.message += &self.crew.extras.get().panics.told_before();
        self.with_engine(|engine| engine.fail(panic));
        self.discard(payload);
        self.phase.set(Phase::Teardown);
    }

    /// After the run: the first panic that nobody has heard of is what is wrong with it, unless
    /// something else is.
    #[cold]
    pub(super) fn blame_unheard(&self) {
        let all = self.crew.extras.get().panics.0.take();
        if let Some(unheard) = all.iter().find(|left| left.payload.is_some()) {
            self.with_engine(|engine| engine.blame(unheard.panic.clone()));
        }
        self.discard(all);
    }
}
