//! Shared objects: a small state and two functions for each kind.
//!
//! `enabled` returns whether an operation can be performed in the current state; `apply` performs it. Both
//! depend on the object's state alone, never on other threads. Explorers rely on that when they
//! re-evaluate a recorded run.

use raddle_core::{Effect, FutexOp, MutexOp, ObjectInfo, ObjectKind, Op, Scalar, ThreadId};

use crate::Kind;
use crate::objects::{
    Barrier, Channel, Condvar, Futex, Life, Mutex, ObjectState, Once, Parker, RwLock, Semaphore,
};

/// The state of an object.
// A separate tag: decoding a tag that shares bits with a field takes longer than the operation.
#[repr(u8)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Object {
    /// A thread: not started, running or ended.
    Life(Life),
    /// A variable. The memory model holds its value.
    Variable,
    /// A variable with waiters. The memory model holds its value.
    Futex(Futex),
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
    /// A park token, or a notification that belongs to no thread.
    Parker(Parker),
    /// A channel.
    Channel(Channel),
    /// A semaphore.
    Semaphore(Semaphore),
}

/// The initial state of an object.
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
    /// A condition variable without waiters.
    Condvar,
    /// A barrier for this number of threads.
    Barrier(u64),
    /// A one-time initialisation that has not begun.
    Once,
    /// An empty channel.
    Channel {
        /// The capacity in messages; `Some(0)` for a rendezvous channel, `None` if unbounded.
        capacity: Option<u64>,
    },
    /// A semaphore with this count.
    Semaphore(u64),
    /// A notification that is not set.
    Notify,
}

impl Initial {
    /// Returns the kind of the object.
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
            Initial::Semaphore(_) => ObjectKind::Semaphore,
            Initial::Notify => ObjectKind::Notify,
        }
    }

    /// Returns the value of [`ObjectInfo::initial`].
    #[inline]
    pub fn number(self) -> u64 {
        match self {
            Initial::Atomic(scalar, value) => scalar.truncate(value),
            Initial::Barrier(number) | Initial::Semaphore(number) => number,
            Initial::Channel { capacity } => capacity.unwrap_or(u64::MAX),
            Initial::Cell
            | Initial::Mutex
            | Initial::RwLock
            | Initial::Condvar
            | Initial::Once
            | Initial::Notify => 0,
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
            Initial::Semaphore(count) => Object::Semaphore(Semaphore::new(count)),
            Initial::Notify => Object::Parker(Parker::default()),
        }
    }
}

impl From<&ObjectInfo> for Object {
    /// Returns the initial state of the object.
    fn from(info: &ObjectInfo) -> Object {
        match info.kind {
            ObjectKind::Thread(ThreadId::MAIN) => Object::Life(Life::Running),
            ObjectKind::Thread(_) => Object::Life(Life::NotStarted),
            ObjectKind::Atomic(_) | ObjectKind::Cell => Object::Variable,
            ObjectKind::Mutex => Object::Mutex(Mutex::default()),
            ObjectKind::RwLock => Object::RwLock(RwLock::default()),
            ObjectKind::Condvar => Object::Condvar(Condvar::default()),
            ObjectKind::Barrier => Object::Barrier(Barrier::new(info.initial)),
            ObjectKind::Once => Object::Once(Once::default()),
            ObjectKind::Parker(_) | ObjectKind::Notify => Object::Parker(Parker::default()),
            ObjectKind::Channel => {
                let capacity = (info.initial != u64::MAX).then_some(info.initial);
                Object::Channel(Channel::new(capacity))
            }
            ObjectKind::Semaphore => Object::Semaphore(Semaphore::new(info.initial)),
        }
    }
}

impl Object {
    /// Sets the state of a thread.
    #[inline]
    pub(crate) fn set_life(&mut self, new: Life) {
        match self {
            Object::Life(life) => *life = new,
            object => *object = Object::Life(new),
        }
    }

    /// Becomes a new object. Keeps the allocated memory of an object of the same kind.
    pub(crate) fn become_new(&mut self, initial: Initial) {
        match (self, initial) {
            (Object::Condvar(condvar), Initial::Condvar) => condvar.clear(),
            (object, initial) => *object = Object::from(initial),
        }
    }

    /// Returns whether `by` can perform `op`, an operation on this object, in this state.
    #[inline(always)]
    pub fn enabled(&self, op: Op, by: ThreadId) -> bool {
        match self {
            Object::Life(object) => object.enabled(op.thread(), by),
            Object::Variable => true,
            Object::Mutex(object) => object.enabled(op.mutex(), by),
            Object::RwLock(object) => object.enabled(op.rwlock(), by),
            Object::Condvar(object) => object.enabled(op.condvar(), by),
            Object::Barrier(object) => object.enabled(op.barrier(), by),
            Object::Once(object) => object.enabled(op.once(), by),
            Object::Parker(object) => object.enabled(op.park(), by),
            Object::Channel(object) => object.enabled(op.channel(), by),
            Object::Semaphore(object) => object.enabled(op.semaphore(), by),
            Object::Futex(object) => op.futex().is_none_or(|op| object.enabled(op, by)),
        }
    }

    /// Performs `op`, an enabled operation on this object. Operations on variables have no effect here.
    #[inline(always)]
    pub fn apply(&mut self, op: Op, by: ThreadId) -> Effect {
        match self {
            Object::Life(object) => object.apply(op.thread(), by),
            Object::Variable => op.futex().map_or(Effect::None, |op| self.become_futex(op, by)),
            Object::Mutex(object) => object.apply(op.mutex(), by),
            Object::RwLock(object) => object.apply(op.rwlock(), by),
            Object::Condvar(object) => object.apply(op.condvar(), by),
            Object::Barrier(object) => object.apply(op.barrier(), by),
            Object::Once(object) => object.apply(op.once(), by),
            Object::Parker(object) => object.apply(op.park(), by),
            Object::Channel(object) => object.apply(op.channel(), by),
            Object::Semaphore(object) => object.apply(op.semaphore(), by),
            Object::Futex(object) => op.futex().map_or(Effect::None, |op| object.apply(op, by)),
        }
    }
}

impl Object {
    /// Performs the first operation on the waiters of a variable.
    #[cold]
    fn become_futex(&mut self, op: FutexOp, by: ThreadId) -> Effect {
        let mut futex = Futex::default();
        let effect = futex.apply(op, by);
        *self = Object::Futex(futex);
        effect
    }
}

/// The functions for operations whose [`Kind`] is known at compile time.
impl Object {
    /// Returns whether some state of this object disables `op`, an operation on it that may block.
    #[inline(always)]
    pub(crate) fn may_disable(&self, kind: Kind, op: &Op) -> bool {
        match (kind, self) {
            (Kind::Any, Object::Channel(channel)) => channel.may_disable(op.channel()),
            (Kind::Any | Kind::Atomic | Kind::Lock | Kind::Unlock, _) => true,
        }
    }

    /// Returns whether `by` can perform `op` in this state.
    #[inline(always)]
    pub(crate) fn enabled_known(&self, kind: Kind, op: Op, by: ThreadId) -> bool {
        match (kind, self) {
            (Kind::Any, object) => object.enabled(op, by),
            (Kind::Lock, Object::Mutex(mutex)) => mutex.enabled(MutexOp::Lock, by),
            (Kind::Atomic | Kind::Lock | Kind::Unlock, _) => wrong_object(),
        }
    }

    /// Performs `op`, an enabled operation on this object.
    #[inline(always)]
    pub(crate) fn apply_known(&mut self, kind: Kind, op: Op, by: ThreadId) -> Effect {
        match (kind, self) {
            (Kind::Any, object) => object.apply(op, by),
            (Kind::Lock, Object::Mutex(mutex)) => mutex.apply(MutexOp::Lock, by),
            (Kind::Unlock, Object::Mutex(mutex)) => mutex.apply(MutexOp::Unlock, by),
            (Kind::Atomic | Kind::Lock | Kind::Unlock, _) => wrong_object(),
        }
    }
}

#[cold]
#[inline(never)]
fn wrong_object() -> ! {
    unreachable!("raddle invariant broken: the operation does not match the kind of its object")
}
