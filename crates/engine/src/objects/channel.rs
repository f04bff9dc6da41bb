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
    /// `None` if it holds any number of messages.
    capacity: Option<u64>,
    /// The number of messages ever put in.
    sent: u64,
    /// The number of messages ever taken out. Invariant: at most `sent`.
    taken: u64,
    senders_gone: bool,
    receiver_gone: bool,
}

impl Channel {
    /// An empty channel.
    pub fn new(capacity: Option<u64>) -> Channel {
        Channel { capacity, sent: 0, taken: 0, senders_gone: false, receiver_gone: false }
    }

    /// Returns whether some state of a channel with this capacity disables `op`, an operation that may block.
    #[inline(always)]
    pub(crate) fn may_disable(&self, op: ChannelOp) -> bool {
        self.capacity.is_some() || matches!(op, ChannelOp::Receive { .. })
    }

    fn is_empty(&self) -> bool {
        self.sent == self.taken
    }

    fn has_room(&self) -> bool {
        self.capacity.is_none_or(|capacity| self.sent - self.taken < capacity)
    }

    fn put(&mut self) -> Effect {
        self.sent += 1;
        Effect::Ticket(self.sent - 1)
    }
}

impl Shape for Channel {
    type Op = ChannelOp;

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

    fn apply(&mut self, op: ChannelOp, _by: ThreadId) -> Effect {
        match op {
            ChannelOp::Send | ChannelOp::TrySend if self.receiver_gone => Effect::Closed,
            ChannelOp::TrySend if !self.has_room() => Effect::No,
            ChannelOp::Send | ChannelOp::TrySend => self.put(),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// All states with up to five messages, sides gone or not.
    fn states(capacity: Option<u64>) -> impl Iterator<Item = Channel> {
        (0..6u64).flat_map(move |sent| {
            (0..=sent).flat_map(move |taken| {
                [(false, false), (true, false), (false, true), (true, true)].map(
                    |(senders_gone, receiver_gone)| Channel {
                        sent,
                        taken,
                        senders_gone,
                        receiver_gone,
                        ..Channel::new(capacity)
                    },
                )
            })
        })
    }

    #[test]
    fn what_no_state_disables_is_enabled_in_all() {
        for capacity in [Some(0), Some(2), None] {
            for state in states(capacity) {
                let ops = [ChannelOp::Send, ChannelOp::Receive { timed: false }];
                for op in ops.into_iter().filter(|&op| !state.may_disable(op)) {
                    assert!(state.enabled(op, ThreadId::MAIN), "{state:?} {op:?}");
                }
            }
        }
    }
}
