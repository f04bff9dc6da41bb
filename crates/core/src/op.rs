//! Visible operations as plain data.
//!
//! A thread announces an [`Op`] before it performs it; the engine decides when that is. Each operation
//! accesses exactly one object, or none. A read-modify-write is data, never a closure, so that an explorer can
//! re-evaluate a recorded run.
//!
//! An [`Op`] is three machine words that encode an [`Action`] and its object. It is passed to the engine and
//! copied into the trace at every step. Words are passed in registers; an enum of this size is not.

use core::fmt;

use crate::code::{atomic, group, order};
use crate::{
    Action, AtomicOp, BarrierOp, ChannelOp, CondvarOp, Effect, FutexOp, MutexOp, ObjectId, OnceOp,
    Order, ParkOp, RwLockOp, SemaphoreOp, ThreadOp,
};

/// An operation and its object.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct Op {
    /// From the lowest bit: the object (32 bits), the action's code (8), its [`Traits`] (8) and its small fields (16).
    head: u64,
    /// First operand.
    first: u64,
    /// Second operand.
    second: u64,
}

/// Properties of an action that every step needs, as a bit set.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Traits(pub(crate) u8);

impl Traits {
    /// Some state of the object disables the action.
    pub(crate) const BLOCKS: u8 = 1;
    /// The action never changes the object.
    pub(crate) const READS: u8 = 2;
    /// The action leaves the object unchanged if it fails.
    pub(crate) const MAY_ONLY_READ: u8 = 4;
    /// The action yields to other threads.
    pub(crate) const PAUSES: u8 = 8;
    /// The action is a wait that may time out. It yields to other threads if it does.
    pub(crate) const TIMED: u8 = 16;
    /// The action is on an atomic variable.
    pub(crate) const ATOMIC: u8 = 32;
    /// The action, unless it fails, commutes with others that have this trait.
    pub(crate) const SHARES: u8 = 64;
}

impl Op {
    /// The start of a thread, without its [object](Op::on).
    pub const SPAWN: Op = Op::new(ObjectId::NONE, Action::Thread(ThreadOp::Spawn));
    /// The end of a thread, without its [object](Op::on).
    pub const EXIT: Op = Op::new(ObjectId::NONE, Action::Thread(ThreadOp::Exit));
    /// The wait for the end of a thread, without its [object](Op::on).
    pub const JOIN: Op = Op::new(ObjectId::NONE, Action::Thread(ThreadOp::Join));

    /// Returns the operation `action` on `object`.
    #[inline(always)]
    pub const fn new(object: ObjectId, action: Action) -> Op {
        let (code, small, first, second) = action.encode();
        let traits = action.traits().0;
        let head =
            (object.0 as u64) | (code as u64) << 32 | (traits as u64) << 40 | (small as u64) << 48;
        Op { head, first, second }
    }

    /// Returns the same operation on `object`.
    #[inline(always)]
    pub const fn on(&self, object: ObjectId) -> Op {
        let head = self.head & !0xffff_ffff | object.0 as u64;
        Op { head, first: self.first, second: self.second }
    }

    /// Returns the same operation on an atomic variable, with this ordering and operand. It must be relaxed, and no
    /// compare-exchange.
    ///
    /// A method of an atomic variable starts from a constant: encoding an action takes a tenth of a step in debug builds.
    #[inline(always)]
    pub const fn with(&self, order: Order, operand: u64) -> Op {
        let is_subtraction = self.variant() == atomic::LAST_SUM;
        let first = if is_subtraction { operand.wrapping_neg() } else { operand };
        Op { head: self.head | (order as u64) << 48, first, second: self.second }
    }

    /// Returns the accessed object, or [`ObjectId::NONE`].
    #[inline(always)]
    pub const fn object(&self) -> ObjectId {
        ObjectId(self.head as u32)
    }

    /// Returns the action.
    #[inline(always)]
    pub const fn action(&self) -> Action {
        Action::decode((self.head >> 32) as u8, (self.head >> 48) as u16, self.first, self.second)
    }

    /// Returns the value that this operation writes to an atomic variable that holds `old`, if any, and the effect.
    ///
    /// Does not decode the [`action`](Op::action), which is slower.
    #[inline(always)]
    pub fn apply_to_atomic(&self, old: u64) -> (Option<u64>, Effect) {
        if matches!(self.variant(), atomic::UPDATE..=atomic::LAST_SUM) {
            return (Some(self.mask_and_add(old)), Effect::Value(old));
        }
        match self.variant() {
            atomic::LOAD => (None, Effect::Value(old)),
            atomic::STORE => (Some(self.first), Effect::None),
            atomic::COMPARE_EXCHANGE if old == self.first => {
                (Some(self.second), Effect::Exchanged(old))
            }
            atomic::COMPARE_EXCHANGE => (None, Effect::Kept(old)),
            atomic::UPDATE.. => Op::apply_rare_update(self.head, self.first, old),
        }
    }

    /// Returns the memory ordering of this operation on an atomic variable. For a compare-exchange it depends on
    /// whether the exchange `writes`.
    #[inline(always)]
    pub const fn atomic_order(&self, writes: bool) -> Order {
        let is_failure = self.variant() == atomic::COMPARE_EXCHANGE && !writes;
        order((self.head >> if is_failure { 52 } else { 48 }) as u16)
    }

    /// Returns whether this operation on an atomic variable reads it: all but stores do.
    #[inline(always)]
    pub const fn reads_atomic(&self) -> bool {
        self.variant() != atomic::STORE
    }

    /// Returns whether this operation on an atomic variable writes for every value: all but loads and
    /// compare-exchanges.
    #[inline(always)]
    pub const fn always_writes_atomic(&self) -> bool {
        !matches!(self.variant(), atomic::LOAD | atomic::COMPARE_EXCHANGE)
    }

    /// Returns this operation, which must be on a thread.
    #[inline(always)]
    pub const fn thread(&self) -> ThreadOp {
        ThreadOp::decode(self.variant())
    }

    /// Returns this operation, which must be on a mutex.
    #[inline(always)]
    pub const fn mutex(&self) -> MutexOp {
        MutexOp::decode(self.variant())
    }

    /// Returns this operation, which must be on a reader-writer lock.
    #[inline(always)]
    pub const fn rwlock(&self) -> RwLockOp {
        RwLockOp::decode(self.variant())
    }

    /// Returns this operation, which must be on a condition variable.
    #[inline(always)]
    pub const fn condvar(&self) -> CondvarOp {
        CondvarOp::decode(self.variant())
    }

    /// Returns this operation, which must be on a barrier.
    #[inline(always)]
    pub const fn barrier(&self) -> BarrierOp {
        BarrierOp::decode(self.variant(), self.first)
    }

    /// Returns this operation, which must be on a one-time initialisation.
    #[inline(always)]
    pub const fn once(&self) -> OnceOp {
        OnceOp::decode(self.variant())
    }

    /// Returns this operation, which must be on a park token.
    #[inline(always)]
    pub const fn park(&self) -> ParkOp {
        ParkOp::decode(self.variant())
    }

    /// Returns this operation, which must be on a channel.
    #[inline(always)]
    pub const fn channel(&self) -> ChannelOp {
        ChannelOp::decode(self.variant(), self.first)
    }

    /// Returns this operation, which must be on a semaphore.
    #[inline(always)]
    pub const fn semaphore(&self) -> SemaphoreOp {
        SemaphoreOp::decode(self.variant())
    }

    /// Returns this operation if it is on the waiters of a variable.
    #[inline(always)]
    pub const fn futex(&self) -> Option<FutexOp> {
        if self.group() == group::FUTEX {
            let small = (self.head >> 48) as u16;
            Some(FutexOp::decode(self.variant(), small, self.first, self.second))
        } else {
            None
        }
    }

    /// Returns whether this is an operation on a thread.
    #[inline(always)]
    pub const fn is_thread(&self) -> bool {
        self.group() == group::THREAD
    }

    /// Returns the memory ordering of a fence, or `None` for other operations.
    #[inline(always)]
    pub const fn fence(&self) -> Option<Order> {
        if self.group() == group::FENCE { Some(order((self.head >> 48) as u16)) } else { None }
    }

    /// Returns whether this is a choice of a number.
    #[inline(always)]
    pub const fn is_choose(&self) -> bool {
        self.group() == group::CHOOSE
    }

    /// Returns whether this is an operation on a reader-writer lock.
    #[inline(always)]
    pub const fn is_rwlock(&self) -> bool {
        self.group() == group::RWLOCK
    }

    /// Returns whether this is an operation on an atomic variable.
    #[inline(always)]
    pub const fn is_atomic(&self) -> bool {
        self.has(Traits::ATOMIC)
    }

    /// Returns this operation with a memory ordering that is at least `order`, as far as it can have it. Returns other
    /// operations than accesses to atomic variables and fences as they are.
    pub fn strengthened(&self, order: Order) -> Op {
        let action = match self.action() {
            Action::Atomic(op) => Action::Atomic(match op {
                AtomicOp::Load { order: is } => {
                    AtomicOp::Load { order: is.joined(order).of_load() }
                }
                AtomicOp::Store { order: is, value } => {
                    AtomicOp::Store { order: is.joined(order).of_store(), value }
                }
                AtomicOp::Update { order: is, scalar, function, operand } => {
                    AtomicOp::Update { order: is.joined(order), scalar, function, operand }
                }
                AtomicOp::CompareExchange { success, failure, weak, expected, new } => {
                    AtomicOp::CompareExchange {
                        success: success.joined(order),
                        failure: failure.joined(order).of_load(),
                        weak,
                        expected,
                        new,
                    }
                }
            }),
            Action::Fence(is) => Action::Fence(is.joined(order)),
            Action::Thread(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)
            | Action::Pause(_)
            | Action::Choose { .. } => return *self,
        };
        Op::new(self.object(), action)
    }

    /// Returns the encoding of this operation.
    #[inline(always)]
    pub const fn into_words(self) -> [u64; 3] {
        [self.head, self.first, self.second]
    }

    /// Returns the operation with this [encoding](Op::into_words).
    #[inline(always)]
    pub const fn from_words(head: u64, first: u64, second: u64) -> Op {
        Op { head, first, second }
    }

    /// Returns a number for the kind of the operation, whatever its object, ordering and operands.
    pub const fn kind(&self) -> u8 {
        (self.head >> 32) as u8
    }

    #[inline(always)]
    const fn group(&self) -> u8 {
        (self.head >> 36) as u8 & 15
    }

    #[inline(always)]
    const fn variant(&self) -> u8 {
        (self.head >> 32) as u8 & 15
    }

    /// Returns whether the action has one of these [`Traits`].
    #[inline(always)]
    pub(crate) const fn has(&self, traits: u8) -> bool {
        (self.head >> 40) as u8 & traits != 0
    }

    /// Returns the new value of an atomic variable that holds `old`. The operation is a swap, an addition or a
    /// subtraction: all keep the bits of one operand and add the other.
    #[inline(always)]
    const fn mask_and_add(&self, old: u64) -> u64 {
        let new = (old & self.second).wrapping_add(self.first);
        let unused = (self.head >> 56) as u32 & 63;
        new << unused >> unused
    }

    /// Applies an update that is no swap, addition or subtraction.
    #[cold]
    fn apply_rare_update(head: u64, first: u64, old: u64) -> (Option<u64>, Effect) {
        match Op::from_words(head, first, 0).action() {
            Action::Atomic(AtomicOp::Update { scalar, function, operand, .. }) => {
                (Some(function.apply(scalar, old, operand)), Effect::Value(old))
            }
            other => unreachable!("raddle invariant broken: {other:?} on an atomic variable"),
        }
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} on {:?}", self.action(), self.object())
    }
}
