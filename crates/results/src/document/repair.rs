//! Repairs in documents.

use super::{CauseEvent, Place};
use crate::Unknown;
use crate::json::{object, variants, words};

/// A change of the program with which no execution of the check fails.
#[derive(Clone, PartialEq, Debug)]
pub struct Repair {
    /// The change.
    pub change: Change,
    /// The number of executions of the changed program that were made: all of them, up to the order of independent steps.
    pub executions: u64,
}

/// A change of the program.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Memory orderings are stronger, or there are more fences.
    Orders {
        /// The changes.
        orders: Vec<StrongerOrder>,
    },
    /// One step always happens before another.
    Turned {
        /// The step that has to come first. It comes second in the failing execution, or not at all.
        first: CauseEvent,
        /// The step that has to come second.
        second: CauseEvent,
    },
    /// Only one thread at a time is in one of these regions.
    Excluded {
        /// The regions.
        regions: Vec<Region>,
    },
    /// The locks are acquired in one order everywhere.
    LockOrder {
        /// The locks, in this order.
        locks: Vec<u32>,
        /// What changes for that.
        moved: Vec<MovedLock>,
    },
}

/// Two acquisitions whose order changes.
#[derive(Clone, PartialEq, Debug)]
pub struct MovedLock {
    /// The one that comes first in the changed program.
    pub first: CauseEvent,
    /// The one before it in the program.
    pub second: CauseEvent,
}

/// A memory ordering that is stronger than in the program, or a fence that is not in the program.
#[derive(Clone, PartialEq, Debug)]
pub struct StrongerOrder {
    /// The place in the program.
    pub site: Place,
    /// The access or fence there: `load`, `fetch_add`, `fence`.
    pub operation: String,
    /// The ordering in the program; of a compare-exchange both, `AcqRel, Relaxed`.
    pub from: String,
    /// The ordering that is needed.
    pub to: String,
    /// Whether `to` is the ordering of a new fence before the access.
    pub is_fence: bool,
}

/// A part of the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// The first operation.
    pub first: CauseEvent,
    /// The last operation.
    pub last: CauseEvent,
}

object! {
    Repair { change, executions }
    StrongerOrder { site, operation, from, to, is_fence }
    Region { first, last }
    MovedLock { first, second }
}

variants! {
    Change {
        "orders" = Orders { orders },
        "turned" = Turned { first, second },
        "excluded" = Excluded { regions },
        "lock-order" = LockOrder { locks, moved },
    }
}

words! {
    Unknown {
        "hidden-state" = HiddenState,
        "steps" = Steps,
        "executions" = Executions,
        "time" = Time,
        "leaks" = Leaks,
        "kind" = Kind,
        "not-repeatable" = NotRepeatable,
        "weak-memory" = WeakMemory,
        "no-order" = NoOrder,
        "seq-cst-too" = SeqCstToo,
        "no-change" = NoChange,
        "front-end" = FrontEnd,
    }
}
