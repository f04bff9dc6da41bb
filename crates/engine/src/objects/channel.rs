//! Channels: the number of messages, and the sides that were dropped. The front end keeps the messages.
//!
//! A send on a rendezvous channel (capacity 0) is always enabled; the sender then waits until the message
//! was received. `TrySend` on one fails, because the state does not say whether a receiver waits.

use raddle_core::{ChannelOp, Effect, ThreadId};

use super::ObjectState;

/// The state of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    /// The capacity in messages; `None` if unbounded.
    capacity: Option<u64>,
    /// The number of messages sent so far.
    sent: u64,
    /// The number of messages received so far. Invariant: at most `sent`.
    taken: u64,
    senders_dropped: bool,
    receiver_dropped: bool,
}

impl Channel {
    /// Returns an empty channel.
    pub fn new(capacity: Option<u64>) -> Channel {
        Channel { capacity, sent: 0, taken: 0, senders_dropped: false, receiver_dropped: false }
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

    fn push(&mut self) -> Effect {
        self.sent += 1;
        Effect::Ticket(self.sent - 1)
    }
}

impl ObjectState for Channel {
    type Op = ChannelOp;

    fn enabled(&self, op: ChannelOp, _by: ThreadId) -> bool {
        match op {
            ChannelOp::Send => self.receiver_dropped || self.capacity == Some(0) || self.has_room(),
            ChannelOp::AwaitTaken { ticket } => self.receiver_dropped || self.taken > ticket,
            ChannelOp::Receive { timed } => timed || self.senders_dropped || !self.is_empty(),
            ChannelOp::TrySend
            | ChannelOp::TryReceive
            | ChannelOp::CloseSenders
            | ChannelOp::CloseReceiver => true,
        }
    }

    fn apply(&mut self, op: ChannelOp, _by: ThreadId) -> Effect {
        match op {
            ChannelOp::Send | ChannelOp::TrySend if self.receiver_dropped => Effect::Closed,
            ChannelOp::TrySend if !self.has_room() => Effect::No,
            ChannelOp::Send | ChannelOp::TrySend => self.push(),
            ChannelOp::AwaitTaken { ticket } => Effect::of(self.taken > ticket),
            ChannelOp::Receive { .. } | ChannelOp::TryReceive if !self.is_empty() => {
                self.taken += 1;
                Effect::Yes
            }
            ChannelOp::Receive { .. } | ChannelOp::TryReceive if self.senders_dropped => {
                Effect::Closed
            }
            ChannelOp::Receive { .. } | ChannelOp::TryReceive => Effect::No,
            ChannelOp::CloseSenders => {
                self.senders_dropped = true;
                Effect::None
            }
            ChannelOp::CloseReceiver => {
                self.receiver_dropped = true;
                Effect::None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all states with up to five messages.
    fn states(capacity: Option<u64>) -> impl Iterator<Item = Channel> {
        (0..6u64).flat_map(move |sent| {
            (0..=sent).flat_map(move |taken| {
                [(false, false), (true, false), (false, true), (true, true)].map(
                    |(senders_dropped, receiver_dropped)| Channel {
                        sent,
                        taken,
                        senders_dropped,
                        receiver_dropped,
                        ..Channel::new(capacity)
                    },
                )
            })
        })
    }

    #[test]
    fn operations_that_cannot_be_disabled_are_enabled_in_every_state() {
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
