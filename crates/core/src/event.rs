//! What happened, and what is about to.

use crate::{EventId, Op, Site, ThreadId};

/// What performing an operation told its thread.
///
/// Every variant carries a whole word or nothing, so that it travels in registers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing.
    None,
    /// The value read, or chosen; the thread spawned.
    Value(u64),
    /// The value a successful compare-exchange replaced.
    Exchanged(u64),
    /// The value that made a compare-exchange fail.
    Kept(u64),
    /// It took effect: a try-lock took the lock, a wait ended by notification.
    Yes,
    /// It did not.
    No,
    /// The number to come back with: the barrier's generation, the message's place in the channel.
    Ticket(u64),
    /// As `Ticket`, and the barrier is complete.
    LastTicket(u64),
    /// The other side of the channel is gone.
    Closed,
}

impl Effect {
    /// `Yes` or `No`.
    #[inline(always)]
    pub fn of(took_effect: bool) -> Effect {
        if took_effect { Effect::Yes } else { Effect::No }
    }
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
