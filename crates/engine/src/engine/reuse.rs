//! Engines between runs and between checks: what is kept is their memory.

use alloc::vec::Vec;

use raddle_core::Trace;

use super::Engine;
use crate::time_limit::TimeChecks;
use crate::{Memory, ThreadIds};

/// An engine with more than this keeps more memory than it is worth.
const MAX_KEPT_EVENTS: usize = 4096;
const MAX_KEPT_THREADS: usize = 64;
const MAX_KEPT_OBJECTS: usize = 1024;

impl<M: Memory> Engine<M> {
    /// Returns whether the engine is small enough to be kept for another check.
    pub fn is_small(&self) -> bool {
        let is_small = |trace: &Trace| {
            trace.events.capacity() <= MAX_KEPT_EVENTS && trace.plain.capacity() <= MAX_KEPT_EVENTS
        };
        [&self.trace, &self.spare].into_iter().all(is_small)
            && self.prefix.capacity() <= MAX_KEPT_EVENTS
            && self.thread_count <= MAX_KEPT_THREADS
            && self.objects.len() <= MAX_KEPT_OBJECTS
    }

    /// Makes the engine as new, but for the memory model and the memory it has. No run is under way.
    pub fn renew(&mut self, thread_ids: ThreadIds, max_steps: usize) {
        self.prefix.clear();
        // Choosers see how long the tables by thread are.
        self.thread_count = self.thread_count.min(1);
        self.set_thread_ids(thread_ids);
        self.max_steps = max_steps;
        self.time_checks = TimeChecks::NONE;
        self.special = None;
        self.set_known_loops(Vec::new());
    }

    /// Returns the trace of the last run, so that another run can be made beside it. [`Engine::reuse_trace`] takes its
    /// memory back.
    pub fn take_trace(&mut self) -> Trace {
        let spare = core::mem::take(&mut self.spare);
        let taken = core::mem::replace(&mut self.trace, spare);
        // Main and its life are those of every run.
        self.trace.threads.clone_from(&taken.threads);
        self.trace.objects.clone_from(&taken.objects);
        taken
    }

    /// Keeps the memory of a trace for [`Engine::take_trace`].
    pub fn reuse_trace(&mut self, taken: Trace) {
        self.spare = taken;
    }

    /// Gives threads new ids, so that those of the next run do not depend on earlier ones.
    #[inline(always)]
    pub fn forget_threads(&mut self) {
        if !self.thread_ids.is_flat() {
            self.set_thread_ids(ThreadIds::default());
        }
    }

    /// Gives threads these ids from the next run on.
    fn set_thread_ids(&mut self, thread_ids: ThreadIds) {
        if thread_ids.count() > 1 {
            // The tables by thread are built anew for threads that the ids know already.
            self.thread_count = self.thread_count.min(1);
        }
        self.thread_ids.become_like(thread_ids);
    }
}
