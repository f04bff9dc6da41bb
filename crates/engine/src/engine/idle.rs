//! Engines between checks. What takes long about a short check is to make one; what takes long about an
//! engine is its memory.

use raddle_core::{Chooser, Plan};

use super::{Engine, Lease, NOBODY};
use crate::{Family, Memory};

/// An engine without a chooser.
#[derive(Debug)]
pub struct Idle<M: Memory>(Engine<M, ()>);

/// An engine that has had more than this keeps more memory than it is worth.
const MOST_EVENTS: usize = 4096;
const MOST_THREADS: usize = 64;
const MOST_OBJECTS: usize = 1024;

impl<M: Memory> Idle<M> {
    /// As [`Engine::new`], under the memory model of the engine that this was.
    #[inline]
    pub fn engage<C: Chooser>(self, family: Family, then: C, max_steps: usize) -> Engine<M, C> {
        let mut engine = self.0.with_chooser(then);
        engine.renew(family, max_steps);
        engine
    }
}

impl<M: Memory, C> Engine<M, C> {
    /// Whether it is worth to be kept when it is not needed.
    pub fn is_small(&self) -> bool {
        self.trace.events.count() + self.trace.events.room() <= MOST_EVENTS
            && self.trace.plain.capacity() <= MOST_EVENTS
            && self.plan.prefix.capacity() <= MOST_EVENTS
            && self.threads.len() <= MOST_THREADS
            && self.objects.len() <= MOST_OBJECTS
    }

    /// Lets go of the engine, which has no run under way.
    #[inline]
    pub fn idle(self) -> Idle<M> {
        Idle(self.with_chooser(()))
    }

    /// Becomes as new, but for the chooser and the memory model. No run is under way.
    pub fn renew(&mut self, family: Family, max_steps: usize) {
        self.plan.prefix.clear();
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

    /// The same engine with another chooser.
    #[inline(always)]
    fn with_chooser<D>(self, then: D) -> Engine<M, D> {
        Engine {
            plan: Plan { prefix: self.plan.prefix, then },
            followed: 0,
            memory: self.memory,
            family: self.family,
            threads: self.threads,
            pending: self.pending,
            enabled: self.enabled,
            links: self.links,
            changed: self.changed,
            objects: self.objects,
            stale: self.stale,
            trace: self.trace,
            running: self.running,
            lease: Lease::NONE,
            creator: NOBODY,
            ended: NOBODY,
            alive: 0,
            max_alive: 0,
            max_steps: self.max_steps,
            attention: 0,
            ahead: 0,
            over: false,
            unusual: true,
            time_moved: false,
            sources: self.sources,
        }
    }
}
