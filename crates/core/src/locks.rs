//! The locks that threads hold, derived from a trace.

use alloc::vec::Vec;

use crate::{
    Action, Effect, Event, MutexOp, ObjectId, ObjectKind, RwLockOp, Site, ThreadId, Trace,
};

/// How a lock is held.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Shared with other readers.
    Shared,
    /// Exclusively.
    Exclusive,
}

/// The effect of an event on a lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Its thread acquires the lock.
    Acquired {
        /// How the lock is held.
        mode: Mode,
        /// Whether the operation blocks while the lock is not available.
        blocks: bool,
    },
    /// Its thread releases the lock.
    Released,
}

/// A lock that a thread holds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// The thread.
    pub thread: ThreadId,
    /// The lock.
    pub lock: ObjectId,
    /// How it is held.
    pub mode: Mode,
    /// Where it was acquired.
    pub site: Site,
}

/// All locks held at a point of a run.
#[derive(Clone, Debug, Default)]
pub struct Holdings(Vec<Held>);

impl Holdings {
    /// Advances by one event.
    pub fn advance(&mut self, event: &Event) {
        let (thread, lock) = (event.id.thread, event.op.object());
        match change(event) {
            Some(Change::Acquired { mode, .. }) => {
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

    /// The locks held now, in the order of their acquisition.
    pub fn all(&self) -> &[Held] {
        &self.0
    }

    /// Returns the locks held at the end of a run.
    pub fn after(trace: &Trace) -> Holdings {
        let mut holdings = Holdings::default();
        if !has_locks(trace) {
            return holdings;
        }
        trace.events.iter().for_each(|event| holdings.advance(event));
        holdings
    }
}

/// Returns whether a run has locks. The traces of programs without locks need not be scanned.
pub fn has_locks(trace: &Trace) -> bool {
    let is_lock = |kind| matches!(kind, ObjectKind::Mutex | ObjectKind::RwLock);
    trace.objects.iter().any(|object| is_lock(object.kind))
}

/// Returns the effect of an event on a lock, if it has one.
pub fn change(event: &Event) -> Option<Change> {
    let acquired = |mode, blocks| Some(Change::Acquired { mode, blocks });
    match event.op.action() {
        Action::Mutex(MutexOp::TryLock)
        | Action::RwLock(RwLockOp::TryRead | RwLockOp::TryWrite)
            if event.effect == Effect::No =>
        {
            None
        }
        Action::Mutex(op) => match op {
            MutexOp::Lock => acquired(Mode::Exclusive, true),
            MutexOp::TryLock => acquired(Mode::Exclusive, false),
            MutexOp::Unlock => Some(Change::Released),
        },
        Action::RwLock(op) => match op {
            RwLockOp::Read => acquired(Mode::Shared, true),
            RwLockOp::TryRead => acquired(Mode::Shared, false),
            RwLockOp::Write => acquired(Mode::Exclusive, true),
            RwLockOp::TryWrite => acquired(Mode::Exclusive, false),
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
        | Action::Semaphore(_)
        | Action::Futex(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => None,
    }
}
