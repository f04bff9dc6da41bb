//! After the end of a run: unfinished threads are unwound or leaked.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_core::{Effect, Ending, ThreadId};
use raddle_engine::{Memory, RunState};

use super::{Run, op_of};
use crate::{Backend, panics};

/// How often a program may catch raddle's unwinding before its thread counts as stuck.
const MAX_CAUGHT: u32 = 1000;

/// How many operations the destructors of a thread may perform at once after the end of a run.
const MAX_OPERATIONS: u32 = 100_000;

/// The progress of a teardown. Meaningless before it.
#[derive(Default)]
pub(crate) struct Teardown {
    /// Whether the thread that left last cannot continue.
    is_stuck: Cell<bool>,
    /// How often the program caught the unwinding of the thread entered last.
    caught: Cell<u32>,
    /// The number of operations of the thread entered last.
    operations: Cell<u32>,
}

impl<B: Backend, M: Memory> Run<'_, '_, B, M> {
    /// From the host, after the end: clears away every unfinished thread. Returns the number of those that were leaked.
    ///
    /// Threads of a run that ended well wait forever or were stopped, and are unwound. Those of a run that failed are leaked: their
    /// destructors would run in a state that no execution has.
    #[cold]
    pub(super) fn clear_threads_away(&self) -> u64 {
        let (mut unfinished, ended_well) = self.with_engine(|engine, _| {
            let unfinished: Vec<ThreadId> =
                engine.unfinished_threads().chain(self.late_user.get()).collect();
            let ending = &engine.whole_trace().ending;
            (unfinished, matches!(ending, Ending::Finished | Ending::Stopped))
        });
        if ended_well || self.pool.options.unwinds_failing_runs {
            self.tear_down(&mut unfinished);
        }
        // SAFETY: the host runs, and the reference ends with the function.
        let backend = unsafe { &mut *self.pool.backend.get() };
        for thread in &unfinished {
            backend.leak(thread.index());
        }
        unfinished.len() as u64
    }

    /// Unwinds the threads of a run, and leaves those in `unfinished` that cannot be unwound.
    fn tear_down(&self, unfinished: &mut Vec<ThreadId>) {
        self.enter_state(RunState::TearingDown);
        let teardown = &self.pool.teardown;
        loop {
            let before = unfinished.len();
            unfinished.retain(|&thread| {
                teardown.is_stuck.set(false);
                teardown.caught.set(0);
                teardown.operations.set(0);
                self.with_engine(|engine, _| engine.run_after_end(thread));
                self.enter(thread);
                teardown.is_stuck.get()
            });
            if unfinished.is_empty() || unfinished.len() == before {
                return;
            }
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
    pub(super) fn perform_after_end(&self, op: [u64; 3]) -> Effect {
        let op = op_of(op);
        let me = self.me();
        let perform = || self.with_engine(|engine, _| engine.perform_unrecorded(me, op));
        if self.state() == RunState::Discarding {
            return perform().expect("a destructor waits for something after the end of its run");
        }
        let teardown = &self.pool.teardown;
        if !std::thread::panicking() {
            // The program caught the unwinding, or has not begun to unwind.
            let caught = teardown.caught.get() + 1;
            teardown.caught.set(caught);
            if caught <= MAX_CAUGHT {
                panics::tear_down();
            }
            self.stay_stuck();
        }
        teardown.operations.set(teardown.operations.get() + 1);
        if op.is_pause() || teardown.operations.get() > MAX_OPERATIONS {
            // It waits for something that only other threads can do.
            self.leave_stuck(me);
        }
        loop {
            if let Some(effect) = perform() {
                return effect;
            }
            self.leave_stuck(me);
        }
    }

    /// Lets other threads be unwound first.
    fn leave_stuck(&self, me: ThreadId) {
        self.pool.teardown.is_stuck.set(true);
        self.leave(me);
    }

    /// Lets the calling thread, which is unwound, not continue.
    pub(super) fn stay_stuck(&self) -> ! {
        loop {
            self.leave_stuck(self.me());
        }
    }
}
