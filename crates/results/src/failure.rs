//! Failing executions: what went wrong, and how to replay it.

use raddle_core::{End, ObjectId, Panic, PlainAccess, Site, ThreadId, Trace};

use crate::{Explanation, Leak, Unknown};

/// A failing execution.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong.
    pub finding: Finding,
    /// The number of the run, counted from one.
    pub execution: u64,
    /// The run.
    pub trace: Trace,
    /// The token that replays the run.
    pub token: String,
    /// Whether replaying the run gave the same failure.
    pub reproduced: bool,
    /// Whether the run exceeds the bound of the search: it was found while a run was led to its end that the search
    /// had given up.
    pub beyond_bound: bool,
    /// What raddle found out about the run, if it was asked to.
    pub explanation: Option<Box<Explanation>>,
    /// Why there is no explanation although there should be one.
    pub unexplained: Option<Unknown>,
}

/// A bug in the program under test.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// A thread panicked.
    Panic(Panic),
    /// No thread is enabled, and main is blocked or some threads wait for each other in a cycle.
    Deadlock(Vec<Wait>),
    /// Threads wait in loops for changes that no thread is left to make, and all others have ended or are blocked.
    WaitsForever {
        /// The threads that wait in loops.
        loops: Vec<WaitLoop>,
        /// The threads that are blocked.
        waits: Vec<Wait>,
    },
    /// Two threads access a plain variable, at least one writes, and nothing orders the accesses.
    Race {
        /// The access that came first in this run.
        first: PlainAccess,
        /// The other access.
        second: PlainAccess,
    },
    /// A thread uses an object, and nothing makes that happen before the object is freed.
    UseAfterFree {
        /// The free.
        freed: Freed,
        /// The use.
        access: PlainAccess,
        /// Whether the use came after the free in this run, so that it ended the run.
        is_late: bool,
        /// The stack at the use, if it was recorded.
        stack: Option<String>,
    },
    /// An object, or the memory of an object, is freed twice.
    FreedTwice {
        /// The first free.
        first: Freed,
        /// The second.
        second: Freed,
    },
    /// A thread reads a lock twice at once, and another may wait to write it: a real lock may block the second read.
    ReadTwice {
        /// The thread.
        thread: ThreadId,
        /// The lock.
        object: ObjectId,
        /// Where the thread acquires the first read lock.
        first: Site,
        /// Where the thread acquires the second.
        second: Site,
        /// The thread that writes.
        writer: ThreadId,
        /// Where it acquires the write lock.
        written: Site,
    },
    /// A run did not end within the step limit.
    StepLimit {
        /// The limit.
        steps: u64,
    },
    /// The same choices gave different runs: something outside raddle's control decides.
    Nondeterminism {
        /// The first step that differed, counted from zero.
        at: usize,
        /// That step in the first run.
        first: String,
        /// That step in the second run.
        second: String,
    },
    /// A run left something behind.
    Leak(Leak),
}

/// The end of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freed {
    /// The object, the thread, and when.
    pub end: End,
    /// The stack, if it was recorded.
    pub stack: Option<String>,
}

/// A blocked thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The thread.
    pub thread: ThreadId,
    /// The object it waits for.
    pub object: ObjectId,
    /// Where it waits.
    pub site: Site,
    /// The threads that block it, and where each acquired the object.
    pub holders: Vec<(ThreadId, Site)>,
    /// Whether the thread is part of a cycle of threads waiting for one another.
    pub in_cycle: bool,
}

/// A thread that waits in a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitLoop {
    /// The thread.
    pub thread: ThreadId,
    /// What it looks at in every round.
    pub looks: Vec<Looked>,
}

/// An operation that a thread repeats while it waits, and that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// The position in the run of the last repetition.
    pub at: usize,
    /// The object, or none if the thread only pauses.
    pub object: ObjectId,
    /// The place in the program.
    pub site: Site,
    /// The position in the run of the last change of the object, if there was one.
    pub changed: Option<usize>,
}

/// All failures of a check that continued after the first.
#[derive(Clone, Debug)]
pub struct Failures {
    /// The number of failing runs.
    pub failing: u64,
    /// The number of runs, without discarded ones.
    pub runs: u64,
    /// Bounds of the probability that a run fails, with 95 % confidence (Wilson). Exact for runs that have
    /// the same distribution, approximate for others.
    pub interval: (f64, f64),
    /// The causes, in the order found.
    pub causes: Vec<Cause>,
    /// The number of failing runs with causes beyond the kept ones.
    pub others: u64,
}

/// Failures of the same kind at the same place with the same message, ignoring numbers.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The first of them.
    pub failure: Failure,
    /// The number of runs that failed for this cause.
    pub runs: u64,
}
