//! After the end of a run: unfinished threads are unwound.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_core::{Effect, Site, ThreadId};
use raddle_engine::{Memory, RunState, Stuck};

use super::{Run, op_of};
use crate::{Backend, panics};

/// How often a program may catch raddle's unwinding before its thread counts as stuck.
const MAX_CAUGHT: u32 = 1000;

/// How many operations the destructors of a thread may perform at once after the end of a run.
const MAX_OPERATIONS: u32 = 100_000;

/// The progress of a teardown. Meaningless before it.
#[derive(Default)]
pub(crate) struct Teardown {
    /// Where the thread that left last cannot continue, if so.
    stuck: Cell<Option<Site>>,
    /// How often the program caught the unwinding of the thread entered last.
    caught: Cell<u32>,
    /// The number of operations of the thread entered last.
    operations: Cell<u32>,
}

impl<B: Backend, M: Memory> Run<'_, '_, B, M> {
    /// From the host, after the end: unwinds every unfinished thread.
    #[cold]
    pub(super) fn tear_down(&self) -> Result<(), Stuck> {
        self.enter_state(RunState::TearingDown);
        let mut unfinished: Vec<ThreadId> =
            self.with_engine(|engine, _| engine.unfinished_threads().collect());
        let teardown = &self.pool.teardown;
        let mut last_stuck = None;
        while !unfinished.is_empty() {
            let before = unfinished.len();
            unfinished.retain(|&thread| {
                teardown.stuck.set(None);
                teardown.caught.set(0);
                teardown.operations.set(0);
                self.enter(thread);
                match teardown.stuck.get() {
                    None => false,
                    Some(site) => {
                        last_stuck = Some(Stuck { thread, site });
                        true
                    }
                }
            });
            if unfinished.len() == before {
                break;
            }
        }
        match last_stuck {
            Some(stuck) if !unfinished.is_empty() => Err(stuck),
            Some(_) | None => Ok(()),
        }
    }

    /// Drops the state of threads that destructors made after these threads had ended.
    #[cold]
    pub(super) fn drop_thread_states(&self) {
        let left = self.pool.data.get().thread_states.take();
        self.discard(left);
        // If destructors make more of it, it is leaked.
        std::mem::forget(self.pool.data.get().thread_states.take());
    }

    /// Drops a value of the program after the end of the run.
    #[cold]
    pub(super) fn discard<T>(&self, value: T) {
        let before = self.state();
        self.enter_state(RunState::Discarding);
        // A destructor that panics has no thread left to report it.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
        self.enter_state(before);
    }

    fn enter_state(&self, state: RunState) {
        self.with_engine(|engine, _| engine.enter(state));
    }

    /// Performs an operation of a thread that is unwound, without choices and without a record.
    #[cold]
    pub(super) fn perform_after_end(&self, op: [u64; 3], site: Site) -> Effect {
        let op = op_of(op);
        let me = self.current.get();
        let perform = || self.with_engine(|engine, _| engine.perform_unrecorded(me, op));
        if self.state() == RunState::Discarding {
            return perform().expect("a destructor waits for something after the end of its run");
        }
        let teardown = &self.pool.teardown;
        if !self.is_unwinding(me) {
            // The program caught the unwinding, or has not begun to unwind.
            let caught = teardown.caught.get() + 1;
            teardown.caught.set(caught);
            if caught <= MAX_CAUGHT {
                self.begin_unwinding(me);
                panics::tear_down();
            }
            loop {
                self.leave_stuck(me, site);
            }
        }
        teardown.operations.set(teardown.operations.get() + 1);
        if op.is_pause() || teardown.operations.get() > MAX_OPERATIONS {
            // It waits for something that only other threads can do.
            self.leave_stuck(me, site);
        }
        loop {
            if let Some(effect) = perform() {
                return effect;
            }
            self.leave_stuck(me, site);
        }
    }

    /// Lets other threads be unwound first.
    fn leave_stuck(&self, me: ThreadId, site: Site) {
        self.pool.teardown.stuck.set(Some(site));
        self.leave(me);
    }
}
