//! Engines between checks. What takes long about a short check is to make one; what takes long about an
//! engine is its memory.

use raddle_core::Trace;

use super::Engine;
use crate::{Family, Memory};

/// An engine that has had more than this keeps more memory than it is worth.
const MOST_EVENTS: usize = 4096;
const MOST_THREADS: usize = 64;
const MOST_OBJECTS: usize = 1024;

impl<M: Memory, C> Engine<M, C> {
    /// Whether it is worth to be kept when it is not needed.
    pub fn is_small(&self) -> bool {
        let is_small = |trace: &Trace| {
            trace.events.count() + trace.events.room() <= MOST_EVENTS
                && trace.plain.capacity() <= MOST_EVENTS
        };
        is_small(&self.trace)
            && is_small(&self.earlier)
            && self.plan.prefix.capacity() <= MOST_EVENTS
            && self.threads.len() <= MOST_THREADS
            && self.objects.len() <= MOST_OBJECTS
    }

    /// Becomes as new, but for the chooser and the memory model. No run is under way.
    pub fn renew(&mut self, family: Family, max_steps: usize) {
        self.plan.prefix.clear();
        self.repeats = false;
        self.changed.clear();
        self.set_family(family);
        self.max_steps = max_steps;
        self.unusual = true;
    }

    /// Threads are to have these ids from the next run on.
    pub(super) fn set_family(&mut self, family: Family) {
        if family.size() > 1 {
            // Nobody tells of those that the family knows already.
            self.threads = self.threads[..self.threads.len().min(1)].into();
            self.pending = self.pending[..self.pending.len().min(1)].into();
        }
        self.family.become_like(family);
    }
}
