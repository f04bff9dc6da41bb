//! Changes of the program with which no execution of the check fails.

use raddle_core::{ObjectId, Op, Order, Site};

use crate::{CauseEvent, OrderedPair};

/// A change of the program with which no execution of the check fails.
#[derive(Clone, Debug)]
pub struct Repair {
    /// The change.
    pub change: Change,
    /// The number of executions of the changed program that were made, which are all of them up to the order of independent
    /// steps.
    pub executions: u64,
}

/// A change of the program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// Memory orderings are stronger, or there are more fences.
    Orders(Vec<StrongerOrder>),
    /// The second event always happens before the first. In the failing execution it does not.
    Turned(OrderedPair),
    /// Only one thread at a time is in one of these regions.
    Excluded(Vec<Region>),
    /// The locks are acquired in this order everywhere.
    LockOrder {
        /// The locks, in the failing execution.
        locks: Vec<ObjectId>,
        /// What changes for that.
        moved: Vec<MovedLock>,
    },
}

/// Two acquisitions whose order changes.
#[derive(Copy, Clone, Debug)]
pub struct MovedLock {
    /// The one that comes first in the changed program.
    pub first: CauseEvent,
    /// The one before it in the program.
    pub second: CauseEvent,
}

/// A memory ordering that is stronger than in the program, or a fence that is not in the program.
#[derive(Copy, Clone, Debug)]
pub struct StrongerOrder {
    /// The place in the program.
    pub site: Site,
    /// The access or fence at this place, as it is in the program.
    pub op: Op,
    /// The ordering that the access has in the changed program, or the fence before it.
    pub order: Order,
    /// Whether the change is a fence before the access.
    pub is_fence: bool,
}

/// A part of the program, from one operation to another one by the same thread, both included.
#[derive(Copy, Clone, Debug)]
pub struct Region {
    /// The first operation, as the failing execution has it.
    pub first: CauseEvent,
    /// The last operation.
    pub last: CauseEvent,
}

/// Why something is not known about a failure.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unknown {
    /// Threads share state that raddle does not see.
    HiddenState,
    /// The execution has too many steps.
    Steps,
    /// The number of executions that were allowed was not enough.
    Executions,
    /// The time that was allowed was not enough.
    Time,
    /// Executions that fail leave threads behind, and no more of them were allowed.
    Leaks,
    /// A shorter execution of this kind would say nothing more, or cannot be found by changing the order of steps.
    Kind,
    /// The same choices do not lead to the same failure.
    NotRepeatable,
    /// Memory orderings cause the failure, and not the order of steps.
    WeakMemory,
    /// No order of steps that raddle can name causes the failure.
    NoOrder,
    /// It fails in the same way with sequentially consistent orderings everywhere.
    SeqCstToo,
    /// No change of the kinds that raddle tries is enough.
    NoChange,
    /// The front end cannot change the program.
    FrontEnd,
}
