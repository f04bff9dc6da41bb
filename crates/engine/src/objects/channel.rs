//! A channel: how many messages it holds, and which sides are gone. The messages themselves stay
//! with the front end.
//!
//! A rendezvous channel (capacity 0) takes every offer; its sender then waits until the offer was
//! taken. `TrySend` on one fails: whether a receiver waits is not part of the state.

use raddle_core::{ChannelOp, Effect, ThreadId};

use super::Shape;

/// The state of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    capacity: Option<u64>,
    /// Messages ever put in.
    sent: u64,
    /// Messages ever taken out. Invariant: at most `sent`.
    taken: u64,
    senders_gone: bool,
    receiver_gone: bool,
}

impl Channel {
    /// An empty channel.
    pub fn new(capacity: Option<u64>) -> Channel {
        Channel { capacity, sent: 0, taken: 0, senders_gone: false, receiver_gone: false }
    }

    fn has_room(&self) -> bool {
        self.capacity.is_none_or(|capacity| self.sent - self.taken < capacity)
    }

    fn is_empty(&self) -> bool {
        self.sent == self.taken
    }
}

impl Shape for Channel {
    type Op = ChannelOp;

    #[inline(always)]
    fn enabled(&self, op: ChannelOp, _by: ThreadId) -> bool {
        match op {
            ChannelOp::Send => self.receiver_gone || self.capacity == Some(0) || self.has_room(),
            ChannelOp::AwaitTaken { ticket } => self.receiver_gone || self.taken > ticket,
            ChannelOp::Receive { timed } => timed || self.senders_gone || !self.is_empty(),
            ChannelOp::TrySend
            | ChannelOp::TryReceive
            | ChannelOp::CloseSenders
            | ChannelOp::CloseReceiver => true,
        }
    }

    #[inline(always)]
    fn apply(&mut self, op: ChannelOp, _by: ThreadId) -> Effect {
        match op {
            ChannelOp::Send | ChannelOp::TrySend if self.receiver_gone => Effect::Closed,
            ChannelOp::TrySend if !self.has_room() => Effect::No,
            ChannelOp::Send | ChannelOp::TrySend => {
                self.sent += 1;
                Effect::Ticket(self.sent - 1)
            }
            ChannelOp::AwaitTaken { ticket } => Effect::of(self.taken > ticket),
            ChannelOp::Receive { .. } | ChannelOp::TryReceive if !self.is_empty() => {
                self.taken += 1;
                Effect::Yes
            }
            ChannelOp::Receive { .. } | ChannelOp::TryReceive if self.senders_gone => {
                Effect::Closed
            }
            ChannelOp::Receive { .. } | ChannelOp::TryReceive => Effect::No,
            ChannelOp::CloseSenders => {
                self.senders_gone = true;
                Effect::None
            }
            ChannelOp::CloseReceiver => {
                self.receiver_gone = true;
                Effect::None
            }
        }
    }
}
