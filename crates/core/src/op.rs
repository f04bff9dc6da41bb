//! Visible operations as plain data.
//!
//! A thread announces an [`Op`] before it happens; the engine decides when it does. Each operation
//! touches exactly one object, or none. A read-modify-write is data, never a closure, so that a
//! recorded run can be re-evaluated by an explorer.
//!
//! An [`Op`] is three machine words: it is handed from the program to the engine, kept as pending
//! and copied into the trace at every step, and words travel in registers where an enum of this size
//! would go through memory. [`Action`] is what it means.

use core::fmt;

use crate::{
    Action, AtomicOp, BarrierOp, ChannelOp, CondvarOp, Effect, MutexOp, ObjectId, OnceOp, Order,
    ParkOp, Rmw, RwLockOp, ThreadOp,
};

/// What a thread is about to do, and to which object.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct Op {
    /// The object in the low half; above it the action's code, its [`Traits`] and small fields, a
    /// byte each for the former.
    head: u64,
    /// First operand.
    first: u64,
    /// Second operand.
    second: u64,
}

/// What is asked of an operation at every step, worked out when it is made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Traits(pub(crate) u8);

impl Traits {
    /// Some state of the object disables it.
    pub(crate) const BLOCKS: u8 = 1;
    /// It never changes the object.
    pub(crate) const READS: u8 = 2;
    /// It leaves the object as it is if it fails.
    pub(crate) const MAY_ONLY_READ: u8 = 4;
    /// It gives way to others.
    pub(crate) const PAUSES: u8 = 8;
    /// It gives way to others if it fails: a wait that may time out.
    pub(crate) const TIMED: u8 = 16;
    /// It is on an atomic variable.
    pub(crate) const ATOMIC: u8 = 32;
}

impl Op {
    /// The beginning of a thread, to be put [on](Op::on) its life.
    pub const SPAWN: Op = Op::new(ObjectId::NONE, Action::Thread(ThreadOp::Spawn));
    /// The end of a thread, likewise.
    pub const EXIT: Op = Op::new(ObjectId::NONE, Action::Thread(ThreadOp::Exit));
    /// Waiting for the end of a thread, likewise.
    pub const JOIN: Op = Op::new(ObjectId::NONE, Action::Thread(ThreadOp::Join));

    /// `action` on `object`.
    #[inline(always)]
    pub const fn new(object: ObjectId, action: Action) -> Op {
        let (code, small, first, second) = action.encode();
        let traits = action.traits().0;
        let head =
            (object.0 as u64) | (code as u64) << 32 | (traits as u64) << 40 | (small as u64) << 48;
        Op { head, first, second }
    }

    /// `Op::new(object, Action::Atomic(..Load..))`, without taking an action apart: what depends on
    /// the kind alone is worked out at compile time in every profile.
    #[inline(always)]
    pub const fn load(object: ObjectId, order: Order) -> Op {
        const KIND: u64 = kind(Action::Atomic(AtomicOp::Load { order: Order::Relaxed }));
        Op { head: object.0 as u64 | KIND | (order as u64) << 48, first: 0, second: 0 }
    }

    /// `Op::new(object, Action::Atomic(..Store..))`, likewise.
    #[inline(always)]
    pub const fn store(object: ObjectId, order: Order, value: u64) -> Op {
        const KIND: u64 = kind(Action::Atomic(AtomicOp::Store { order: Order::Relaxed, value: 0 }));
        Op { head: object.0 as u64 | KIND | (order as u64) << 48, first: value, second: 0 }
    }

    /// `Op::new(object, Action::Atomic(..CompareExchange..))`, likewise.
    #[inline(always)]
    pub const fn compare_exchange(
        object: ObjectId,
        orders: (Order, Order),
        weak: bool,
        expected: u64,
        new: u64,
    ) -> Op {
        const KIND: u64 = kind(Action::Atomic(AtomicOp::CompareExchange {
            success: Order::Relaxed,
            failure: Order::Relaxed,
            weak: false,
            expected: 0,
            new: 0,
        }));
        let small = orders.0 as u64 | (orders.1 as u64) << 4 | (weak as u64) << 8;
        Op { head: object.0 as u64 | KIND | small << 48, first: expected, second: new }
    }

    /// An operation of this kind, with this ordering and operand. The kind is an operation made with
    /// [`Update`](AtomicOp::Update), [`Order::Relaxed`] and operand 0, a constant.
    #[inline(always)]
    pub const fn update(kind: &Op, order: Order, operand: u64) -> Op {
        let subtracts = kind.variant() == 3 + Rmw::Sub as u8;
        let first = if subtracts { operand.wrapping_neg() } else { operand };
        Op { head: kind.head | (order as u64) << 48, first, second: kind.second }
    }

    /// The same operation on `object`.
    #[inline(always)]
    pub const fn on(&self, object: ObjectId) -> Op {
        let head = self.head & !0xffff_ffff | object.0 as u64;
        Op { head, first: self.first, second: self.second }
    }

    /// The one object this touches, or [`ObjectId::NONE`].
    #[inline(always)]
    pub const fn object(&self) -> ObjectId {
        ObjectId(self.head as u32)
    }

    /// What happens to it.
    #[inline(always)]
    pub const fn action(&self) -> Action {
        Action::decode((self.head >> 32) as u8, (self.head >> 48) as u16, self.first, self.second)
    }

    /// The new value of an atomic variable that holds `old`, if this operation on it writes one, and
    /// the effect.
    ///
    /// The same as asking [`action`](Op::action), without taking everything apart.
    #[inline(always)]
    pub fn apply_to_atomic(&self, old: u64) -> (Option<u64>, Effect) {
        if matches!(self.variant(), 3..=5) {
            return (Some(self.add_to_atomic(old)), Effect::Value(old));
        }
        match self.variant() {
            0 => (None, Effect::Value(old)),
            1 => (Some(self.first), Effect::None),
            2 if old == self.first => (Some(self.second), Effect::Exchanged(old)),
            2 => (None, Effect::Kept(old)),
            3.. => Op::apply_other_update(self.head, self.first, old),
        }
    }

    /// The order of this operation on an atomic variable, if it writes, and if it does not.
    #[inline(always)]
    pub const fn atomic_order(&self, writes: bool) -> Order {
        let is_failure = self.variant() == 2 && !writes;
        crate::code::order((self.head >> if is_failure { 52 } else { 48 }) as u16)
    }

    /// Whether this operation on an atomic variable reads it: all do but stores.
    #[inline(always)]
    pub const fn reads_atomic(&self) -> bool {
        self.variant() != 1
    }

    /// Whether this operation on an atomic variable writes, whatever the value: loads do not, and exchanges
    /// depend on it.
    #[inline(always)]
    pub const fn always_writes_atomic(&self) -> bool {
        !matches!(self.variant(), 0 | 2)
    }

    /// Whether this swaps, adds to or subtracts from an atomic variable: all are "keep these bits, then
    /// add".
    #[inline(always)]
    pub const fn adds(&self) -> bool {
        self.is_atomic() && matches!(self.variant(), 3..=5)
    }

    /// The new value of an atomic variable that holds `old`, if this [`adds`](Op::adds).
    #[inline(always)]
    pub const fn add_to_atomic(&self, old: u64) -> u64 {
        let new = (old & self.second).wrapping_add(self.first);
        let missing = (self.head >> 56) as u32 & 63;
        new << missing >> missing
    }

    #[cold]
    fn apply_other_update(head: u64, first: u64, old: u64) -> (Option<u64>, Effect) {
        match Op::from_words(head, first, 0).action() {
            Action::Atomic(AtomicOp::Update { scalar, function, operand, .. }) => {
                (Some(function.apply(scalar, old, operand)), Effect::Value(old))
            }
            other => unreachable!("raddle invariant broken: {other:?} on an atomic variable"),
        }
    }

    /// What happens to the thread that this is an operation on.
    #[inline(always)]
    pub const fn thread(&self) -> ThreadOp {
        ThreadOp::decode(self.variant())
    }

    /// What happens to the reader-writer lock that this is an operation on.
    #[inline(always)]
    pub const fn rwlock(&self) -> RwLockOp {
        RwLockOp::decode(self.variant())
    }

    /// What happens to the condition variable that this is an operation on.
    #[inline(always)]
    pub const fn condvar(&self) -> CondvarOp {
        CondvarOp::decode(self.variant())
    }

    /// What happens to the barrier that this is an operation on.
    #[inline(always)]
    pub const fn barrier(&self) -> BarrierOp {
        BarrierOp::decode(self.variant(), self.first)
    }

    /// What happens to the initialisation that this is an operation on.
    #[inline(always)]
    pub const fn once(&self) -> OnceOp {
        OnceOp::decode(self.variant())
    }

    /// What happens to the park token that this is an operation on.
    #[inline(always)]
    pub const fn park(&self) -> ParkOp {
        ParkOp::decode(self.variant())
    }

    /// What happens to the channel that this is an operation on.
    #[inline(always)]
    pub const fn channel(&self) -> ChannelOp {
        ChannelOp::decode(self.variant(), self.first)
    }

    #[inline(always)]
    const fn variant(&self) -> u8 {
        (self.head >> 32) as u8 & 15
    }

    /// Whether the action has one of these [`Traits`].
    #[inline(always)]
    pub(crate) const fn has(&self, traits: u8) -> bool {
        (self.head >> 40) as u8 & traits != 0
    }

    /// What happens to the mutex that this is an operation on.
    #[inline(always)]
    pub const fn mutex(&self) -> MutexOp {
        MutexOp::decode(self.variant())
    }

    /// Whether this is an operation on a thread.
    #[inline(always)]
    pub const fn is_thread(&self) -> bool {
        (self.head >> 36) as u8 & 15 == crate::code::group::THREAD
    }

    /// The order of the fence that this is, if it is one.
    #[inline(always)]
    pub const fn fence(&self) -> Option<Order> {
        if (self.head >> 36) as u8 & 15 == crate::code::group::FENCE {
            Some(crate::code::order((self.head >> 48) as u16))
        } else {
            None
        }
    }

    /// Whether this asks for a number.
    #[inline(always)]
    pub const fn is_choose(&self) -> bool {
        (self.head >> 36) as u8 & 15 == crate::code::group::CHOOSE
    }

    /// Whether this is an operation on an atomic variable.
    #[inline(always)]
    pub const fn is_atomic(&self) -> bool {
        self.has(Traits::ATOMIC)
    }

    /// The words that make up this operation.
    #[inline(always)]
    pub const fn into_words(self) -> [u64; 3] {
        [self.head, self.first, self.second]
    }

    /// The operation that [`into_words`](Op::into_words) took apart.
    #[inline(always)]
    pub const fn from_words(head: u64, first: u64, second: u64) -> Op {
        Op { head, first, second }
    }
}

/// The head of an operation on object 0.
const fn kind(action: Action) -> u64 {
    Op::new(ObjectId(0), action).head
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {:?}", self.action(), self.object())
    }
}
