//! After the end of a run: threads in the middle of something are unwound.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_core::{Chooser, Effect, Op, Site, ThreadId};
use raddle_engine::{Memory, Stuck};

use super::{Phase, Run};
use crate::port::{self, Unwinding};
use crate::{Backend, panics};

/// How often a program may catch raddle's unwinding before its thread counts as stuck.
const PATIENCE: u32 = 1000;

/// How many operations the destructors of a thread may perform in one go after the end of a run.
const DESTRUCTORS: u32 = 100_000;

/// Where the teardown of a run is; of no meaning before it.
#[derive(Default)]
pub(super) struct Teardown {
    /// Where the thread that left last cannot go on, if so.
    stuck: Cell<Option<Site>>,
    /// How often the program caught the unwinding of the thread entered last.
    caught: Cell<u32>,
    /// How many operations the thread entered last has performed.
    settled: Cell<u32>,
}

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    /// From the host, after the end: unwinds every thread that is in the middle of something.
    #[cold]
    pub(super) fn tear_down(&self) -> Result<(), Stuck> {
        self.phase.set(Phase::Teardown);
        let mut waiting: Vec<ThreadId> =
            self.with_engine(|engine| engine.trace().pending.iter().map(|p| p.thread).collect());
        let mut last_stuck = None;
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|&thread| {
                self.crew.teardown.stuck.set(None);
                self.crew.teardown.caught.set(0);
                self.crew.teardown.settled.set(0);
                self.enter(thread);
                match self.crew.teardown.stuck.get() {
                    None => false,
                    Some(site) => {
                        last_stuck = Some(Stuck { thread, site });
                        true
                    }
                }
            });
            if waiting.len() == before {
                break;
            }
        }
        match last_stuck {
            Some(stuck) if !waiting.is_empty() => Err(stuck),
            Some(_) | None => Ok(()),
        }
    }

    /// What destructors made threads have after these had ended.
    #[cold]
    pub(super) fn clear_belongings(&self) {
        let left = self.crew.extras.get().belongings.take();
        port::nobody_has_belongings();
        self.discard(left);
        // If their destructors do it again, it is not worth more trouble.
        std::mem::forget(self.crew.extras.get().belongings.take());
        port::nobody_has_belongings();
    }

    /// Whether a panic of this thread is under way, or may be.
    pub(super) fn is_unwinding(&self, thread: ThreadId) -> bool {
        self.unwinding(thread) != Unwinding::No
    }

    /// Whether a panic of this thread is under way.
    pub(super) fn unwinding(&self, thread: ThreadId) -> Unwinding {
        let mut unwinding = self.crew.extras.look().unwinding.borrow_mut();
        if !std::thread::panicking() {
            unwinding.clear();
        }
        if !unwinding.contains(&thread) {
            return Unwinding::No;
        }
        let is_alone = unwinding.iter().all(|&other| other == thread);
        if is_alone { Unwinding::Surely } else { Unwinding::Perhaps }
    }

    /// A panic of this thread begins.
    pub(super) fn unwinds(&self, thread: ThreadId) {
        port::unwinds();
        self.crew.extras.get().unwinding.borrow_mut().push(thread);
    }

    /// Drops something of the program's after the end of the run.
    #[cold]
    pub(super) fn discard<T>(&self, value: T) {
        let phase = self.phase.replace(Phase::Discarding);
        // A destructor that panics has nobody left to tell.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
        self.phase.set(phase);
    }

    /// An operation of a thread that is being unwound: performed without asking anybody.
    #[cold]
    pub(super) fn settle(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        let op = Op::from_words(head, first, second);
        let me = self.thread.get();
        if self.phase.get() == Phase::Discarding {
            let effect = self.with_engine(|engine| engine.settle(me, op));
            return effect.expect("a destructor waits for something after the end of its run");
        }
        if !self.is_unwinding(me) {
            // The program caught the unwinding, or has not begun to unwind.
            let caught = self.crew.teardown.caught.get() + 1;
            self.crew.teardown.caught.set(caught);
            if caught <= PATIENCE {
                self.unwinds(me);
                panics::tear_down();
            }
            loop {
                self.crew.teardown.stuck.set(Some(site));
                self.leave(me);
            }
        }
        self.crew.teardown.settled.set(self.crew.teardown.settled.get() + 1);
        if op.is_pause() || self.crew.teardown.settled.get() > DESTRUCTORS {
            // It waits for something that only others can do.
            self.crew.teardown.stuck.set(Some(site));
            self.leave(me);
        }
        loop {
            if let Some(effect) = self.with_engine(|engine| engine.settle(me, op)) {
                return effect;
            }
            self.crew.teardown.stuck.set(Some(site));
            self.leave(me);
        }
    }
}
