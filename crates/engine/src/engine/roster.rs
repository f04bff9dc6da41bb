//! Who is alive, who could go on, and who waits for which object.

use raddle_core::{Chooser, ObjectId, ThreadId};

use super::{Engine, NOBODY, Thread, pending_nothing};
use crate::Memory;

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// A thread comes to life.
    #[inline]
    pub(super) fn admit(&mut self, thread: ThreadId, life: ObjectId, time: u64) {
        if self.threads.len() <= thread.index() {
            self.make_room(thread);
        }
        let name = self.family.first_event(thread);
        let state = &mut self.threads[thread.index()];
        // Field by field: a whole structure would be put together elsewhere first and copied.
        state.life = life;
        state.parker = ObjectId::NONE;
        state.events = 0;
        state.children = 0;
        state.yields = 0;
        state.name = name;
        state.time = time;
        self.trace.threads.push(self.family.info(thread));
        self.alive += 1;
        self.max_alive = self.max_alive.max(self.alive);
        self.enable(thread);
    }

    #[cold]
    pub(super) fn make_room(&mut self, thread: ThreadId) {
        for id in self.threads.len()..=thread.index() {
            self.threads.push(Thread::absent());
            self.pending.push(pending_nothing(ThreadId(id as u32)));
        }
    }

    /// An object changed: who among its waiters can go on now?
    pub(super) fn reconsider(&mut self, first: u32, object: ObjectId) {
        let mut waiter = first;
        while waiter != NOBODY {
            let thread = ThreadId(waiter);
            let pending = &self.pending[thread.index()];
            let can = self.objects[object.index()].object.enabled(pending.op, thread);
            if can != pending.enabled {
                if can {
                    self.enable(thread)
                } else {
                    self.disable(thread)
                }
                self.note(thread);
            }
            waiter = self.threads[thread.index()].next_waiter;
        }
    }

    /// Notes that a thread's pending operation or enabledness changed.
    #[inline(always)]
    pub(super) fn note(&mut self, thread: ThreadId) {
        if C::WATCHES_CHANGES && self.changed.last() != Some(&thread) {
            self.changed.push(thread);
        }
    }

    #[inline(always)]
    fn enable(&mut self, thread: ThreadId) {
        self.pending[thread.index()].enabled = true;
        self.threads[thread.index()].place = self.enabled.len() as u32;
        self.enabled.push(thread);
        // Somebody else could go on now; the chooser must hear of it.
        self.lease = 0;
    }

    #[inline(always)]
    pub(super) fn disable(&mut self, thread: ThreadId) {
        self.pending[thread.index()].enabled = false;
        self.withdraw(thread);
    }

    /// Takes a thread out of the enabled ones.
    #[inline(always)]
    pub(super) fn withdraw(&mut self, thread: ThreadId) {
        let place = self.threads[thread.index()].place;
        self.threads[thread.index()].place = NOBODY;
        self.pending[thread.index()].enabled = false;
        self.enabled.swap_remove(place as usize);
        if let Some(moved) = self.enabled.get(place as usize) {
            self.threads[moved.index()].place = place;
        }
    }

    #[inline(always)]
    pub(super) fn link(&mut self, thread: ThreadId, object: ObjectId) {
        let slot = &mut self.objects[object.index()];
        let next = core::mem::replace(&mut slot.first_waiter, thread.0);
        let state = &mut self.threads[thread.index()];
        state.next_waiter = next;
        state.previous_waiter = NOBODY;
        if next != NOBODY {
            self.threads[next as usize].previous_waiter = thread.0;
        }
    }

    #[inline(always)]
    pub(super) fn unlink(&mut self, thread: ThreadId, object: ObjectId) {
        let Thread { next_waiter, previous_waiter, .. } = self.threads[thread.index()];
        match previous_waiter {
            NOBODY => self.objects[object.index()].first_waiter = next_waiter,
            previous => self.threads[previous as usize].next_waiter = next_waiter,
        }
        if next_waiter != NOBODY {
            self.threads[next_waiter as usize].previous_waiter = previous_waiter;
        }
    }
}
