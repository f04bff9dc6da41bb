//! Which threads are enabled, and which wait for which object.
//!
//! A thread that has announced an operation that may block is in the list of its object, enabled or not. When the object
//! changes, every thread in the list is enabled or disabled by the object's new state.

use raddle_core::{ObjectId, Op, ThreadId};

use super::{Engine, Thread, nothing_pending};
use crate::{Kind, Memory};

/// A thread's place in the list of the object it waits for, and among the enabled threads.
#[derive(Copy, Clone, Debug)]
pub(super) struct Link {
    /// Neighbours in the list: thread numbers shifted by one, or [`NO_WAITER`].
    next: u32,
    previous: u32,
    /// Whether the thread is in a list.
    is_listed: bool,
    /// The index in `enabled`, if the thread is enabled.
    place: u32,
}

/// No thread, in lists of waiters. It has a link too, so that a list's ends need no branch.
pub(super) const NO_WAITER: u32 = 0;

impl<M: Memory> Engine<M> {
    /// Makes room for `thread` in the tables by thread.
    #[cold]
    pub(super) fn make_room_for(&mut self, thread: ThreadId) {
        for id in self.threads.len()..=thread.index() {
            let id = ThreadId(id as u32);
            let (info, first) = (self.thread_ids.info(id), self.thread_ids.first_event(id));
            self.threads.push(Thread::absent(info, first));
            self.pending.push(nothing_pending(id));
        }
        let link = Link { next: NO_WAITER, previous: NO_WAITER, is_listed: false, place: 0 };
        self.links.resize(self.threads.len() + 1, link);
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
        self.links[next as usize].previous = thread.0 + 1;
        if !can {
            self.disable(thread);
        }
    }

    /// Takes `thread`, which has performed `op`, out of the list of its object, if it is in it.
    #[inline(always)]
    pub(super) fn remove_waiter(&mut self, kind: Kind, thread: ThreadId, op: &Op) {
        if !kind.may_block(op) {
            return;
        }
        let link = &mut self.links[thread.index() + 1];
        // On a lease, the operation was never announced.
        if !core::mem::take(&mut link.is_listed) {
            return;
        }
        let Link { next, previous, .. } = *link;
        self.links[next as usize].previous = previous;
        if previous == NO_WAITER {
            self.objects[op.object().index()].first_waiter = next;
        } else {
            self.links[previous as usize].next = next;
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
        let mut waiter = first;
        while waiter != NO_WAITER {
            let thread = ThreadId(waiter - 1);
            let can = match kind {
                Kind::Lock => false,
                Kind::Unlock => true,
                Kind::Any | Kind::Atomic => {
                    let op = self.pending[thread.index()].op;
                    self.objects[object.index()].object.enabled(op, thread)
                }
            };
            self.set_enabled(thread, can);
            waiter = self.links[waiter as usize].next;
        }
    }

    #[inline(always)]
    fn set_enabled(&mut self, thread: ThreadId, can: bool) {
        if can == self.is_enabled(thread) {
            return;
        }
        if can {
            self.enable(thread);
            // The chooser decides whether that thread comes first.
            self.lease = 0;
        } else {
            self.disable(thread);
        }
        if self.needs.changes {
            self.note_change(thread);
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
        self.pending[thread.index()].enabled = true;
        self.links[thread.index() + 1].place = self.enabled.push(thread);
    }

    #[inline(always)]
    pub(super) fn disable(&mut self, thread: ThreadId) {
        self.pending[thread.index()].enabled = false;
        let place = self.links[thread.index() + 1].place;
        let last = self.enabled.swap_remove(place);
        self.links[last.index() + 1].place = place;
    }
}
