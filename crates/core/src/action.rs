//! What can happen to an object, by the kind of object.

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

impl Order {
    /// Whether it acquires what a store that it reads released.
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether it releases what came before it.
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
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
    /// Ask whether it is done.
    IsComplete,
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
