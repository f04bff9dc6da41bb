//! Locks that threads take and give back, read off a trace.

use raddle_core::{
    Action, Effect, Event, MutexOp, ObjectId, ObjectKind, RwLockOp, Site, ThreadId, Trace,
};

/// How a lock is held.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Together with others that read.
    Shared,
    /// Alone.
    Alone,
}

/// What an event does to a lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// Its thread has the lock now; `waits` if it would have waited for it.
    Taken {
        /// How it has it.
        mode: Mode,
        /// Whether it would have waited for it.
        waits: bool,
    },
    /// Its thread has given the lock back.
    Released,
}

/// A lock that a thread has.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Held {
    pub(crate) thread: ThreadId,
    pub(crate) lock: ObjectId,
    pub(crate) mode: Mode,
    /// Where it was taken.
    pub(crate) site: Site,
}

/// Everything that is held, as a run goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holdings(Vec<Held>);

impl Holdings {
    /// Goes on by one event.
    pub(crate) fn pass(&mut self, event: &Event) {
        let (thread, lock) = (event.id.thread, event.op.object());
        match change(event) {
            Some(Change::Taken { mode, .. }) => {
                self.0.push(Held { thread, lock, mode, site: event.site });
            }
            Some(Change::Released) => {
                let is_it = |held: &Held| held.thread == thread && held.lock == lock;
                if let Some(place) = self.0.iter().rposition(is_it) {
                    self.0.remove(place);
                }
            }
            None => {}
        }
    }

    /// What is held now, in the order in which it was taken.
    pub(crate) fn all(&self) -> &[Held] {
        &self.0
    }

    /// What is held after all of a run.
    pub(crate) fn after(trace: &Trace) -> Holdings {
        let mut holdings = Holdings::default();
        if !has_locks(trace) {
            return holdings;
        }
        trace.events.iter().for_each(|event| holdings.pass(event));
        holdings
    }
}

/// Whether anything in a run can be held. Many programs have nothing of the kind, and need not be gone
/// through event by event.
pub(crate) fn has_locks(trace: &Trace) -> bool {
    let is_lock = |kind| matches!(kind, ObjectKind::Mutex | ObjectKind::RwLock);
    trace.objects.iter().any(|object| is_lock(object.kind))
}

/// What an event does to a lock, if it does anything.
pub(crate) fn change(event: &Event) -> Option<Change> {
    let taken = |mode, waits| Some(Change::Taken { mode, waits });
    match event.op.action() {
        Action::Mutex(MutexOp::TryLock)
        | Action::RwLock(RwLockOp::TryRead | RwLockOp::TryWrite)
            if event.effect == Effect::No =>
        {
            None
        }
        Action::Mutex(op) => match op {
            MutexOp::Lock => taken(Mode::Alone, true),
            MutexOp::TryLock => taken(Mode::Alone, false),
            MutexOp::Unlock => Some(Change::Released),
        },
        Action::RwLock(op) => match op {
            RwLockOp::Read => taken(Mode::Shared, true),
            RwLockOp::TryRead => taken(Mode::Shared, false),
            RwLockOp::Write => taken(Mode::Alone, true),
            RwLockOp::TryWrite => taken(Mode::Alone, false),
            RwLockOp::UnlockRead | RwLockOp::UnlockWrite => Some(Change::Released),
        },
        Action::Thread(_)
        | Action::Atomic(_)
        | Action::Cell(_)
        | Action::Condvar(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => None,
    }
}
