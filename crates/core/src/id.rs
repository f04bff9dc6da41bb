//! Names of threads, objects and events.

use core::fmt;

/// A thread of the program under test.
///
/// Ids are assigned by spawn path (the n-th thread spawned by that parent), so a thread keeps its
/// id in every run of a session, however the spawns are interleaved.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that runs the body of the check.
    pub const MAIN: ThreadId = ThreadId(0);

    /// Returns the position of this thread in arrays indexed by thread.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ThreadId::MAIN => f.write_str("main"),
            ThreadId(n) => write!(f, "thread {n}"),
        }
    }
}

/// A shared object, numbered in the order of first announcement within one run.
///
/// Across runs an object is named by the event that first announced it, see
/// [`ObjectInfo::name`](crate::ObjectInfo::name).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(pub u32);

impl ObjectId {
    /// The object of operations that access no shared object, such as a yield.
    pub const NONE: ObjectId = ObjectId(u32::MAX);

    /// Returns the position of this object in arrays indexed by object.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An event, named by its thread and its position among that thread's events.
///
/// Reordering independent events of different threads does not change these names.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId {
    /// The thread that performed the event.
    pub thread: ThreadId,
    /// The number of events that the thread had performed before.
    pub index: u32,
}

impl EventId {
    /// The store of a variable's initial value. Every variable has one, before all its other stores, and all have this
    /// name. The context tells which variable is meant.
    pub const INITIAL: EventId = EventId { thread: ThreadId(u32::MAX), index: 0 };
}
