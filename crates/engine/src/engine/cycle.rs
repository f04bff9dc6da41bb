//! Threads that wait for each other in a cycle.

use alloc::vec::Vec;

use raddle_core::locks::Holdings;
use raddle_core::{ObjectId, ObjectKind, Pending, ThreadId};

use super::Engine;
use crate::Memory;

impl<M: Memory> Engine<M> {
    /// Returns whether some threads wait for each other's locks or ends in a cycle. No thread is enabled.
    #[cold]
    pub(super) fn has_cycle(&self) -> bool {
        let kind = |pending: &Pending| self.trace.objects[pending.op.object().index()].kind;
        let waits_for_thread = |pending: &Pending| {
            // A thread that waits in a loop may announce a pause.
            pending.op.object() != ObjectId::NONE
                && matches!(
                    kind(pending),
                    ObjectKind::Mutex | ObjectKind::RwLock | ObjectKind::Thread(_)
                )
        };
        let mut waiting: Vec<Pending> = self.unfinished(None).filter(waits_for_thread).collect();
        if waiting.is_empty() {
            return false;
        }
        let holdings = Holdings::after(&self.trace);
        let blocks = |by: ThreadId, pending: &Pending| match kind(pending) {
            ObjectKind::Mutex | ObjectKind::RwLock => {
                let mut held = holdings.all().iter();
                held.any(|held| held.lock == pending.op.object() && held.thread == by)
            }
            ObjectKind::Thread(joined) => joined == by,
            ObjectKind::Atomic(_)
            | ObjectKind::Cell
            | ObjectKind::Condvar
            | ObjectKind::Barrier
            | ObjectKind::Once
            | ObjectKind::Parker(_)
            | ObjectKind::Channel
            | ObjectKind::Semaphore
            | ObjectKind::Notify => false,
        };
        // Those that are left after all threads that wait for none of the others are gone lead to a cycle.
        loop {
            let free = waiting
                .iter()
                .position(|pending| !waiting.iter().any(|other| blocks(other.thread, pending)));
            match free {
                Some(free) => {
                    waiting.swap_remove(free);
                }
                None => return !waiting.is_empty(),
            }
        }
    }
}
