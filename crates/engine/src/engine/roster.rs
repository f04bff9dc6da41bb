//! Who is alive, who could go on, and who waits for which object.

use alloc::vec::Vec;

use raddle_core::{Chooser, ObjectId, Op, ThreadId};

use super::{Engine, Lease, Link, NO_WAITER, News, Thread, append, pending_nothing};
use crate::Memory;
use crate::known::Known;
use crate::object::{Object, wrong_object};
use crate::objects::Life;

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// A thread comes to life, for which there is a place since it was declared.
    #[inline(always)]
    pub(super) fn admit(&mut self, thread: ThreadId, life: ObjectId, time: u64) {
        self.threads[thread.index()].begin(life, time);
        self.flag(thread, true);
        self.enter_enabled(thread);
        self.alive += 1;
        if self.alive > self.max_alive {
            self.max_alive = self.alive;
        }
        // The chooser must hear of it.
        self.lease = Lease::NONE;
    }

    /// A child of `by` that is new to the family.
    #[cold]
    pub(super) fn meet_child(&mut self, by: ThreadId, position: u32) -> ThreadId {
        let known = self.family.size();
        let child = self.family.new_child(by, position);
        // In another family these may have been others.
        for id in known..self.family.size().min(self.threads.len()) {
            let thread = ThreadId(id as u32);
            let (info, first) = (self.family.info(thread), self.family.first_event(thread));
            self.threads[id] = Thread::absent(info, first);
        }
        child
    }

    #[cold]
    pub(super) fn make_room(&mut self, thread: ThreadId) {
        let new = (self.threads.len()..thread.index() + 1).map(|id| ThreadId(id as u32));
        let family = &self.family;
        let absent = |id| Thread::absent(family.info(id), family.first_event(id));
        append(&mut self.threads, new.clone().map(absent));
        append(&mut self.pending, new.map(pending_nothing));
        // These may be left over from another family.
        let links = self.links.len()..self.threads.len() + 1;
        let link = Link { next: NO_WAITER, previous: NO_WAITER, place: 0 };
        append(&mut self.links, links.map(|_| link));
        let slots = self.enabled.slots.len()..self.threads.len();
        append(&mut self.enabled.slots, slots.map(|_| ThreadId::MAIN));
    }

    /// An object changed: who among its waiters can go on now?
    #[inline(always)]
    pub(super) fn reconsider<K: Known>(&mut self, first: u32, object: ObjectId) {
        if C::GRANTS_LEASES {
            let slot = &mut self.objects[object.index()];
            if !self.lease.is_none() || slot.news != News::Known {
                if slot.news == News::Known {
                    slot.news = News::Withheld;
                    self.stale.push(object);
                }
                if !K::LOCK {
                    self.interrupt_lease::<K>(first, object);
                }
                return;
            }
        }
        if K::LOCK {
            self.shut_out(first);
        } else if K::UNLOCK || K::LIFE {
            // Who waits for the life of a thread waits for its end, and this is it.
            self.let_in(first);
        } else if K::NOTIFY {
            // It is for all who wait now. Some may have been let in by one before.
            self.set_each_enabled(first, true);
        } else if K::CONSUME && self.objects[object.index()].object.has_no_notifications() {
            self.set_each_enabled(first, false);
        } else {
            self.reconsider_each(first, object);
        }
    }

    /// While a thread has a lease, it only matters whether somebody ends it.
    fn interrupt_lease<K: Known>(&mut self, first: u32, object: ObjectId) {
        let mut waiter = first;
        while waiter != NO_WAITER {
            let thread = ThreadId(waiter - 1);
            // All who wait for a mutex or the end of a thread can go on.
            let can = K::UNLOCK || K::LIFE || {
                let op = self.pending[thread.index()].op;
                self.objects[object.index()].object.enabled(op, thread)
            };
            if can && self.plan.then.interrupts(thread) {
                self.lease = Lease::NONE;
                return;
            }
            waiter = self.links[waiter as usize].next;
        }
        if K::UNLOCK {
            // Nor will they later: the one that runs neither waits nor lets others.
            self.objects[object.index()].news = News::NeverMind;
        }
    }

    #[cold]
    pub(super) fn look_at_stale_objects(&mut self) {
        while let Some(object) = self.stale.pop() {
            let slot = &mut self.objects[object.index()];
            slot.news = News::Known;
            let first = slot.first_waiter;
            self.reconsider_each(first, object);
        }
    }

    /// A mutex was given back, or a thread has ended: all who wait can go on, and none could.
    #[inline(always)]
    fn let_in(&mut self, first: u32) {
        // Slices and numbers of its own, which stay in registers.
        let (links, pending, slots) =
            (&mut *self.links, &mut *self.pending, &mut *self.enabled.slots);
        let mut count = self.enabled.count;
        let mut waiter = first;
        while waiter != NO_WAITER {
            let thread = ThreadId(waiter - 1);
            let link = &mut links[waiter as usize];
            waiter = link.next;
            link.place = count as u32;
            slots[count] = thread;
            count += 1;
            if !C::DRAWS {
                pending[thread.index()].enabled = true;
            }
            note::<C>(&mut self.changed, thread);
        }
        self.enabled.count = count;
    }

    /// A mutex was taken: none of those who wait can go on, and all could.
    #[inline(always)]
    fn shut_out(&mut self, first: u32) {
        let (links, pending, slots) =
            (&mut *self.links, &mut *self.pending, &mut *self.enabled.slots);
        let mut count = self.enabled.count;
        let mut waiter = first;
        while waiter != NO_WAITER {
            let thread = ThreadId(waiter - 1);
            let Link { next, place, .. } = links[waiter as usize];
            waiter = next;
            count -= 1;
            // Also if it is the last itself: a branch would be foreseen badly.
            let last = slots[count];
            slots[place as usize] = last;
            links[last.index() + 1].place = place;
            if !C::DRAWS {
                pending[thread.index()].enabled = false;
            }
            note::<C>(&mut self.changed, thread);
        }
        self.enabled.count = count;
    }

    #[inline(never)]
    fn reconsider_each(&mut self, first: u32, object: ObjectId) {
        let mut waiter = first;
        while waiter != NO_WAITER {
            let thread = ThreadId(waiter - 1);
            let op = self.pending[thread.index()].op;
            let can = self.objects[object.index()].object.enabled(op, thread);
            self.set_enabled(thread, can);
            waiter = self.links[waiter as usize].next;
        }
    }

    #[inline(always)]
    fn set_each_enabled(&mut self, first: u32, can: bool) {
        let mut waiter = first;
        while waiter != NO_WAITER {
            self.set_enabled(ThreadId(waiter - 1), can);
            waiter = self.links[waiter as usize].next;
        }
    }

    #[inline(always)]
    fn set_enabled(&mut self, thread: ThreadId, can: bool) {
        if can != self.is_enabled(thread) {
            self.flag(thread, can);
            if can {
                self.enter_enabled(thread);
            } else {
                self.leave_enabled(thread);
            }
            self.note(thread);
        }
    }

    /// Notes that a thread's pending operation or enabledness changed.
    #[inline(always)]
    pub(super) fn note(&mut self, thread: ThreadId) {
        note::<C>(&mut self.changed, thread);
    }

    /// Whether a thread can go on. Where flags are kept, one look is enough.
    #[inline(always)]
    pub(super) fn is_enabled(&self, thread: ThreadId) -> bool {
        if C::DRAWS {
            self.enabled.holds(thread, self.links[thread.index() + 1].place)
        } else {
            self.pending[thread.index()].enabled
        }
    }

    /// Keeps for choosers whether a thread can go on, if they look.
    #[inline(always)]
    pub(super) fn flag(&mut self, thread: ThreadId, can: bool) {
        if !C::DRAWS {
            self.pending[thread.index()].enabled = can;
        }
    }

    /// A thread cannot go on.
    #[inline(always)]
    pub(super) fn disable(&mut self, thread: ThreadId) {
        self.flag(thread, false);
        self.leave_enabled(thread);
    }

    #[inline(always)]
    pub(super) fn enter_enabled(&mut self, thread: ThreadId) {
        self.links[thread.index() + 1].place = self.enabled.push(thread);
    }

    #[inline(always)]
    fn leave_enabled(&mut self, thread: ThreadId) {
        let place = self.links[thread.index() + 1].place;
        let last = self.enabled.fill(place);
        self.links[last.index() + 1].place = place;
    }

    /// Puts `thread` among those that wait for the object of `op`, if it may have to, and finds out
    /// whether it has to now.
    #[inline(always)]
    pub(super) fn line_up<K: Known>(&mut self, thread: ThreadId, op: &Op) {
        if K::LIFE || K::ANY && op.is_thread() {
            return self.line_up_for_end(thread, op.object());
        }
        let slot = at_mut!(self.objects, op.object().index());
        if K::MAY_NEVER_WAIT && !slot.object.may_disable::<K>(op) {
            return;
        }
        let next = core::mem::replace(&mut slot.first_waiter, thread.0 + 1);
        let can = slot.object.enabled_known::<K>(op, thread);
        let link = at_mut!(self.links, thread.index() + 1);
        link.next = next;
        link.previous = NO_WAITER;
        at_mut!(self.links, next as usize).previous = thread.0 + 1;
        if !can {
            self.disable(thread);
        }
    }

    /// The same for the life of a thread, which is looked at once by those who wait, at its end: nobody leaves before,
    /// and whoever is still there afterwards is not looked at again.
    #[inline(always)]
    fn line_up_for_end(&mut self, thread: ThreadId, life: ObjectId) {
        let slot = &mut self.objects[life.index()];
        let Object::Life(life) = &slot.object else { wrong_object() };
        if !matches!(life, Life::Ended) {
            self.links[thread.index() + 1].next = slot.first_waiter;
            slot.first_waiter = thread.0 + 1;
            self.disable(thread);
        }
    }
}

#[inline(always)]
fn note<C: Chooser>(changed: &mut Vec<ThreadId>, thread: ThreadId) {
    if C::WATCHES_CHANGES && changed.last() != Some(&thread) {
        changed.push(thread);
    }
}
