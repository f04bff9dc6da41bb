//! Which operations can block, and which yield to other threads.

use crate::op::Traits;
use crate::{
    Action, BarrierOp, ChannelOp, CondvarOp, Effect, FutexOp, MutexOp, OnceOp, Op, ParkOp,
    RwLockOp, SemaphoreOp, ThreadOp,
};

impl Op {
    /// Returns whether some state of the object disables this operation.
    #[inline(always)]
    pub const fn may_block(&self) -> bool {
        self.has(Traits::BLOCKS)
    }

    /// Returns whether this operation is a voluntary pause.
    #[inline(always)]
    pub const fn is_pause(&self) -> bool {
        self.has(Traits::PAUSES)
    }

    /// Returns whether this operation, performed with `effect`, yielded to other threads: a pause, or a wait that timed
    /// out.
    #[inline(always)]
    pub const fn has_yielded(&self, effect: Effect) -> bool {
        self.has(Traits::PAUSES | Traits::TIMED)
            && (self.has(Traits::PAUSES) || matches!(effect, Effect::No))
    }
}

impl Action {
    /// Returns whether some state of the object disables this action.
    #[inline(always)]
    pub(crate) const fn may_block(&self) -> bool {
        match self {
            Action::Thread(op) => match op {
                ThreadOp::Join => true,
                ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::IsFinished => false,
            },
            Action::Mutex(op) => match op {
                MutexOp::Lock => true,
                MutexOp::TryLock | MutexOp::Unlock => false,
            },
            Action::RwLock(op) => match op {
                RwLockOp::Read | RwLockOp::Write => true,
                RwLockOp::TryRead
                | RwLockOp::TryWrite
                | RwLockOp::UnlockRead
                | RwLockOp::UnlockWrite => false,
            },
            Action::Condvar(op) => match op {
                CondvarOp::Consume { timed } => !*timed,
                CondvarOp::Enqueue | CondvarOp::NotifyOne | CondvarOp::NotifyAll => false,
            },
            Action::Barrier(op) => match op {
                BarrierOp::Leave { .. } => true,
                BarrierOp::Arrive => false,
            },
            Action::Once(op) => match op {
                OnceOp::Begin => true,
                OnceOp::Complete | OnceOp::Reset | OnceOp::IsComplete => false,
            },
            Action::Park(op) => match op {
                ParkOp::Park { timed } => !*timed,
                ParkOp::Unpark => false,
            },
            Action::Channel(op) => match op {
                ChannelOp::Send | ChannelOp::AwaitTaken { .. } => true,
                ChannelOp::Receive { timed } => !*timed,
                ChannelOp::TrySend
                | ChannelOp::TryReceive
                | ChannelOp::CloseSenders
                | ChannelOp::CloseReceiver => false,
            },
            Action::Semaphore(op) => match op {
                SemaphoreOp::Wait { timed } => !*timed,
                SemaphoreOp::TryWait | SemaphoreOp::Post | SemaphoreOp::Value => false,
            },
            Action::Futex(op) => match op {
                FutexOp::Consume { timed } => !*timed,
                FutexOp::Enqueue { .. }
                | FutexOp::Look
                | FutexOp::Wake { .. }
                | FutexOp::Requeue { .. } => false,
            },
            Action::Atomic(_)
            | Action::Cell(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => false,
        }
    }

    /// Returns whether this action is a wait that may time out.
    #[inline(always)]
    pub(crate) const fn is_timed(&self) -> bool {
        match self {
            Action::Condvar(CondvarOp::Consume { timed })
            | Action::Park(ParkOp::Park { timed })
            | Action::Channel(ChannelOp::Receive { timed })
            | Action::Semaphore(SemaphoreOp::Wait { timed })
            | Action::Futex(FutexOp::Consume { timed }) => *timed,
            Action::Thread(_)
            | Action::Atomic(_)
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
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => false,
        }
    }

    /// Returns the traits of this action, which an [`Op`] stores.
    #[inline(always)]
    pub(crate) const fn traits(&self) -> Traits {
        let mut traits = 0;
        if self.may_block() {
            traits |= Traits::BLOCKS;
        }
        if self.only_reads() {
            traits |= Traits::READS;
        }
        if self.may_only_read() {
            traits |= Traits::MAY_ONLY_READ;
        }
        if matches!(self, Action::Pause(_)) {
            traits |= Traits::PAUSES;
        }
        if matches!(self, Action::Atomic(_)) {
            traits |= Traits::ATOMIC;
        }
        if self.shares() {
            traits |= Traits::SHARES;
        }
        if self.is_timed() {
            traits |= Traits::TIMED;
        }
        Traits(traits)
    }
}
