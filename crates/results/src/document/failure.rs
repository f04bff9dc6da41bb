//! Failures and warnings in documents.

use super::{Explanation, Place, Trace};
use crate::Unknown;
use crate::json::{object, variants, words};

/// A failing execution.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// What went wrong, in one line.
    pub summary: String,
    /// What went wrong.
    pub finding: Finding,
    /// The number of the execution, counted from one.
    pub execution: u64,
    /// Whether replaying the execution gave the same failure.
    pub reproduced: bool,
    /// Whether the execution exceeds the bound of the search, which found it while it ended a run that it had given up.
    pub beyond_bound: bool,
    /// The token that replays the execution.
    pub token: String,
    /// What raddle found out about the execution, if it was asked to.
    pub explanation: Option<Explanation>,
    /// Why there is no explanation although there should be one.
    pub unexplained: Option<Unknown>,
    /// The execution.
    pub trace: Trace,
}

/// All failures of a check that continued after the first.
#[derive(Clone, PartialEq, Debug)]
pub struct Failures {
    /// The number of failing executions.
    pub failing: u64,
    /// The number of executions, without discarded ones.
    pub runs: u64,
    /// Bounds of the probability that an execution fails, with 95 % confidence.
    pub interval: [f64; 2],
    /// The causes, in the order found.
    pub causes: Vec<Cause>,
    /// The number of failing executions with causes beyond the kept ones.
    pub others: u64,
}

/// Failures of the same kind at the same place with the same message. Apart from `runs`, the fields are
/// those of the first such failure.
#[derive(Clone, PartialEq, Debug)]
pub struct Cause {
    /// The number of executions that failed for this cause.
    pub runs: u64,
    /// What went wrong, in one line.
    pub summary: String,
    /// What went wrong.
    pub finding: Finding,
    /// The number of the execution, counted from one.
    pub execution: u64,
    /// Whether replaying the execution gave the same failure.
    pub reproduced: bool,
    /// The token that replays the execution.
    pub token: String,
}

/// What went wrong.
#[derive(Clone, PartialEq, Debug)]
pub enum Finding {
    /// A thread panicked.
    Panic {
        /// The thread.
        thread: u32,
        /// The panic message.
        message: String,
        /// File, line and column, if known.
        place: Option<String>,
        /// The stack at the panic, if it was recorded.
        backtrace: Option<String>,
    },
    /// No thread is enabled, and some are blocked.
    Deadlock {
        /// The blocked threads.
        waits: Vec<Wait>,
        /// Cycles that together contain every thread that is in one.
        cycles: Vec<Vec<Hop>>,
    },
    /// Threads wait in loops for changes that no thread is left to make.
    WaitsForever {
        /// The threads that wait in loops.
        loops: Vec<WaitLoop>,
        /// The threads that are blocked.
        waits: Vec<Wait>,
    },
    /// Two accesses to a plain variable that nothing orders.
    Race {
        /// The access that came first.
        first: Access,
        /// The other access.
        second: Access,
    },
    /// A thread uses an object, and nothing makes that happen before the object is freed.
    UseAfterFree {
        /// The free.
        freed: Freed,
        /// The use.
        access: Access,
        /// Whether the use came after the free in this execution.
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
    /// A thread reads a lock twice at once, and another may wait to write it.
    ReadTwice {
        /// The thread.
        thread: u32,
        /// The lock.
        object: u32,
        /// Where the thread acquires the first read lock.
        first: Place,
        /// Where the thread acquires the second.
        second: Place,
        /// The thread that writes.
        writer: u32,
        /// Where it acquires the write lock.
        written: Place,
    },
    /// An execution did not end within the step limit.
    StepLimit {
        /// The limit.
        steps: u64,
        /// The number of steps at the end of the execution that were looked at for repetition.
        recent_steps: u64,
        /// The operations repeated most in these steps.
        repeated: Vec<Repeated>,
        /// The number of other operations in these steps.
        other_operations: u64,
    },
    /// The same choices gave different executions.
    Nondeterminism {
        /// The first step that differed.
        step: u64,
        /// That step in the first execution.
        first: String,
        /// That step in the second execution.
        second: String,
    },
    /// An execution left something behind.
    Leak {
        /// What it left behind.
        what: LeakKind,
        /// The thread that waits, held the lock, or allocated the memory.
        thread: u32,
        /// The object it waits for, the lock, or the object in the memory.
        object: u32,
        /// Where the thread waits, acquired the lock, or first used the object.
        site: Place,
        /// The size of the memory.
        bytes: Option<u64>,
    },
}

/// The end of an object.
#[derive(Clone, PartialEq, Debug)]
pub struct Freed {
    /// The object.
    pub object: u32,
    /// The thread.
    pub thread: u32,
    /// The number of steps before it.
    pub after: u64,
    /// The function or line of the program that frees the object, if it was recorded.
    pub place: Option<String>,
    /// The stack, if it was recorded.
    pub stack: Option<String>,
}

/// A thread that waits in a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct WaitLoop {
    /// The thread.
    pub thread: u32,
    /// What it looks at in every round.
    pub looks: Vec<Looked>,
}

/// An operation that a thread repeats while it waits, and that changes nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct Looked {
    /// The step of the last repetition.
    pub step: u64,
    /// The object. `None` if the thread only pauses.
    pub object: Option<u32>,
    /// The operation and its effect, in words.
    pub text: String,
    /// The place in the program.
    pub site: Place,
    /// The step of the last change of the object. `None` if there was none.
    pub changed: Option<u64>,
    /// The thread that changed the object last.
    pub changed_by: Option<u32>,
}

/// A blocked thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Wait {
    /// The thread.
    pub thread: u32,
    /// The object it waits for.
    pub object: u32,
    /// What it waits for, in words.
    pub text: String,
    /// Where it waits.
    pub site: Place,
    /// The threads that block it.
    pub holders: Vec<Holder>,
    /// Whether the thread is part of a cycle.
    pub in_cycle: bool,
    /// The last notification that the thread did not get: another thread took it, or it came before the thread waited
    /// and woke none.
    pub missed_notification: Option<Notification>,
}

/// A thread that blocks another.
#[derive(Clone, PartialEq, Debug)]
pub struct Holder {
    /// The thread.
    pub thread: u32,
    /// Where it acquired the object.
    pub taken: Place,
}

/// A notification.
#[derive(Clone, PartialEq, Debug)]
pub struct Notification {
    /// The step.
    pub step: u64,
    /// Its place.
    pub site: Place,
    /// The thread that took it while this one waited too.
    pub taken_by: Option<u32>,
}

/// A step of a cycle: a thread, and the holder of the object it waits for that comes next.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Hop {
    /// The thread that waits.
    pub thread: u32,
    /// The thread it waits for.
    pub holder: u32,
}

/// An access to a plain variable.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// The thread.
    pub thread: u32,
    /// The number of steps before it.
    pub after: u64,
    /// The step that it is, if accesses to plain variables are steps.
    pub step: Option<u64>,
    /// The variable.
    pub object: u32,
    /// Whether it writes.
    pub writes: bool,
    /// Its place.
    pub site: Place,
}

/// An operation that one thread repeats at one place.
#[derive(Clone, PartialEq, Debug)]
pub struct Repeated {
    /// How many times it is performed.
    pub times: u64,
    /// The thread.
    pub thread: u32,
    /// The operation, in words.
    pub text: String,
    /// Its place.
    pub site: Place,
}

/// What an execution left behind.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LeakKind {
    /// A blocked thread.
    Thread,
    /// A held lock.
    Lock,
    /// Memory that is never freed.
    Memory,
}

/// Suspicious behaviour of an execution that does not fail.
#[derive(Clone, PartialEq, Debug)]
pub struct Warning {
    /// The behaviour, in one line.
    pub summary: String,
    /// The first execution that showed it, counted from one.
    pub execution: u64,
    /// The behaviour. Its objects have the numbers of that execution.
    pub warning: WarningKind,
}

/// Kinds of suspicious behaviour.
#[derive(Clone, PartialEq, Debug)]
pub enum WarningKind {
    /// The execution left something behind.
    Leak {
        /// What it left behind.
        what: LeakKind,
        /// The thread that waits, held the lock, or allocated the memory.
        thread: u32,
        /// The object it waits for, the lock, or the object in the memory.
        object: u32,
        /// Where the thread waits, acquired the lock, or first used the object.
        site: Place,
        /// The size of the memory.
        bytes: Option<u64>,
    },
    /// Threads acquire locks in different orders.
    LockOrder {
        /// The orders, each of one thread.
        orders: Vec<LockOrder>,
    },
}

/// A thread acquires a lock while it holds another.
#[derive(Clone, PartialEq, Debug)]
pub struct LockOrder {
    /// The thread.
    pub thread: u32,
    /// The lock it holds.
    pub held: u32,
    /// Where it acquired the held lock.
    pub taken_at: Place,
    /// The lock it acquires.
    pub wanted: u32,
    /// Where it acquires the wanted lock.
    pub wanted_at: Place,
}

object! {
    Failure { summary, finding, execution, reproduced, beyond_bound, token, explanation, unexplained, trace }
    Failures { failing, runs, interval, causes, others }
    Cause { runs, summary, finding, execution, reproduced, token }
    Wait { thread, object, text, site, holders, in_cycle, missed_notification }
    WaitLoop { thread, looks }
    Looked { step, object, text, site, changed, changed_by }
    Holder { thread, taken }
    Notification { step, site, taken_by }
    Hop { thread, holder }
    Access { thread, after, step, object, writes, site }
    Freed { object, thread, after, place, stack }
    Repeated { times, thread, text, site }
    Warning { summary, execution, warning }
    LockOrder { thread, held, taken_at, wanted, wanted_at }
}

variants! {
    Finding {
        "panic" = Panic { thread, message, place, backtrace },
        "deadlock" = Deadlock { waits, cycles },
        "waits-forever" = WaitsForever { loops, waits },
        "race" = Race { first, second },
        "use-after-free" = UseAfterFree { freed, access, is_late, stack },
        "freed-twice" = FreedTwice { first, second },
        "read-twice" = ReadTwice { thread, object, first, second, writer, written },
        "step-limit" = StepLimit { steps, recent_steps, repeated, other_operations },
        "nondeterminism" = Nondeterminism { step, first, second },
        "leak" = Leak { what, thread, object, site, bytes },
    }
    WarningKind {
        "leak" = Leak { what, thread, object, site, bytes },
        "lock-order" = LockOrder { orders },
    }
}

words! {
    LeakKind { "thread" = Thread, "lock" = Lock, "memory" = Memory }
}
