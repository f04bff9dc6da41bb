//! Shared objects: one small state each, and two functions.
//!
//! `enabled` says whether an operation can be performed in this state, `apply` performs it. Both
//! look at the object alone, never at what other threads could do; explorers rely on that when they
//! re-evaluate a recorded run.

use raddle_core::{Action, Effect, MutexOp, ObjectKind, Scalar, ThreadId};

use crate::objects::{Barrier, Channel, Condvar, Life, Mutex, Once, Parker, RwLock, Shape};

/// The state of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Object {
    /// The life of a thread.
    Life(Life),
    /// A variable; its value is the memory model's business.
    Variable,
    /// A mutex.
    Mutex(Mutex),
    /// A reader-writer lock.
    RwLock(RwLock),
    /// A condition variable.
    Condvar(Condvar),
    /// A barrier.
    Barrier(Barrier),
    /// A one-time initialisation.
    Once(Once),
    /// A park token.
    Parker(Parker),
    /// A channel.
    Channel(Channel),
}

/// How an object comes into being.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Initial {
    /// An atomic variable with this value.
    Atomic(Scalar, u64),
    /// A plain variable.
    Cell,
    /// A free mutex.
    Mutex,
    /// A free reader-writer lock.
    RwLock,
    /// A condition variable nobody waits on.
    Condvar,
    /// A barrier for so many threads.
    Barrier(u64),
    /// An initialisation not begun.
    Once,
    /// An empty channel.
    Channel {
        /// How many messages it holds; `Some(0)` hands each over directly.
        capacity: Option<u64>,
    },
}

impl Initial {
    /// What kind of object this makes.
    pub fn kind(self) -> ObjectKind {
        match self {
            Initial::Atomic(scalar, _) => ObjectKind::Atomic(scalar),
            Initial::Cell => ObjectKind::Cell,
            Initial::Mutex => ObjectKind::Mutex,
            Initial::RwLock => ObjectKind::RwLock,
            Initial::Condvar => ObjectKind::Condvar,
            Initial::Barrier(_) => ObjectKind::Barrier,
            Initial::Once => ObjectKind::Once,
            Initial::Channel { .. } => ObjectKind::Channel,
        }
    }
}

impl From<Initial> for Object {
    #[inline]
    fn from(initial: Initial) -> Object {
        match initial {
            Initial::Atomic(..) | Initial::Cell => Object::Variable,
            Initial::Mutex => Object::Mutex(Mutex::default()),
            Initial::RwLock => Object::RwLock(RwLock::default()),
            Initial::Condvar => Object::Condvar(Condvar::default()),
            Initial::Barrier(size) => Object::Barrier(Barrier::new(size)),
            Initial::Once => Object::Once(Once::default()),
            Initial::Channel { capacity } => Object::Channel(Channel::new(capacity)),
        }
    }
}

/// Calls a function of the object that an action is meant for.
macro_rules! dispatch {
    ($object:expr, $action:expr, $by:expr, $call:ident, $variable:expr) => {
        match *$action {
            Action::Thread(op) => match $object {
                Object::Life(object) => object.$call(op, $by),
                other => mismatch(other, $action),
            },
            Action::Mutex(op) => match $object {
                Object::Mutex(object) => object.$call(op, $by),
                other => mismatch(other, $action),
            },
            Action::RwLock(op) => match $object {
                Object::RwLock(object) => object.$call(op, $by),
                other => mismatch(other, $action),
            },
            Action::Condvar(op) => match $object {
                Object::Condvar(object) => object.$call(op, $by),
                other => mismatch(other, $action),
            },
            Action::Barrier(op) => match $object {
                Object::Barrier(object) => object.$call(op, $by),
                other => mismatch(other, $action),
            },
            Action::Once(op) => match $object {
                Object::Once(object) => object.$call(op, $by),
                other => mismatch(other, $action),
            },
            Action::Park(op) => match $object {
                Object::Parker(object) => object.$call(op, $by),
                other => mismatch(other, $action),
            },
            Action::Channel(op) => match $object {
                Object::Channel(object) => object.$call(op, $by),
                other => mismatch(other, $action),
            },
            Action::Atomic(_)
            | Action::Cell(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => $variable,
        }
    };
}

impl Object {
    /// Becomes the object that `initial` describes, keeping memory if it was of that kind before.
    pub(crate) fn become_new(&mut self, initial: Initial) {
        match (self, initial) {
            (Object::Condvar(condvar), Initial::Condvar) => condvar.clear(),
            (object, initial) => *object = Object::from(initial),
        }
    }

    /// Whether `by` can perform `action` in this state.
    #[inline(always)]
    pub fn enabled(&self, action: &Action, by: ThreadId) -> bool {
        dispatch!(self, action, by, enabled, true)
    }

    /// As [`apply`](Object::apply), for an object known to be a mutex.
    #[inline(always)]
    pub(crate) fn apply_mutex(&mut self, op: MutexOp, by: ThreadId) -> Effect {
        match self {
            Object::Mutex(mutex) => mutex.apply(op, by),
            other => mismatch(other, &Action::Mutex(op)),
        }
    }

    /// Performs `action`, which must be enabled. Actions on variables do nothing here.
    #[inline(always)]
    pub fn apply(&mut self, action: &Action, by: ThreadId) -> Effect {
        dispatch!(self, action, by, apply, Effect::None)
    }
}

#[cold]
fn mismatch(object: &Object, action: &Action) -> ! {
    panic!("raddle invariant broken: {action:?} on {object:?}")
}
