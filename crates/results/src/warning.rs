//! Suspicious behaviour of executions that do not fail.

use raddle_core::{ObjectId, Site, ThreadId};

/// Suspicious behaviour of an execution that does not fail.
#[derive(Clone, PartialEq, Debug)]
pub struct Warning {
    /// The behaviour.
    pub kind: WarningKind,
    /// The first run that showed it, counted from one.
    pub execution: u64,
}

/// Kinds of suspicious behaviour.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum WarningKind {
    /// The execution leaves something behind.
    Leak(Leak),
    /// The threads acquire locks in different orders: each holds the lock that the one before it wants, and
    /// the first holds the lock that the last wants. A search for an execution in which they deadlock
    /// found none.
    LockOrder(Vec<LockOrder>),
}

/// Something that an execution leaves behind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Leak {
    /// A thread that is blocked forever after main has ended.
    Thread {
        /// The thread.
        thread: ThreadId,
        /// The object it waits for.
        object: ObjectId,
        /// Where it waits.
        site: Site,
    },
    /// A lock that its thread held when it ended.
    Lock {
        /// The thread.
        thread: ThreadId,
        /// The lock.
        object: ObjectId,
        /// Where it was acquired.
        site: Site,
    },
    /// Memory with an object in it that is never freed.
    Memory {
        /// The thread that allocated it.
        thread: ThreadId,
        /// The object.
        object: ObjectId,
        /// Where the object was first used.
        site: Site,
        /// The size of the memory.
        bytes: usize,
    },
}

/// A thread acquires a lock while it holds another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct LockOrder {
    /// The thread.
    pub thread: ThreadId,
    /// The lock it holds.
    pub held: ObjectId,
    /// Where it acquired the held lock.
    pub taken_at: Site,
    /// The lock it acquires.
    pub wanted: ObjectId,
    /// Where it acquires the wanted lock.
    pub wanted_at: Site,
}
