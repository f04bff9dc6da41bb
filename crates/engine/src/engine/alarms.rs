//! Alarms: waits that end at a time, which comes only when nothing else happens.
//!
//! A substrate that keeps a clock announces a wait without a time limit, and sets an alarm for the thread. The alarm goes
//! off when no thread is enabled, or when the substrate says so; then the thread's pending operation is the wait with a
//! time limit, which is enabled. Whether a thread is enabled thus depends on others, so such runs can be sampled, but not
//! searched by independence.

use raddle_core::{Op, ThreadId};

use super::Engine;
use super::waiters::remove_waiter;
use crate::Memory;
use crate::object::Object;
use crate::objects::Life;

/// A wait that ends at a time.
#[derive(Copy, Clone, Debug)]
pub(super) struct Alarm {
    deadline: u64,
    thread: ThreadId,
    /// The operation that the thread performs if the alarm has gone off.
    late: Op,
}

impl<M: Memory> Engine<M> {
    /// Sets the alarm of a thread that is about to announce a wait. `late` accesses the same object and is enabled in
    /// all of its states.
    pub fn set_alarm(&mut self, thread: ThreadId, deadline: u64, late: Op) {
        self.alarms.push(Alarm { deadline, thread, late });
    }

    /// Stops the alarm of a thread that has its turn. Returns whether the alarm had gone off.
    pub fn stop_alarm(&mut self, thread: ThreadId) -> bool {
        let before = self.alarms.len();
        self.alarms.retain(|alarm| alarm.thread != thread);
        self.alarms.len() == before
    }

    /// Lets the alarms go off whose time has come.
    pub fn ring_until(&mut self, now: u64) {
        while self.alarms.iter().any(|alarm| alarm.deadline <= now) {
            self.ring_next();
        }
    }

    /// Lets the next alarm go off if every thread but `by`, which is about to pause, has announced a pause.
    pub fn ring_if_idle(&mut self, by: ThreadId) {
        let is_idle =
            |&thread: &ThreadId| thread == by || self.pending[thread.index()].op.is_pause();
        if !self.alarms.is_empty() && self.enabled.as_slice().iter().all(is_idle) {
            self.ring_next();
        }
    }

    /// Lets the next alarm go off when no thread is enabled. Returns whether there is one. After the end of main nothing
    /// waits for time to pass.
    #[cold]
    pub(super) fn ring_at_rest(&mut self) -> bool {
        let main_ended = matches!(self.objects[0].object, Object::Life(Life::Ended));
        !self.state.is_over() && !main_ended && self.ring_next()
    }

    fn ring_next(&mut self) -> bool {
        let next = self.alarms.iter().enumerate();
        let next = next.min_by_key(|(_, alarm)| (alarm.deadline, alarm.thread));
        let Some((index, _)) = next else { return false };
        self.ring_nth(index);
        true
    }

    /// Lets the alarm of a thread go off, if it has not.
    pub fn ring(&mut self, thread: ThreadId) {
        if let Some(index) = self.alarms.iter().position(|alarm| alarm.thread == thread) {
            self.ring_nth(index);
        }
    }

    fn ring_nth(&mut self, index: usize) {
        let Alarm { thread, late, .. } = self.alarms.swap_remove(index);
        self.end_lease();
        self.pending[thread.index()].op = late;
        // The operation does not block, so the object no longer decides whether the thread is enabled.
        remove_waiter(&mut self.links, &mut self.objects[late.object().index()], thread);
        if !self.is_enabled(thread) {
            self.enable(thread);
        }
        if self.needs.changes {
            self.note_change(thread);
        }
    }
}
