//! What is known of an operation where it is announced.
//!
//! The front end knows at every call which kind of operation it is about. Passing that on as a type
//! lets the compiler leave out everything else from the path of the most frequent ones. Whoever goes
//! on after a switch does so in code for its own kind: branches on kinds would be foreseen badly there.

use raddle_core::{Access, Effect, Op};

/// A kind of operation.
pub trait Known {
    /// Nothing is known.
    const ANY: bool = false;
    /// It is on an atomic variable.
    const ATOMIC: bool = false;
    /// It is on an atomic variable, and [adds](Op::adds).
    const ADDS: bool = false;
    /// It takes a mutex.
    const LOCK: bool = false;
    /// It gives a mutex back.
    const UNLOCK: bool = false;
    /// It is on the life of a thread.
    const LIFE: bool = false;
    /// It notifies the waiters of a condition variable.
    const NOTIFY: bool = false;
    /// It puts its thread among the waiters of a condition variable.
    const ENQUEUE: bool = false;
    /// It takes a notification, after waiting for one without a limit.
    const CONSUME: bool = false;
    /// It puts a message into a channel, after waiting for room.
    const SEND: bool = false;
    /// It puts a message into a channel without a bound.
    const POST: bool = false;
    /// It takes a message out of a channel, after waiting for one.
    const RECEIVE: bool = false;
    /// It puts a message into a channel without a bound, or takes one that is there. Which, the operation
    /// [says](Op::takes_message).
    const PASS: bool = false;
    /// It is on a channel; what it does there is not known.
    const CHANNEL: bool = false;
    /// It may be disabled by a state of its object.
    const BLOCKS: bool = false;
    /// Whether that is so depends on the object too.
    const MAY_NEVER_WAIT: bool = Self::ANY || Self::CHANNEL || Self::SEND;
    /// It has no operands: only the first of its words is not zero.
    const BARE: bool = false;

    /// It is worth to choose who goes next before it is announced, if that is possible.
    const AHEAD: bool = Self::UNLOCK || Self::NOTIFY || Self::POST || Self::RECEIVE || Self::PASS;

    /// Whether `op`, of a kind that [`BLOCKS`](Known::BLOCKS), may be disabled.
    #[inline(always)]
    fn may_block(op: &Op) -> bool {
        !(Self::ANY || Self::CHANNEL) || op.may_block()
    }

    /// It changes its object.
    const UPDATES: bool = Self::ADDS
        || Self::LOCK
        || Self::UNLOCK
        || Self::ENQUEUE
        || Self::CONSUME
        || Self::LIFE && !Self::BLOCKS;

    /// How it touches its object, if it is not known to [change it](Known::UPDATES).
    #[inline(always)]
    fn access(op: &Op, effect: &Effect) -> Access {
        op.access_with(*effect)
    }
}

/// Nothing is known.
#[derive(Debug)]
pub enum AnyOp {}

impl Known for AnyOp {
    const ANY: bool = true;
    const BLOCKS: bool = true;
}

/// An operation on an atomic variable.
#[derive(Debug)]
pub enum AtomicOp {}

impl Known for AtomicOp {
    const ATOMIC: bool = true;
}

/// An operation on an atomic variable that adds: what programs do most often.
#[derive(Debug)]
pub enum AddOp {}

impl Known for AddOp {
    const ATOMIC: bool = true;
    const ADDS: bool = true;
}

/// A mutex is taken, after waiting for it.
#[derive(Debug)]
pub enum LockOp {}

impl Known for LockOp {
    const LOCK: bool = true;
    const BARE: bool = true;
    const BLOCKS: bool = true;
}

/// A mutex is given back.
#[derive(Debug)]
pub enum UnlockOp {}

impl Known for UnlockOp {
    const UNLOCK: bool = true;
    const BARE: bool = true;
}

/// A notification of waiters, one or all.
#[derive(Debug)]
pub enum NotifyOp {}

impl Known for NotifyOp {
    const NOTIFY: bool = true;
    const BARE: bool = true;

    #[inline(always)]
    fn access(_op: &Op, effect: &Effect) -> Access {
        if matches!(effect, Effect::No) { Access::Read } else { Access::Update }
    }
}

/// A thread comes to wait for a condition variable.
#[derive(Debug)]
pub enum EnqueueOp {}

impl Known for EnqueueOp {
    const ENQUEUE: bool = true;
    const BARE: bool = true;
}

/// A notification is taken, after waiting for one without a limit.
#[derive(Debug)]
pub enum ConsumeOp {}

impl Known for ConsumeOp {
    const CONSUME: bool = true;
    const BARE: bool = true;
    const BLOCKS: bool = true;
}

/// A message is put into a channel, after waiting for room.
#[derive(Debug)]
pub enum SendOp {}

impl Known for SendOp {
    const SEND: bool = true;
    const BARE: bool = true;
    const BLOCKS: bool = true;

    #[inline(always)]
    fn access(_op: &Op, effect: &Effect) -> Access {
        if matches!(effect, Effect::Closed) { Access::Read } else { Access::Update }
    }
}

/// A message is put into a channel without a bound.
#[derive(Debug)]
pub enum PostOp {}

impl Known for PostOp {
    const POST: bool = true;
    const BARE: bool = true;

    #[inline(always)]
    fn access(_op: &Op, effect: &Effect) -> Access {
        if matches!(effect, Effect::Closed) { Access::Read } else { Access::Update }
    }
}

/// A message is taken out of a channel, after waiting for one without a limit.
#[derive(Debug)]
pub enum ReceiveOp {}

impl Known for ReceiveOp {
    const RECEIVE: bool = true;
    const BARE: bool = true;
    const BLOCKS: bool = true;

    #[inline(always)]
    fn access(_op: &Op, effect: &Effect) -> Access {
        if matches!(effect, Effect::Closed) { Access::Read } else { Access::Update }
    }
}

/// A message that is there is taken out of a channel. Nobody else can take it meanwhile: a channel has one receiver,
/// which one thread uses at a time. So whoever is about to need not stand among those who wait. (Those who hear
/// that there will be no more may be many, but that does not change.)
#[derive(Debug)]
pub enum TakeOp {}

impl Known for TakeOp {
    const RECEIVE: bool = true;
    const BARE: bool = true;

    #[inline(always)]
    fn access(op: &Op, effect: &Effect) -> Access {
        ReceiveOp::access(op, effect)
    }
}

/// [`PostOp`] or [`TakeOp`], one kind of them: which of two threads goes on cannot be foreseen, if one sends and the other
/// receives. They go on at the same place then, and it is known by the time they part where each of them came from.
#[derive(Debug)]
pub enum PassOp {}

impl Known for PassOp {
    const PASS: bool = true;
    const BARE: bool = true;

    #[inline(always)]
    fn access(op: &Op, effect: &Effect) -> Access {
        PostOp::access(op, effect)
    }
}

/// Any operation on a channel.
#[derive(Debug)]
pub enum ChannelOp {}

impl Known for ChannelOp {
    const CHANNEL: bool = true;
    const BLOCKS: bool = true;
}

/// The beginning or the end of a thread.
#[derive(Debug)]
pub enum LifeOp {}

impl Known for LifeOp {
    const LIFE: bool = true;
    const BARE: bool = true;
}

/// Waiting for the end of a thread.
#[derive(Debug)]
pub enum JoinOp {}

impl Known for JoinOp {
    const LIFE: bool = true;
    const BARE: bool = true;
    const BLOCKS: bool = true;

    #[inline(always)]
    fn access(_op: &Op, _effect: &Effect) -> Access {
        Access::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::{
        Action, AtomicOp as Variable, ChannelOp as Message, CondvarOp, MutexOp, ObjectId, Order,
        Rmw, Scalar, ThreadOp,
    };

    #[test]
    fn what_is_known_is_true() {
        fn check<K: Known>(action: Action) {
            let op = Op::new(ObjectId(0), action);
            // Channels without a bound block nobody who sends, and messages that are there nobody who receives.
            assert_eq!(K::BLOCKS || K::POST || K::RECEIVE || K::PASS, op.may_block(), "{op:?}");
            assert!(!K::ATOMIC || op.is_atomic(), "{op:?}");
            assert!(!K::ADDS || op.adds(), "{op:?}");
            if K::BARE {
                assert_eq!(op.into_words()[1..], [0, 0], "{op:?}");
                let mut other = Op::from_words(7, 1, u64::MAX);
                other.copy_bare_from(&op);
                assert_eq!(other.action(), action);
                assert_eq!(other.in_plain_words(), op);
            }
            let effects =
                [Effect::None, Effect::Ticket(0), Effect::Yes, Effect::No, Effect::Closed];
            for effect in effects {
                let possible = match effect {
                    Effect::None => true,
                    Effect::Yes => K::NOTIFY || K::CONSUME || K::RECEIVE || K::PASS,
                    Effect::No => K::NOTIFY,
                    _ => K::SEND || K::POST || K::RECEIVE || K::PASS,
                };
                if possible {
                    let access = if K::UPDATES { Access::Update } else { K::access(&op, &effect) };
                    assert_eq!(access, op.access_with(effect), "{op:?}");
                }
            }
        }
        for function in [Rmw::Swap, Rmw::Add, Rmw::Sub] {
            let (order, scalar, operand) = (Order::Relaxed, Scalar::U8, 1);
            check::<AddOp>(Action::Atomic(Variable::Update { order, scalar, function, operand }));
        }
        check::<LockOp>(Action::Mutex(MutexOp::Lock));
        check::<UnlockOp>(Action::Mutex(MutexOp::Unlock));
        check::<JoinOp>(Action::Thread(ThreadOp::Join));
        check::<NotifyOp>(Action::Condvar(CondvarOp::NotifyOne));
        check::<NotifyOp>(Action::Condvar(CondvarOp::NotifyAll));
        check::<EnqueueOp>(Action::Condvar(CondvarOp::Enqueue));
        check::<ConsumeOp>(Action::Condvar(CondvarOp::Consume { timed: false }));
        check::<SendOp>(Action::Channel(Message::Send));
        check::<PostOp>(Action::Channel(Message::Send));
        check::<ReceiveOp>(Action::Channel(Message::Receive { timed: false }));
        check::<TakeOp>(Action::Channel(Message::Receive { timed: false }));
        check::<PassOp>(Action::Channel(Message::Send));
        check::<PassOp>(Action::Channel(Message::Receive { timed: false }));
        check::<LifeOp>(Action::Thread(ThreadOp::Spawn));
        check::<LifeOp>(Action::Thread(ThreadOp::Exit));
    }
}
