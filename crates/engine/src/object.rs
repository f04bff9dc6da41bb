//! Shared objects: one small state each, and two functions.
//!
//! `enabled` says whether an operation can be performed in this state, `apply` performs it. Both
//! look at the object alone, never at what other threads could do; explorers rely on that when they
//! re-evaluate a recorded run.

use raddle_core::{
    ChannelOp, Effect, MutexOp, ObjectInfo, ObjectKind, Op, Scalar, ThreadId, ThreadOp,
};

use crate::known::Known;
use crate::objects::{Barrier, Channel, Condvar, Life, Mutex, Once, Parker, RwLock, Shape};

/// The state of an object.
// With a tag of its own: one hidden in a field takes longer to read than the state behind it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
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

    /// What the object begins with, as it stands in a trace.
    #[inline]
    pub fn number(self) -> u64 {
        match self {
            Initial::Atomic(scalar, value) => scalar.truncate(value),
            Initial::Barrier(size) => size,
            Initial::Channel { capacity } => capacity.unwrap_or(u64::MAX),
            Initial::Cell | Initial::Mutex | Initial::RwLock | Initial::Condvar | Initial::Once => {
                0
            }
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

impl From<&ObjectInfo> for Object {
    /// The object as a run of this trace began with it.
    fn from(info: &ObjectInfo) -> Object {
        match info.kind {
            ObjectKind::Thread(ThreadId::MAIN) => Object::Life(Life::Running),
            ObjectKind::Thread(_) => Object::Life(Life::Unborn),
            ObjectKind::Atomic(_) | ObjectKind::Cell => Object::Variable,
            ObjectKind::Mutex => Object::Mutex(Mutex::default()),
            ObjectKind::RwLock => Object::RwLock(RwLock::default()),
            ObjectKind::Condvar => Object::Condvar(Condvar::default()),
            ObjectKind::Barrier => Object::Barrier(Barrier::new(info.initial)),
            ObjectKind::Once => Object::Once(Once::default()),
            ObjectKind::Parker(_) => Object::Parker(Parker::default()),
            ObjectKind::Channel => {
                let capacity = (info.initial != u64::MAX).then_some(info.initial);
                Object::Channel(Channel::new(capacity))
            }
        }
    }
}

impl Object {
    /// Becomes the object that `initial` describes. In place if it was of that kind before: that
    /// keeps memory, and does not put a whole object together only to copy it.
    #[inline]
    pub(crate) fn become_new(&mut self, initial: Initial) {
        match (self, initial) {
            (Object::Variable, Initial::Atomic(..) | Initial::Cell) => {}
            (Object::Mutex(mutex), Initial::Mutex) => *mutex = Mutex::default(),
            (Object::Condvar(condvar), Initial::Condvar) => condvar.clear(),
            (Object::Channel(channel), Initial::Channel { capacity }) => {
                *channel = Channel::new(capacity);
            }
            (object, initial) => *object = Object::from(initial),
        }
    }

    /// Becomes the life of a thread, likewise.
    #[inline(always)]
    pub(crate) fn become_life(&mut self, new: Life) {
        match self {
            Object::Life(life) => *life = new,
            object => object.replace_by_life(new),
        }
    }

    #[cold]
    fn replace_by_life(&mut self, new: Life) {
        *self = Object::Life(new);
    }

    /// Whether `by` can perform `op`, an operation on this object, in this state.
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
        }
    }

    /// Performs `op`, an enabled operation on this object. Operations on variables do nothing here.
    #[inline(always)]
    pub fn apply(&mut self, op: Op, by: ThreadId) -> Effect {
        match self {
            Object::Life(object) => object.apply(op.thread(), by),
            Object::Variable => Effect::None,
            Object::Mutex(object) => object.apply(op.mutex(), by),
            Object::RwLock(object) => object.apply(op.rwlock(), by),
            Object::Condvar(object) => object.apply(op.condvar(), by),
            Object::Barrier(object) => object.apply(op.barrier(), by),
            Object::Once(object) => object.apply(op.once(), by),
            Object::Parker(object) => object.apply(op.park(), by),
            Object::Channel(object) => object.apply(op.channel(), by),
        }
    }
}

/// The same for operations of which something is known. They take references: in a build that is not optimised
/// an operation would be copied for each.
impl Object {
    /// Whether some state of this object disables `op`, an operation on it that blocks.
    #[inline(always)]
    pub(crate) fn may_disable<K: Known>(&self, op: &Op) -> bool {
        let Object::Channel(channel) = self else { return true };
        if K::SEND { channel.is_bounded() } else { channel.may_disable(op.channel()) }
    }

    /// As [`enabled`](Object::enabled), for an operation that the object may disable.
    #[inline(always)]
    pub(crate) fn enabled_known<K: Known>(&self, op: &Op, by: ThreadId) -> bool {
        match self {
            Object::Mutex(mutex) if K::LOCK => mutex.is_free(),
            Object::Life(life) if K::LIFE => life.enabled(ThreadOp::Join, by),
            Object::Condvar(condvar) if K::CONSUME => condvar.is_notified(by),
            Object::Channel(channel) if K::SEND => channel.enabled(ChannelOp::Send, by),
            Object::Channel(channel) if K::RECEIVE => {
                channel.enabled(ChannelOp::Receive { timed: false }, by)
            }
            Object::Channel(channel) if K::CHANNEL => channel.enabled(op.channel(), by),
            object if K::ANY => object.enabled(*op, by),
            Object::Life(_)
            | Object::Variable
            | Object::Mutex(_)
            | Object::RwLock(_)
            | Object::Condvar(_)
            | Object::Barrier(_)
            | Object::Once(_)
            | Object::Parker(_)
            | Object::Channel(_) => wrong_object(),
        }
    }

    /// The same, and nothing that others do will change that: a message is there for whoever is to take it, and not just
    /// the end of messages.
    #[inline(always)]
    pub(crate) fn enabled_surely<K: Known>(&self, op: &Op, by: ThreadId) -> bool {
        match self {
            Object::Channel(channel) if K::RECEIVE => channel.has_messages(),
            object => object.enabled_known::<K>(op, by),
        }
    }

    /// Whether an operation of this kind, which has just changed the object, may have made a
    /// difference to those who wait for it.
    #[inline(always)]
    pub(crate) fn concerns_waiters<K: Known>(&self) -> bool {
        let Object::Channel(channel) = self else { return !K::ENQUEUE };
        if K::POST {
            channel.concerns_waiters_after_post()
        } else if K::SEND {
            channel.concerns_waiters_after_send()
        } else {
            !K::RECEIVE || channel.concerns_waiters_after_receive()
        }
    }

    /// Whether this is a condition variable of which no notification is on its way.
    #[inline(always)]
    pub(crate) fn has_no_notifications(&self) -> bool {
        matches!(self, Object::Condvar(condvar) if condvar.has_no_notifications())
    }

    /// Whether no more than the usual comes of an operation of this kind, which can be performed: its effect is
    /// known, and it makes no difference to those who wait for the object, if it `is_waited_for`. Never mind those
    /// who wait for a mutex.
    #[inline(always)]
    pub(crate) fn is_usual<K: Known>(&self, op: &Op, is_waited_for: bool) -> bool {
        match self {
            Object::Condvar(condvar) if K::NOTIFY => !condvar.has_use_for_notification(),
            Object::Channel(channel) if K::POST => channel.is_usual_to_pass(false, is_waited_for),
            Object::Channel(channel) if K::RECEIVE => !is_waited_for && channel.has_messages(),
            Object::Channel(channel) if K::PASS => {
                channel.is_usual_to_pass(op.takes_message(), is_waited_for)
            }
            Object::Life(_)
            | Object::Variable
            | Object::Mutex(_)
            | Object::RwLock(_)
            | Object::Condvar(_)
            | Object::Barrier(_)
            | Object::Once(_)
            | Object::Parker(_)
            | Object::Channel(_) => !(K::NOTIFY || K::POST || K::RECEIVE || K::PASS),
        }
    }

    /// As [`apply_known`](Object::apply_known), if no more than the [usual](Object::is_usual) comes of it.
    #[inline(always)]
    pub(crate) fn apply_usual<K: Known>(&mut self, op: &Op, by: ThreadId) -> Effect {
        match self {
            Object::Condvar(_) if K::NOTIFY => Effect::No,
            Object::Channel(channel) if K::POST => channel.put(),
            Object::Channel(channel) if K::RECEIVE => channel.take(),
            Object::Channel(channel) if K::PASS => channel.pass(op.takes_message()),
            object => object.apply_known::<K>(op, by),
        }
    }

    /// As [`apply`](Object::apply).
    #[inline(always)]
    pub(crate) fn apply_known<K: Known>(&mut self, op: &Op, by: ThreadId) -> Effect {
        match self {
            Object::Mutex(mutex) if K::LOCK => mutex.apply(MutexOp::Lock, by),
            Object::Mutex(mutex) if K::UNLOCK => mutex.apply(MutexOp::Unlock, by),
            // To wait for an end changes nothing.
            Object::Life(_) if K::LIFE && K::BLOCKS => Effect::None,
            Object::Life(life) if K::LIFE => life.apply(op.thread(), by),
            Object::Condvar(condvar) if K::NOTIFY => condvar.notify(op.condvar()),
            Object::Condvar(condvar) if K::ENQUEUE => condvar.enqueue(by),
            Object::Condvar(condvar) if K::CONSUME => condvar.consume(by),
            Object::Channel(channel) if K::SEND || K::POST => channel.apply(ChannelOp::Send, by),
            Object::Channel(channel) if K::RECEIVE => {
                channel.apply(ChannelOp::Receive { timed: false }, by)
            }
            Object::Channel(channel) if K::CHANNEL => channel.apply(op.channel(), by),
            object if K::ANY => object.apply(*op, by),
            Object::Life(_)
            | Object::Variable
            | Object::Mutex(_)
            | Object::RwLock(_)
            | Object::Condvar(_)
            | Object::Barrier(_)
            | Object::Once(_)
            | Object::Parker(_)
            | Object::Channel(_) => wrong_object(),
        }
    }
}

/// Says nothing of the operation, which would be put into memory for it also where this is not called.
#[cold]
#[inline(never)]
pub(crate) fn wrong_object() -> ! {
    unreachable!("raddle invariant broken: something is known of an operation that is not so")
}
