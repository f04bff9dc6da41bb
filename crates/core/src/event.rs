//! What happened, and what is about to.

use crate::{EventId, Op, Site, ThreadId};

/// What performing an operation told its thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    None,
    /// The value read, or chosen.
    Value(u64),
    /// The value a successful compare-exchange replaced.
    Exchanged(u64),
    /// The value that made a compare-exchange fail.
    Kept(u64),
    /// Whether it took effect: a try-lock took the lock, a wait ended by notification.
    Flag(bool),
    /// A number to come back with, and whether this arrival was the last of its kind.
    Ticket {
        /// The barrier's generation, or the message's place in the channel.
        number: u64,
        /// Whether the barrier is complete.
        last: bool,
    },
    /// The other side of the channel is gone.
    Closed,
    /// The thread that was spawned.
    Spawned(ThreadId),
}

/// A performed operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// Who performed it, and as its how-many-eth.
    pub id: EventId,
    /// What was performed.
    pub op: Op,
    /// What came of it.
    pub effect: Effect,
    /// Where in the source.
    pub site: Site,
}

/// An announced operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Pending {
    /// Who announced it.
    pub thread: ThreadId,
    /// What was announced.
    pub op: Op,
    /// Where in the source.
    pub site: Site,
    /// Whether it could be performed now.
    pub enabled: bool,
}
