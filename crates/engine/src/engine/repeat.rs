//! A run made once more, to see whether the same comes of it.

use raddle_core::{Chooser, Trace};

use super::Engine;
use crate::Memory;

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// Lets the next run make the choices of the last one, and give up if the program asks for more. The chooser
    /// is not asked. What happened in the last one is [`earlier`](Engine::earlier) from now on.
    pub fn repeat(&mut self) {
        core::mem::swap(&mut self.trace, &mut self.earlier);
        if self.trace.threads.is_empty() {
            // Main is the first thread of every run, and its life the first object.
            self.trace.threads.push(self.earlier.threads[0]);
            self.trace.objects.push(self.earlier.objects[0]);
        }
        self.plan.prefix.clear();
        self.earlier.add_schedule(&mut self.plan.prefix);
        self.repeats = true;
        self.unusual = true;
    }

    /// Whether the next run repeats the last one, or the last one repeated another.
    #[inline(always)]
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// What happened in the run that was repeated.
    pub fn earlier(&self) -> &Trace {
        &self.earlier
    }

    /// The plan says again what comes after its prefix.
    pub fn go_on(&mut self) {
        self.repeats = false;
    }
}
