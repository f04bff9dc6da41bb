//! Which threads are enabled, and which wait for which object.
//!
//! A thread that has announced an operation that may block is in the list of its object, enabled or not. When the object
//! changes, every thread in the list is enabled or disabled by the object's new state.

use raddle_core::{ObjectId, Op, ThreadId};

use super::table::grow;
use super::{Engine, Slot, Thread, nothing_pending};
use crate::{Kind, Memory};

/// A thread's place in the list of the object it waits for, and among the enabled threads.
#[derive(Copy, Clone, Debug)]
pub(super) struct Link {
    /// Neighbours in the list: thread numbers shifted by one, or [`NO_WAITER`].
    next: u32,
    previous: u32,
    /// Whether the thread is in a list.
    is_listed: bool,
    /// Whether the thread ends a lease of another when it becomes enabled.
    interrupts: bool,
    /// The index in `enabled`, if the thread is enabled.
    place: u32,
}

impl Link {
    const NONE: Link =
        Link { next: NO_WAITER, previous: NO_WAITER, is_listed: false, interrupts: true, place: 0 };

    pub(super) fn set_interrupts(&mut self, interrupts: bool) {
        self.interrupts = interrupts;
    }
}

/// No thread, in lists of waiters. It has a link too, so that a list's ends need no branch.
pub(super) const NO_WAITER: u32 = 0;

impl<M: Memory> Engine<M> {
    /// Makes room for `thread` in the tables by thread.
    #[cold]
    pub(super) fn make_room_for(&mut self, thread: ThreadId) {
        let count = thread.index() + 1;
        if self.threads.len() < count {
            let (main, room) = (ThreadId::MAIN, count.next_power_of_two());
            let (info, first) = (self.thread_ids.info(main), self.thread_ids.first_event(main));
            grow(&mut self.threads, room, || Thread::absent(info, first));
            grow(&mut self.pending, room, || nothing_pending(main));
            grow(&mut self.links, room + 1, || Link::NONE);
            self.enabled.make_room(room);
        }
        for id in self.thread_count..count {
            let id = ThreadId(id as u32);
            let (info, first) = (self.thread_ids.info(id), self.thread_ids.first_event(id));
            self.threads[id.index()] = Thread::absent(info, first);
            self.pending[id.index()] = nothing_pending(id);
        }
        self.thread_count = count;
    }

    /// Puts `thread`, which has announced `op`, into the list of its object, and disables it if it has to wait now.
    #[inline(always)]
    pub(super) fn enqueue_waiter(&mut self, kind: Kind, thread: ThreadId, op: &Op) {
        let slot = &mut self.objects[op.object().index()];
        if !slot.object.may_disable(kind, op) {
            return;
        }
        let next = core::mem::replace(&mut slot.first_waiter, thread.0 + 1);
        let can = slot.object.enabled_known(kind, *op, thread);
        let link = &mut self.links[thread.index() + 1];
        link.next = next;
        link.previous = NO_WAITER;
        link.is_listed = true;
        // A thread that blocks after a lease was granted has not been asked about.
        link.interrupts = true;
        self.links[next as usize].previous = thread.0 + 1;
        if !can {
            self.disable(thread);
        }
    }

    /// Empties all lists, at the end of a run.
    pub(super) fn clear_links(&mut self) {
        for link in &mut self.links {
            link.is_listed = false;
        }
    }

    /// Enables or disables the threads that wait for an object that has changed.
    #[inline(always)]
    pub(super) fn update_waiters(&mut self, kind: Kind, first: u32, object: ObjectId) {
        if self.lease > 0 || !self.stale.is_empty() {
            return self.defer_update(first, object);
        }
        match kind {
            // Every thread that waits for a mutex was enabled before it was locked, and none before it is unlocked.
            Kind::Lock => self.set_each_enabled(first, false),
            Kind::Unlock => self.set_each_enabled(first, true),
            Kind::Any | Kind::Atomic => self.reevaluate_waiters(first, object),
        }
    }

    /// Enables or disables all waiters of an object, none of which is so already.
    #[inline(always)]
    fn set_each_enabled(&mut self, first: u32, can: bool) {
        if self.needs.changes {
            self.note_waiters(first);
        }
        let (links, pending) = (&mut self.links[..], &mut self.pending[..]);
        let mut waiter = first;
        while waiter != NO_WAITER {
            let thread = ThreadId(waiter - 1);
            let link = &mut links[waiter as usize];
            waiter = link.next;
            let state = &mut pending[thread.index()].enabled;
            debug_assert!(*state != can, "raddle invariant broken: enabled or disabled twice");
            *state = can;
            if can {
                link.place = self.enabled.push(thread);
            } else {
                let place = link.place;
                let last = self.enabled.swap_remove(place);
                links[last.index() + 1].place = place;
            }
        }
    }

    #[cold]
    fn note_waiters(&mut self, first: u32) {
        let mut waiter = first;
        while waiter != NO_WAITER {
            self.note_change(ThreadId(waiter - 1));
            waiter = self.links[waiter as usize].next;
        }
    }

    /// Enables or disables the waiters of an object by its state.
    fn reevaluate_waiters(&mut self, first: u32, object: ObjectId) {
        let mut waiter = first;
        while waiter != NO_WAITER {
            let thread = ThreadId(waiter - 1);
            let op = self.pending[thread.index()].op;
            let can = self.objects[object.index()].object.enabled(op, thread);
            if can != self.is_enabled(thread) {
                if can {
                    self.enable(thread);
                } else {
                    self.disable(thread);
                }
                if self.needs.changes {
                    self.note_change(thread);
                }
            }
            waiter = self.links[waiter as usize].next;
        }
    }

    /// Defers an update to the end of the lease under way: until then it only matters whether a thread that interrupts
    /// the lease becomes enabled. That pays a third of locks under PCT.
    fn defer_update(&mut self, first: u32, object: ObjectId) {
        let slot = &mut self.objects[object.index()];
        if !core::mem::replace(&mut slot.is_stale, true) {
            self.stale.push(object);
        }
        let mut waiter = first;
        while waiter != NO_WAITER {
            let (thread, link) = (ThreadId(waiter - 1), self.links[waiter as usize]);
            let op = self.pending[thread.index()].op;
            if link.interrupts && self.objects[object.index()].object.enabled(op, thread) {
                return self.end_lease();
            }
            waiter = link.next;
        }
    }

    /// Ends the lease under way, if any: the next step asks the chooser.
    #[inline(always)]
    pub(super) fn end_lease(&mut self) {
        self.lease = 0;
        if !self.stale.is_empty() {
            self.update_stale();
        }
    }

    #[cold]
    fn update_stale(&mut self) {
        while let Some(object) = self.stale.pop() {
            let slot = &mut self.objects[object.index()];
            slot.is_stale = false;
            let first = slot.first_waiter;
            self.reevaluate_waiters(first, object);
        }
    }

    /// Notes that the pending operation or the enabledness of a thread has changed, for choosers that look at it.
    pub(super) fn note_change(&mut self, thread: ThreadId) {
        if self.changed.last() != Some(&thread) {
            self.changed.push(thread);
        }
    }

    #[inline(always)]
    pub(super) fn is_enabled(&self, thread: ThreadId) -> bool {
        self.pending[thread.index()].enabled
    }

    #[inline(always)]
    pub(super) fn enable(&mut self, thread: ThreadId) {
        debug_assert!(!self.is_enabled(thread), "raddle invariant broken: enabled twice");
        self.pending[thread.index()].enabled = true;
        self.links[thread.index() + 1].place = self.enabled.push(thread);
    }

    #[inline(always)]
    pub(super) fn disable(&mut self, thread: ThreadId) {
        debug_assert!(self.is_enabled(thread), "raddle invariant broken: disabled twice");
        self.pending[thread.index()].enabled = false;
        let place = self.links[thread.index() + 1].place;
        let last = self.enabled.swap_remove(place);
        self.links[last.index() + 1].place = place;
    }
}

/// Takes `thread` out of the list of an object, if it is in it: on a lease, the operation was never announced.
#[inline(always)]
pub(super) fn remove_waiter<L>(links: &mut [Link], slot: &mut Slot<L>, thread: ThreadId) {
    let link = &mut links[thread.index() + 1];
    if !core::mem::take(&mut link.is_listed) {
        return;
    }
    let Link { next, previous, .. } = *link;
    links[next as usize].previous = previous;
    if previous == NO_WAITER {
        slot.first_waiter = next;
    } else {
        links[previous as usize].next = next;
    }
}
