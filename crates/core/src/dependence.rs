//! The one home of dependence: which operations must keep their order.
//!
//! Two operations are dependent if one thread performs both, or if they access one object and at
//! least one access is an Update. Sampling, reduction, fingerprints and shrinking all ask here.

use crate::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, Effect, Event, OnceOp, Op, ParkOp, Pending,
    RwLockOp, ThreadOp,
};
use crate::{CondvarOp, MutexOp, ObjectId};

/// How an operation touches its object.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Access {
    /// Leaves the object as it is. Reads commute.
    Read,
    /// May change it.
    Update,
}

/// The access of an operation that has not happened yet: what it may do in some state.
#[inline]
pub fn access(action: &Action) -> Access {
    match action {
        Action::Atomic(AtomicOp::Load { .. })
        | Action::Cell(CellOp::Read)
        | Action::Thread(ThreadOp::Join | ThreadOp::IsFinished)
        | Action::Barrier(BarrierOp::Leave { .. })
        | Action::Channel(ChannelOp::AwaitTaken { .. }) => Access::Read,
        Action::Atomic(
            AtomicOp::Store { .. } | AtomicOp::Update { .. } | AtomicOp::CompareExchange { .. },
        )
        | Action::Cell(CellOp::Write)
        | Action::Thread(ThreadOp::Spawn | ThreadOp::Exit)
        | Action::Barrier(BarrierOp::Arrive)
        | Action::Mutex(_)
        | Action::RwLock(_)
        | Action::Condvar(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => Access::Update,
    }
}

/// The access of an operation that happened with `effect`: one that failed, or found nothing to
/// do, only read.
#[inline]
pub fn executed_access(action: &Action, effect: Effect) -> Access {
    let changed_nothing = match action {
        Action::Atomic(AtomicOp::CompareExchange { .. }) => matches!(effect, Effect::Kept(_)),
        Action::Mutex(MutexOp::TryLock)
        | Action::RwLock(RwLockOp::TryRead | RwLockOp::TryWrite)
        | Action::Condvar(CondvarOp::NotifyOne | CondvarOp::NotifyAll)
        | Action::Once(OnceOp::Begin)
        | Action::Park(_)
        | Action::Channel(
            ChannelOp::Send
            | ChannelOp::TrySend
            | ChannelOp::Receive { .. }
            | ChannelOp::TryReceive,
        ) => matches!(effect, Effect::Flag(false) | Effect::Closed),
        Action::Thread(_)
        | Action::Atomic(
            AtomicOp::Load { .. } | AtomicOp::Store { .. } | AtomicOp::Update { .. },
        )
        | Action::Cell(_)
        | Action::Mutex(MutexOp::Lock | MutexOp::Unlock)
        | Action::RwLock(
            RwLockOp::Read | RwLockOp::Write | RwLockOp::UnlockRead | RwLockOp::UnlockWrite,
        )
        | Action::Condvar(CondvarOp::Enqueue | CondvarOp::Consume { .. })
        | Action::Barrier(_)
        | Action::Once(OnceOp::Complete | OnceOp::Reset)
        | Action::Channel(
            ChannelOp::AwaitTaken { .. } | ChannelOp::CloseSenders | ChannelOp::CloseReceiver,
        )
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => false,
    };
    if changed_nothing { Access::Read } else { access(action) }
}

/// Whether two accesses, of different threads, must keep their order.
#[inline]
pub fn conflict(a: (ObjectId, Access), b: (ObjectId, Access)) -> bool {
    a.0 == b.0 && a.0 != ObjectId::NONE && (a.1 == Access::Update || b.1 == Access::Update)
}

impl Op {
    /// Whether this and `other`, by different threads and neither performed yet, may conflict.
    #[inline]
    pub fn conflicts(&self, other: &Op) -> bool {
        conflict((self.object, access(&self.action)), (other.object, access(&other.action)))
    }
}

impl Event {
    /// How this event touched its object.
    #[inline]
    pub fn access(&self) -> Access {
        executed_access(&self.op.action, self.effect)
    }

    /// Whether this event and `other` are dependent: same thread, or conflicting as performed.
    #[inline]
    pub fn depends(&self, other: &Event) -> bool {
        self.id.thread == other.id.thread
            || conflict((self.op.object, self.access()), (other.op.object, other.access()))
    }

    /// Whether this event and an operation still pending may be dependent.
    #[inline]
    pub fn depends_pending(&self, other: &Pending) -> bool {
        self.id.thread == other.thread
            || conflict(
                (self.op.object, self.access()),
                (other.op.object, access(&other.op.action)),
            )
    }
}

// `ParkOp` is matched as a whole above: a park without a token and an unpark with one change
// nothing. This keeps the build honest if a variant is added.
const _: fn(ParkOp) = |op| match op {
    ParkOp::Park { .. } | ParkOp::Unpark => {}
};
