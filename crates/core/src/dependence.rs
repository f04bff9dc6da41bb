//! The dependence relation: which operations must keep their order.
//!
//! Two operations are dependent if one thread performs both, or if they access one object and their accesses
//! [conflict](Access::conflicts). Sampling, reduction, fingerprints and shrinking all use this definition.

use crate::op::Traits;
use crate::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, CondvarOp, Effect, Event, FutexOp, MutexOp,
    ObjectId, OnceOp, Op, ParkOp, Pending, RwLockOp, SemaphoreOp, ThreadId, ThreadOp,
};

/// How an operation accesses its object.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// Leaves the object unchanged. Reads commute.
    Read,
    /// May change the object.
    Update,
    /// Changes the object in a way that commutes with other Shares, not with Reads: a reader of a lock comes or leaves.
    Share,
}

impl Access {
    /// Returns whether two accesses of one object by different threads must keep their order: all but two Reads and
    /// two Shares.
    #[inline(always)]
    pub const fn conflicts(self, other: Access) -> bool {
        matches!(self, Access::Update) || self as u8 != other as u8
    }

    /// Returns whether this access may change the object.
    #[inline(always)]
    pub const fn changes(self) -> bool {
        !matches!(self, Access::Read)
    }
}

impl Action {
    /// Returns whether this action leaves its object unchanged in every state.
    #[inline(always)]
    pub(crate) const fn only_reads(&self) -> bool {
        match self {
            Action::Atomic(AtomicOp::Load { .. })
            | Action::Cell(CellOp::Read)
            | Action::Thread(ThreadOp::Join | ThreadOp::IsFinished)
            | Action::Barrier(BarrierOp::Leave { .. })
            | Action::Once(OnceOp::IsComplete)
            | Action::Channel(ChannelOp::AwaitTaken { .. })
            | Action::Semaphore(SemaphoreOp::Value)
            | Action::Futex(FutexOp::Look) => true,
            Action::Atomic(
                AtomicOp::Store { .. } | AtomicOp::Update { .. } | AtomicOp::CompareExchange { .. },
            )
            | Action::Cell(CellOp::Write)
            | Action::Thread(ThreadOp::Spawn | ThreadOp::Exit)
            | Action::Barrier(BarrierOp::Arrive)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Once(OnceOp::Begin | OnceOp::Complete | OnceOp::Reset)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(
                SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait | SemaphoreOp::Post,
            )
            | Action::Futex(
                FutexOp::Enqueue { .. }
                | FutexOp::Consume { .. }
                | FutexOp::Wake { .. }
                | FutexOp::Requeue { .. },
            )
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => false,
        }
    }

    /// Returns whether this action, unless it fails, changes its object in a way that commutes with other such actions.
    ///
    /// A reader that comes or leaves is not noticed by other readers. A failed attempt to read is a Read: while a writer
    /// holds the lock no reader comes or leaves.
    #[inline(always)]
    pub(crate) const fn shares(&self) -> bool {
        match self {
            Action::RwLock(op) => match op {
                RwLockOp::Read | RwLockOp::TryRead | RwLockOp::UnlockRead => true,
                RwLockOp::Write | RwLockOp::TryWrite | RwLockOp::UnlockWrite => false,
            },
            Action::Thread(_)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => false,
        }
    }

    /// Returns whether this action leaves its object unchanged in some states: if it fails or has nothing to do.
    #[inline(always)]
    pub(crate) const fn may_only_read(&self) -> bool {
        match self {
            Action::Atomic(AtomicOp::CompareExchange { .. })
            | Action::Mutex(MutexOp::TryLock)
            | Action::RwLock(RwLockOp::TryRead | RwLockOp::TryWrite)
            | Action::Condvar(CondvarOp::NotifyOne | CondvarOp::NotifyAll)
            | Action::Once(OnceOp::Begin)
            // A park without a token and an unpark with one change nothing.
            | Action::Park(ParkOp::Park { .. } | ParkOp::Unpark)
            | Action::Channel(
                ChannelOp::Send
                | ChannelOp::TrySend
                | ChannelOp::Receive { .. }
                | ChannelOp::TryReceive,
            )
            | Action::Semaphore(SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait) => true,
            Action::Thread(_)
            | Action::Atomic(
                AtomicOp::Load { .. } | AtomicOp::Store { .. } | AtomicOp::Update { .. },
            )
            | Action::Cell(_)
            | Action::Mutex(MutexOp::Lock | MutexOp::Unlock)
            | Action::RwLock(
                RwLockOp::Read | RwLockOp::Write | RwLockOp::UnlockRead | RwLockOp::UnlockWrite,
            )
            // A wait that times out still leaves the waiters.
            | Action::Condvar(CondvarOp::Enqueue | CondvarOp::Consume { .. })
            | Action::Barrier(_)
            | Action::Once(OnceOp::Complete | OnceOp::Reset | OnceOp::IsComplete)
            | Action::Channel(
                ChannelOp::AwaitTaken { .. } | ChannelOp::CloseSenders | ChannelOp::CloseReceiver,
            )
            | Action::Semaphore(SemaphoreOp::Post | SemaphoreOp::Value)
            // A wait that times out still leaves the waiters. A wake-up that finds none is ordered with later waits.
            | Action::Futex(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => false,
        }
    }
}

impl Effect {
    /// Returns whether an operation with this effect that [`may only read`](Action::may_only_read) did only read.
    #[inline(always)]
    const fn is_failure(self) -> bool {
        match self {
            Effect::No | Effect::Kept(_) | Effect::Closed => true,
            Effect::None
            | Effect::Value(_)
            | Effect::Exchanged(_)
            | Effect::Yes
            | Effect::Ticket(_)
            | Effect::LastTicket(_) => false,
        }
    }
}

/// Returns whether two accesses of different threads must keep their order.
#[inline(always)]
pub fn conflict(a: (ObjectId, Access), b: (ObjectId, Access)) -> bool {
    a.0 == b.0 && a.0 != ObjectId::NONE && a.1.conflicts(b.1)
}

impl Op {
    /// Returns how this operation may access its object: an Update or Share if it is one in some state.
    #[inline(always)]
    pub fn access(&self) -> Access {
        if self.has(Traits::READS) {
            Access::Read
        } else if self.has(Traits::SHARES) {
            Access::Share
        } else {
            Access::Update
        }
    }

    /// Returns how this operation, performed with `effect`, accessed its object.
    #[inline(always)]
    pub fn access_with(&self, effect: Effect) -> Access {
        if self.has(Traits::SHARES) && !effect.is_failure() {
            Access::Share
        } else {
            self.exclusive_access_with(effect)
        }
    }

    /// Returns how this operation, performed with `effect`, accessed its object. It is not on a reader-writer lock.
    #[inline(always)]
    pub fn exclusive_access_with(&self, effect: Effect) -> Access {
        if self.has(Traits::READS | Traits::MAY_ONLY_READ)
            && (self.has(Traits::READS) || effect.is_failure())
        {
            Access::Read
        } else {
            Access::Update
        }
    }

    /// Returns whether this operation and `other`, both pending in different threads, may conflict.
    #[inline(always)]
    pub fn conflicts(&self, other: &Op) -> bool {
        conflict((self.object(), self.access()), (other.object(), other.access()))
    }
}

/// The part of an event that decides which other events it depends on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// The thread.
    pub thread: ThreadId,
    /// The accessed object.
    pub object: ObjectId,
    /// How the object was accessed.
    pub access: Access,
}

impl Footprint {
    /// Returns whether the two events must keep their order.
    #[inline(always)]
    pub fn depends(&self, other: &Footprint) -> bool {
        self.thread == other.thread
            || conflict((self.object, self.access), (other.object, other.access))
    }
}

impl Event {
    /// Returns the part of this event that decides which others it depends on.
    #[inline(always)]
    pub fn footprint(&self) -> Footprint {
        Footprint { thread: self.id.thread, object: self.op.object(), access: self.access() }
    }

    /// Returns how this event accessed its object.
    #[inline(always)]
    pub fn access(&self) -> Access {
        self.op.access_with(self.effect)
    }

    /// Returns whether this event and `other` are dependent: same thread, or conflicting as performed.
    #[inline(always)]
    pub fn depends(&self, other: &Event) -> bool {
        self.id.thread == other.id.thread
            || conflict((self.op.object(), self.access()), (other.op.object(), other.access()))
    }

    /// Returns whether this event and a pending operation may be dependent.
    #[inline(always)]
    pub fn depends_pending(&self, other: &Pending) -> bool {
        self.id.thread == other.thread
            || conflict((self.op.object(), self.access()), (other.op.object(), other.op.access()))
    }
}
