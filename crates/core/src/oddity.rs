//! What executions leave behind, and what else is odd about those that do not fail.

use alloc::vec::Vec;

use crate::{ObjectId, Site, ThreadId};

/// Something odd about an execution that does not fail.
#[derive(Clone, PartialEq, Debug)]
pub struct Warning {
    /// What it is.
    pub oddity: Oddity,
    /// The first run in which it was seen, counted from one.
    pub execution: u64,
}

/// What can be odd about an execution that does not fail.
#[derive(Clone, PartialEq, Debug)]
pub enum Oddity {
    /// It leaves something behind.
    Leak(Leak),
    /// Its threads take locks in different orders: each holds what the one before it wants, the first
    /// what the last wants. An execution in which they wait for one another was looked for and not
    /// found.
    LockOrder(Vec<LockOrder>),
}

/// What an execution can leave behind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Leak {
    /// A thread that waits for ever after main has ended.
    Thread {
        /// The thread.
        thread: ThreadId,
        /// What it waits for.
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
        /// Where it was taken.
        site: Site,
    },
    /// Memory with an object in it that nobody frees.
    Memory {
        /// Who allocated it.
        thread: ThreadId,
        /// The object.
        object: ObjectId,
        /// Where it was first used.
        site: Site,
        /// How much it is.
        bytes: usize,
    },
}

/// A thread takes a lock while it holds another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct LockOrder {
    /// The thread.
    pub thread: ThreadId,
    /// What it holds.
    pub held: ObjectId,
    /// Where it took that.
    pub taken_at: Site,
    /// What it takes.
    pub wanted: ObjectId,
    /// Where.
    pub wanted_at: Site,
}
