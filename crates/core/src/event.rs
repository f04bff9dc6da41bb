//! Performed and pending operations.

use crate::{EventId, Op, Site, ThreadId};

/// The result of an operation, as its thread sees it.
///
/// Every variant carries one word or nothing, so that an effect is returned in registers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// No result.
    None,
    /// The value that was read or chosen, or the id of the spawned thread.
    Value(u64),
    /// The value that a successful compare-exchange replaced.
    Exchanged(u64),
    /// The value that made a compare-exchange fail.
    Kept(u64),
    /// Success: a try-lock acquired the lock, a wait ended by notification.
    Yes,
    /// Failure of an operation that could have returned `Yes`.
    No,
    /// The operand of the operation that follows: a barrier's generation, a message's number in the channel.
    Ticket(u64),
    /// The `Ticket` of the last thread to arrive, which completes the barrier.
    LastTicket(u64),
    /// Failure because the other side of the channel was dropped.
    Closed,
}

impl Effect {
    /// Returns `Yes` if `success`, otherwise `No`.
    #[inline(always)]
    pub fn of(success: bool) -> Effect {
        if success { Effect::Yes } else { Effect::No }
    }
}

/// A performed operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The thread, and the position among its events.
    pub id: EventId,
    /// The operation.
    pub op: Op,
    /// The result of the operation.
    pub effect: Effect,
    /// The place in the program.
    pub site: Site,
}

/// An announced operation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Pending {
    /// The thread that announced the operation.
    pub thread: ThreadId,
    /// The operation.
    pub op: Op,
    /// The place in the program.
    pub site: Site,
    /// Whether the operation can be performed in the current state.
    pub enabled: bool,
}
