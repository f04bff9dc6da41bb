//! Performing operations: what changes, what is recorded, which threads become enabled or disabled.

use raddle_core::{
    Access, Action, Choices, Effect, Event, EventId, FutexOp, ObjectId, Op, PauseOp, Site,
    ThreadId, fingerprint,
};

use super::waiters::remove_waiter;
use super::{Engine, NO_WAITER, Slot, Thread};
use crate::{Kind, Memory};

impl<M: Memory> Engine<M> {
    /// Performs the operation that `by`, whose turn it is, announced. Returns `None` if the run ended instead.
    ///
    /// Spawns are performed by [`start`](Engine::start), exits by [`exit`](Engine::exit).
    #[inline(always)]
    pub fn perform(
        &mut self,
        kind: Kind,
        by: ThreadId,
        op: &Op,
        site: Site,
        choices: &mut Choices<'_>,
    ) -> Option<Effect> {
        if matches!(kind, Kind::Any) && op.object() == ObjectId::NONE {
            return self.perform_without_object(by, op.into_words(), site, choices);
        }
        let mut source = None;
        if M::WEAK && op.is_atomic() {
            source = self.choose_source(by, *op, site, choices)?;
        }
        Some(self.perform_on_object(kind, by, op, site, source, None))
    }

    /// Performs an operation of `by`, whose turn it is, in place of the one that it announced. The operation accesses
    /// the same object and does not block.
    #[cold]
    pub fn perform_instead(&mut self, by: ThreadId, op: Op, site: Site) -> Effect {
        self.perform_on_object(Kind::Any, by, &op, site, None, None)
    }

    /// Performs an operation on an object, records it, and updates the threads that wait for the object. `source` is the
    /// store it reads or stands behind, if that was chosen. `spawned` is the thread it spawns, if any: the object does
    /// not know whose life it is, and the trace should tell.
    #[inline(always)]
    pub(super) fn perform_on_object(
        &mut self,
        kind: Kind,
        by: ThreadId,
        op: &Op,
        site: Site,
        source: Option<EventId>,
        spawned: Option<ThreadId>,
    ) -> Effect {
        let object = op.object();
        // Both are looked up once: every further use of `self` as a whole would look them up again.
        let thread = &mut self.threads[by.index()];
        let slot = &mut self.objects[object.index()];
        let id = thread.next;
        let is_atomic = match kind {
            Kind::Any => op.is_atomic(),
            Kind::Atomic => true,
            Kind::Lock | Kind::Unlock => false,
        };
        let mut effect = if is_atomic {
            self.memory.access(&mut slot.location, id, op, source)
        } else {
            slot.object.apply_known(kind, *op, by)
        };
        if let Some(child) = spawned {
            effect = Effect::Value(u64::from(child.0));
        }
        thread.next.index += 1;
        self.trace.events.push(Event { id, op: *op, effect, site });
        let name = thread.name.advance();
        let access = match kind {
            Kind::Lock | Kind::Unlock => Access::Update,
            Kind::Atomic => op.exclusive_access_with(effect),
            Kind::Any => op.access_with(effect),
        };
        let hash = if M::WEAK && op.is_atomic() {
            self.memory.hash(name)
        } else {
            fingerprint::event_on_object(name, access, &mut slot.history)
        };
        self.trace.fingerprint = self.trace.fingerprint.wrapping_add(hash);
        if M::WEAK && !op.is_atomic() {
            if op.futex() == Some(FutexOp::Look) {
                self.memory.look(&mut slot.location, id, object);
            } else {
                self.memory.observe(&Event { id, op: *op, effect, site });
            }
        }
        if self.uses_time {
            join_times(thread, slot, access);
        }
        if matches!(kind, Kind::Atomic) {
            return effect;
        }
        if kind.may_block(op) {
            remove_waiter(&mut self.links, slot, by);
        }
        let first = slot.first_waiter;
        if first != NO_WAITER && access.changes() {
            self.update_waiters(kind, first, object);
        }
        effect
    }

    /// Performs an operation that touches no object.
    #[cold]
    fn perform_without_object(
        &mut self,
        by: ThreadId,
        [head, first, second]: [u64; 3],
        site: Site,
        choices: &mut Choices<'_>,
    ) -> Option<Effect> {
        let op = Op::from_words(head, first, second);
        let effect = match op.action() {
            Action::Fence(_) | Action::Pause(PauseOp::Yield | PauseOp::Spin) => Effect::None,
            Action::Pause(PauseOp::Sleep { nanos }) => {
                self.advance(by, nanos);
                Effect::None
            }
            Action::Choose { bound, .. } => self.choose_value(by, op, bound, site, choices)?,
            action @ (Action::Thread(_)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)) => {
                unreachable!("raddle invariant broken: {action:?} on no object")
            }
        };
        let thread = &mut self.threads[by.index()];
        let id = thread.next;
        thread.next.index += 1;
        self.trace.events.push(Event { id, op, effect, site });
        if M::WEAK {
            self.memory.observe(&Event { id, op, effect, site });
        }
        let name = thread.name.advance();
        let value = if let Effect::Value(value) = effect { value } else { 0 };
        let hash = fingerprint::event_without_object(name, value);
        self.trace.fingerprint = self.trace.fingerprint.wrapping_add(hash);
        Some(effect)
    }
}

/// Passes virtual time between an object and the thread that accesses it: to the thread from the accesses that it
/// conflicts with, and to the object from a thread that changes it.
#[cold]
fn join_times<L>(thread: &mut Thread, slot: &mut Slot<L>, access: Access) {
    thread.time = thread.time.max(slot.time);
    if access != Access::Share {
        thread.time = thread.time.max(slot.shared_time);
    }
    match access {
        Access::Read => {}
        Access::Update => slot.time = thread.time,
        Access::Share => slot.shared_time = slot.shared_time.max(thread.time),
    }
}
