//! Schedules: the choices that determine a run.

use alloc::vec::Vec;

use crate::{EventId, ThreadId};

/// The choice made at one point.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// The thread that performed its pending operation.
    Thread(ThreadId),
    /// The store that a load or read-modify-write read.
    Source(EventId),
    /// The store that a new store came right after in modification order.
    Place(EventId),
    /// The number that a value point took.
    Value(u32),
}

/// All choices of one run, in order. They suffice to replay it.
pub type Schedule = Vec<Choice>;
