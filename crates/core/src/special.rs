//! Runs that do more than others.

use alloc::vec::Vec;

use crate::{EventId, Order, Site};

/// What one run does besides what every run does. Ordinary runs pay nothing for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Special {
    /// Whether notes, output and descriptions of objects are recorded.
    pub records: bool,
    /// The events at whose announcement the stack of their thread is recorded.
    pub stacks: Vec<EventId>,
    /// The memory orderings that are stronger than in the program.
    pub orders: Vec<Strengthened>,
    /// Whether the run is led to its end after a panic, without being recorded, so that its threads end.
    pub leads_panics: bool,
}

/// A place of the program whose memory ordering is stronger than the program says.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Strengthened {
    /// The place of an access to an atomic variable, or of a fence.
    pub site: Site,
    /// The ordering that is added to that of the program. Of a load only the acquiring part counts, and of a store the
    /// releasing one.
    pub order: Order,
    /// The ordering of a fence that comes before the access, if any.
    pub fence: Option<Order>,
}
