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

use crate::{Effect, ObjectId};

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

    /// An operation of this kind on `object`, with this ordering and operand. The kind is an
    /// operation made with [`Update`](AtomicOp::Update), [`Order::Relaxed`] and operand 0, a constant.
    #[inline(always)]
    pub const fn update(kind: Op, object: ObjectId, order: Order, operand: u64) -> Op {
        let subtracts = kind.variant() == 3 + Rmw::Sub as u8;
        let first = if subtracts { operand.wrapping_neg() } else { operand };
        let head = kind.head & !0xffff_ffff | object.0 as u64 | (order as u64) << 48;
        Op { head, first, second: kind.second }
    }

    /// The same operation on `object`.
    #[inline(always)]
    pub const fn on(self, object: ObjectId) -> Op {
        Op { head: self.head & !0xffff_ffff | object.0 as u64, ..self }
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
        let variant = self.variant();
        if matches!(variant, 3..=5) {
            // Swap, add and subtract are all "keep these bits, then add".
            let new = (old & self.second).wrapping_add(self.first);
            let missing = (self.head >> 56) as u32 & 63;
            return (Some(new << missing >> missing), Effect::Value(old));
        }
        match variant {
            0 => (None, Effect::Value(old)),
            1 => (Some(self.first), Effect::None),
            2 if old == self.first => (Some(self.second), Effect::Exchanged(old)),
            2 => (None, Effect::Kept(old)),
            3.. => self.apply_other_update(old),
        }
    }

    #[cold]
    fn apply_other_update(&self, old: u64) -> (Option<u64>, Effect) {
        match self.action() {
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

    /// Whether this is an operation on a mutex.
    #[inline(always)]
    pub const fn is_mutex(&self) -> bool {
        (self.head >> 36) as u8 & 15 == crate::code::group::MUTEX
    }

    /// Whether this is an operation on a thread.
    #[inline(always)]
    pub const fn is_thread(&self) -> bool {
        (self.head >> 36) as u8 & 15 == crate::code::group::THREAD
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

/// What happens to an object, grouped by the kind of object.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// On the state of another thread or of the acting one.
    Thread(ThreadOp),
    /// On an atomic variable.
    Atomic(AtomicOp),
    /// On a plain shared variable.
    Cell(CellOp),
    /// On a mutex.
    Mutex(MutexOp),
    /// On a reader-writer lock.
    RwLock(RwLockOp),
    /// On a condition variable.
    Condvar(CondvarOp),
    /// On a barrier.
    Barrier(BarrierOp),
    /// On a one-time initialisation.
    Once(OnceOp),
    /// On a thread's park token.
    Park(ParkOp),
    /// On a channel.
    Channel(ChannelOp),
    /// A memory fence; touches no object.
    Fence(Order),
    /// A voluntary pause; touches no object.
    Pause(PauseOp),
    /// Asks for a number below `bound`; touches no object.
    Choose {
        /// How many values there are to choose from; at least one.
        bound: u32,
    },
}

/// Operations on a thread object.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ThreadOp {
    /// Start the thread.
    Spawn,
    /// The thread's last event.
    Exit,
    /// Wait until the thread has ended.
    Join,
    /// Ask whether the thread has ended.
    IsFinished,
}

/// Operations on an atomic variable. Values are zero-extended to 64 bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AtomicOp {
    /// Read it.
    Load {
        /// Memory ordering.
        order: Order,
    },
    /// Write it.
    Store {
        /// Memory ordering.
        order: Order,
        /// The value written.
        value: u64,
    },
    /// Read and write it in one step.
    Update {
        /// Memory ordering.
        order: Order,
        /// The type of the variable, which decides width and sign.
        scalar: Scalar,
        /// What is computed.
        function: Rmw,
        /// The second argument of `function`.
        operand: u64,
    },
    /// Write `new` if it holds `expected`.
    CompareExchange {
        /// Memory ordering of a successful exchange.
        success: Order,
        /// Memory ordering of a failed one.
        failure: Order,
        /// Whether it may fail although the values agree.
        weak: bool,
        /// The value looked for.
        expected: u64,
        /// The value written.
        new: u64,
    },
}

/// The function of a read-modify-write.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Rmw {
    /// Replace.
    Swap,
    /// Wrapping addition.
    Add,
    /// Wrapping subtraction.
    Sub,
    /// Bitwise and.
    And,
    /// Bitwise and, negated.
    Nand,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// The larger value.
    Max,
    /// The smaller value.
    Min,
}

impl Rmw {
    /// The value a variable of type `scalar` holds afterwards.
    #[inline(always)]
    pub fn apply(self, scalar: Scalar, old: u64, operand: u64) -> u64 {
        let new = match self {
            Rmw::Swap => operand,
            Rmw::Add => old.wrapping_add(operand),
            Rmw::Sub => old.wrapping_sub(operand),
            Rmw::And => old & operand,
            Rmw::Nand => !(old & operand),
            Rmw::Or => old | operand,
            Rmw::Xor => old ^ operand,
            Rmw::Max if scalar.is_signed() => {
                if scalar.sign_extend(old) < scalar.sign_extend(operand) { operand } else { old }
            }
            Rmw::Min if scalar.is_signed() => {
                if scalar.sign_extend(operand) < scalar.sign_extend(old) { operand } else { old }
            }
            Rmw::Max => old.max(operand),
            Rmw::Min => old.min(operand),
        };
        scalar.truncate(new)
    }
}

/// The type of an atomic variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Scalar {
    /// `bool`
    Bool,
    /// `u8`
    U8,
    /// `u16`
    U16,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// `i8`
    I8,
    /// `i16`
    I16,
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// A pointer. Its value is an address, which may differ between runs.
    Pointer,
}

impl Scalar {
    /// How many bits a variable of this type has.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::U8 | Scalar::I8 => 8,
            Scalar::U16 | Scalar::I16 => 16,
            Scalar::U32 | Scalar::I32 => 32,
            Scalar::U64 | Scalar::I64 | Scalar::Pointer => 64,
        }
    }

    /// Whether its values are compared as signed numbers.
    #[inline(always)]
    pub const fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// The bits of `value` that a variable of this type keeps.
    #[inline(always)]
    pub const fn truncate(self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - self.bits()))
    }

    /// `value` as the signed number it stands for.
    #[inline(always)]
    pub const fn sign_extend(self, value: u64) -> i64 {
        let unused = 64 - self.bits();
        ((value << unused) as i64) >> unused
    }
}

/// Memory ordering of an atomic access or a fence.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Order {
    /// No ordering.
    Relaxed,
    /// Acquire.
    Acquire,
    /// Release.
    Release,
    /// Acquire and release.
    AcqRel,
    /// Sequentially consistent.
    SeqCst,
}

/// Operations on a plain shared variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CellOp {
    /// Read it.
    Read,
    /// Write it.
    Write,
}

/// Operations on a mutex.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum MutexOp {
    /// Take it; waits while it is held.
    Lock,
    /// Take it if it is free.
    TryLock,
    /// Give it back.
    Unlock,
}

/// Operations on a reader-writer lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RwLockOp {
    /// Take it for reading; waits while a writer holds it.
    Read,
    /// Take it for reading if no writer holds it.
    TryRead,
    /// Give a read lock back.
    UnlockRead,
    /// Take it for writing; waits while anybody holds it.
    Write,
    /// Take it for writing if nobody holds it.
    TryWrite,
    /// Give the write lock back.
    UnlockWrite,
}

/// Operations on a condition variable. A wait is `Enqueue`, an unlock, `Consume`, a lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CondvarOp {
    /// Join the waiters.
    Enqueue,
    /// Leave them with a notification.
    Consume {
        /// A timed wait may leave without one.
        timed: bool,
    },
    /// Notify one of the threads now waiting.
    NotifyOne,
    /// Notify all threads now waiting.
    NotifyAll,
}

/// Operations on a barrier. A wait is `Arrive`, then `Leave`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BarrierOp {
    /// Be counted.
    Arrive,
    /// Go on once the generation is complete.
    Leave {
        /// The generation this thread arrived in.
        generation: u64,
    },
}

/// Operations on a one-time initialisation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OnceOp {
    /// Find out whether to initialise; waits while another thread does.
    Begin,
    /// The initialisation is done.
    Complete,
    /// The initialisation failed; somebody else may try.
    Reset,
}

/// Operations on a thread's park token.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ParkOp {
    /// Take the token.
    Park {
        /// A timed park may go on without it.
        timed: bool,
    },
    /// Provide the token.
    Unpark,
}

/// Operations on a channel.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ChannelOp {
    /// Put a message in; waits while the channel is full.
    Send,
    /// Put a message in if there is room.
    TrySend,
    /// Wait until the message sent with this ticket was taken (rendezvous channels).
    AwaitTaken {
        /// What [`Effect::Ticket`](crate::Effect::Ticket) the send returned.
        ticket: u64,
    },
    /// Take a message; waits while the channel is empty.
    Receive {
        /// A timed receive may go on without one.
        timed: bool,
    },
    /// Take a message if there is one.
    TryReceive,
    /// The last sender is gone.
    CloseSenders,
    /// The receiver is gone.
    CloseReceiver,
}

/// Voluntary pauses.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PauseOp {
    /// Let others go first.
    Yield,
    /// One turn of a spin loop.
    Spin,
    /// Advance this thread's virtual time.
    Sleep {
        /// By how much.
        nanos: u64,
    },
}
