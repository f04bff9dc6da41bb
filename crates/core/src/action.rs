//! The operations of a program, grouped by the kind of object that they act on.

/// An operation, without its object.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// An operation on a thread: another one or the acting one.
    Thread(ThreadOp),
    /// An operation on an atomic variable.
    Atomic(AtomicOp),
    /// An operation on a plain shared variable.
    Cell(CellOp),
    /// An operation on a mutex.
    Mutex(MutexOp),
    /// An operation on a reader-writer lock.
    RwLock(RwLockOp),
    /// An operation on a condition variable.
    Condvar(CondvarOp),
    /// An operation on a barrier.
    Barrier(BarrierOp),
    /// An operation on a one-time initialisation.
    Once(OnceOp),
    /// An operation on a thread's park token.
    Park(ParkOp),
    /// An operation on a channel.
    Channel(ChannelOp),
    /// An operation on a semaphore.
    Semaphore(SemaphoreOp),
    /// An operation on the threads that wait for a change of an atomic variable.
    Futex(FutexOp),
    /// A memory fence. Accesses no object.
    Fence(Order),
    /// A voluntary pause. Accesses no object.
    Pause(PauseOp),
    /// A choice of a number below `bound`. Accesses no object.
    Choose {
        /// The number of values to choose from; at least one.
        bound: u32,
        /// What the number decides.
        question: Question,
    },
}

/// What a chosen number decides.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Question {
    /// The program asks for a number.
    Number,
    /// Whether the next operation of the thread fails spuriously: 1 if it does.
    Spurious,
}

/// Operations on a thread object.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ThreadOp {
    /// Starts the thread.
    Spawn,
    /// Ends the thread: its last event.
    Exit,
    /// Waits until the thread has ended.
    Join,
    /// Asks whether the thread has ended.
    IsFinished,
}

/// Operations on an atomic variable. Values are zero-extended to 64 bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AtomicOp {
    /// Reads the variable.
    Load {
        /// Memory ordering.
        order: Order,
    },
    /// Writes the variable.
    Store {
        /// Memory ordering.
        order: Order,
        /// The value written.
        value: u64,
    },
    /// Reads and writes the variable in one step.
    Update {
        /// Memory ordering.
        order: Order,
        /// The type of the variable, which decides width and sign.
        scalar: Scalar,
        /// The function that computes the new value.
        function: Rmw,
        /// The second argument of `function`.
        operand: u64,
    },
    /// Writes `new` if the variable holds `expected`.
    CompareExchange {
        /// Memory ordering of a successful exchange.
        success: Order,
        /// Memory ordering of a failed exchange.
        failure: Order,
        /// Whether the exchange may fail spuriously.
        weak: bool,
        /// The value that the exchange replaces.
        expected: u64,
        /// The value written.
        new: u64,
    },
}

/// The function of a read-modify-write.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Rmw {
    /// Replaces the value.
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
    /// Returns the new value of a variable of type `scalar` that holds `old`.
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
    /// `usize`
    Usize,
    /// `isize`
    Isize,
    /// The number of dropped senders of a channel, which the front end counts. The program has no such variable.
    Departures,
}

impl Scalar {
    /// Returns the number of bits of a variable of this type.
    #[inline(always)]
    pub const fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::U8 | Scalar::I8 => 8,
            Scalar::U16 | Scalar::I16 => 16,
            Scalar::U32 | Scalar::I32 => 32,
            Scalar::U64 | Scalar::I64 | Scalar::Pointer | Scalar::Departures => 64,
            Scalar::Usize | Scalar::Isize => usize::BITS,
        }
    }

    /// Returns whether values of this type are compared as signed numbers.
    #[inline(always)]
    pub const fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::Isize)
    }

    /// Returns `value` truncated to the width of this type.
    #[inline(always)]
    pub const fn truncate(self, value: u64) -> u64 {
        value & (u64::MAX >> (64 - self.bits()))
    }

    /// Returns `value`, of this type, as a signed number.
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
    /// Returns whether a load or fence with this ordering acquires.
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Returns whether a store or fence with this ordering releases.
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }

    /// Returns the weakest ordering that is at least as strong as both.
    pub const fn joined(self, other: Order) -> Order {
        if matches!(self, Order::SeqCst) || matches!(other, Order::SeqCst) {
            return Order::SeqCst;
        }
        let acquires = self.acquires() || other.acquires();
        match (acquires, self.releases() || other.releases()) {
            (false, false) => Order::Relaxed,
            (true, false) => Order::Acquire,
            (false, true) => Order::Release,
            (true, true) => Order::AcqRel,
        }
    }

    /// Returns the part of this ordering that a load can have.
    pub const fn of_load(self) -> Order {
        match self {
            Order::Relaxed | Order::Release => Order::Relaxed,
            Order::Acquire | Order::AcqRel => Order::Acquire,
            Order::SeqCst => Order::SeqCst,
        }
    }

    /// Returns the part of this ordering that a store can have.
    pub const fn of_store(self) -> Order {
        match self {
            Order::Relaxed | Order::Acquire => Order::Relaxed,
            Order::Release | Order::AcqRel => Order::Release,
            Order::SeqCst => Order::SeqCst,
        }
    }
}

/// Operations on a plain shared variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CellOp {
    /// Reads the variable.
    Read,
    /// Writes the variable.
    Write,
}

/// Operations on a mutex.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum MutexOp {
    /// Acquires the mutex; blocks while it is held.
    Lock,
    /// Acquires the mutex if it is free.
    TryLock,
    /// Releases the mutex.
    Unlock,
}

/// Operations on a reader-writer lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum RwLockOp {
    /// Acquires a read lock; blocks while a writer holds the lock.
    Read,
    /// Acquires a read lock if no writer holds the lock.
    TryRead,
    /// Releases a read lock.
    UnlockRead,
    /// Acquires the write lock; blocks while a reader or writer holds the lock.
    Write,
    /// Acquires the write lock if no reader or writer holds the lock.
    TryWrite,
    /// Releases the write lock.
    UnlockWrite,
}

/// Operations on a condition variable. A wait is `Enqueue`, an unlock, `Consume`, a lock.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CondvarOp {
    /// Joins the waiters.
    Enqueue,
    /// Leaves the waiters with a notification; blocks until there is one.
    Consume {
        /// Whether the wait may time out, and leave without a notification.
        timed: bool,
    },
    /// Notifies one of the threads now waiting.
    NotifyOne,
    /// Notifies all threads now waiting.
    NotifyAll,
}

/// Operations on a barrier. A wait is `Arrive`, then `Leave`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BarrierOp {
    /// Counts the thread among those that have arrived.
    Arrive,
    /// Leaves the barrier; blocks until the generation is complete.
    Leave {
        /// The generation this thread arrived in.
        generation: u64,
    },
}

/// Operations on a one-time initialisation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OnceOp {
    /// Begins the initialisation unless it is complete; blocks while another thread runs it.
    Begin,
    /// Ends the initialisation with success.
    Complete,
    /// Ends the initialisation with a failure; another thread may begin it again.
    Reset,
    /// Asks whether the initialisation is complete.
    IsComplete,
}

/// Operations on a thread's park token.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ParkOp {
    /// Takes the token; blocks until there is one.
    Park {
        /// Whether the wait may time out, and return without the token.
        timed: bool,
    },
    /// Makes the token available.
    Unpark,
}

/// Operations on a channel.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ChannelOp {
    /// Puts a message in; blocks while the channel is full.
    Send,
    /// Puts a message in if there is room.
    TrySend,
    /// Waits until the message sent with this ticket has been received (rendezvous channels).
    AwaitTaken {
        /// The [`Effect::Ticket`](crate::Effect::Ticket) of the send.
        ticket: u64,
    },
    /// Takes a message out; blocks while the channel is empty.
    Receive {
        /// Whether the wait may time out, and return without a message.
        timed: bool,
    },
    /// Takes a message out if there is one.
    TryReceive,
    /// Drops the last sender.
    CloseSenders,
    /// Drops the receiver.
    CloseReceiver,
}

/// Operations on a semaphore.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SemaphoreOp {
    /// Decrements the count; blocks while it is zero.
    Wait {
        /// Whether the wait may time out, and leave the count as it is.
        timed: bool,
    },
    /// Decrements the count if it is not zero.
    TryWait,
    /// Increments the count.
    Post,
    /// Reads the count.
    Value,
}

/// Operations on the threads that wait for a change of an atomic variable. A wait is `Enqueue` and then `Consume` if the
/// variable has the expected value, and `Look` otherwise. The oldest waiters are woken first.
///
/// A variable has numbered parts. Each has waiters of its own, and a requeue moves waiters from one part to another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FutexOp {
    /// Joins the waiters of a part.
    Enqueue {
        /// The part.
        part: u8,
        /// The bits of the thread: a wake-up reaches it if they share one.
        mask: u32,
    },
    /// Sees that the variable has another value, and does not wait.
    Look,
    /// Leaves the waiters with a wake-up; blocks until there is one.
    Consume {
        /// Whether the wait may time out, and leave without a wake-up.
        timed: bool,
    },
    /// Wakes threads.
    Wake {
        /// The part whose waiters are woken.
        part: u8,
        /// The maximal number of threads.
        count: u32,
        /// Threads without one of these bits are not woken.
        mask: u32,
    },
    /// Wakes threads, and moves others to another part.
    Requeue {
        /// The part whose waiters are woken or moved.
        from: u8,
        /// The part to which they are moved.
        to: u8,
        /// The maximal number of threads to wake.
        wakes: u32,
        /// The maximal number of threads to move.
        moves: u32,
    },
}

/// Voluntary pauses.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum PauseOp {
    /// Yields to other threads.
    Yield,
    /// Marks one iteration of a spin loop.
    Spin,
    /// Advances this thread's virtual time.
    Sleep {
        /// The time in nanoseconds.
        nanos: u64,
    },
}
