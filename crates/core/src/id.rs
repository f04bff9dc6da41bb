//! Names of threads, objects and events.

use core::fmt;

/// A thread of the program under test.
///
/// Ids are handed out by spawn path (the n-th thread spawned by that parent), so a thread keeps its
/// id in every run of a session, however the spawns are interleaved.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// The thread that runs the body of the check.
    pub const MAIN: ThreadId = ThreadId(0);

    /// Position of this thread in arrays indexed by thread.
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
    /// Stands in operations that touch no shared object, such as a yield.
    pub const NONE: ObjectId = ObjectId(u32::MAX);

    /// Position of this object in arrays indexed by object.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An event, named by its thread and its position among that thread's events.
///
/// The name survives reordering: swapping independent events of other threads does not change it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventId {
    /// The thread that performed the event.
    pub thread: ThreadId,
    /// How many events that thread had performed before.
    pub index: u32,
}

impl EventId {
    /// Stands for the store that gave a variable its initial value. Every variable has one, before all
    /// its other stores; which variable is meant follows from where the name stands.
    pub const INITIAL: EventId = EventId { thread: ThreadId(u32::MAX), index: 0 };
}
