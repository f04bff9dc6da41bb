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
    /// [`NO_BOUND`] if it holds any number of messages.
    capacity: u64,
    /// How many messages were ever put in, and how many [taken out](TAKEN). Invariant: no more than were put in.
    passed: [u64; 2],
    senders_gone: bool,
    receiver_gone: bool,
}

const SENT: usize = 0;
const TAKEN: usize = 1;

/// More messages than anybody will send.
const NO_BOUND: u64 = u64::MAX;

impl Channel {
    /// An empty channel.
    pub fn new(capacity: Option<u64>) -> Channel {
        Channel {
            capacity: capacity.unwrap_or(NO_BOUND),
            passed: [0, 0],
            senders_gone: false,
            receiver_gone: false,
        }
    }

    #[inline(always)]
    fn messages(&self) -> u64 {
        self.passed[SENT] - self.passed[TAKEN]
    }

    /// Whether senders may have to wait.
    #[inline(always)]
    pub(crate) fn is_bounded(&self) -> bool {
        self.capacity != NO_BOUND
    }

    /// Whether some state of it disables `op`, of which that is to be known.
    #[inline(always)]
    pub(crate) fn may_disable(&self, op: ChannelOp) -> bool {
        self.is_bounded() || matches!(op, ChannelOp::Receive { .. })
    }

    /// After a message was put in: whether somebody can go on who could not, or the other way round.
    #[inline(always)]
    pub(crate) fn concerns_waiters_after_send(&self) -> bool {
        let messages = self.messages();
        messages == 1 || messages >= self.capacity
    }

    /// The same if it has no bound.
    #[inline(always)]
    pub(crate) fn concerns_waiters_after_post(&self) -> bool {
        self.messages() == 1
    }

    /// Whether a message can be put in without a bound, or one that is there [taken out](Channel::pass), and nobody will
    /// hear of it if the channel `is_waited_for`.
    #[inline(always)]
    pub(crate) fn is_usual_to_pass(&self, is_taken: bool, is_waited_for: bool) -> bool {
        debug_assert!(!is_taken || self.has_messages());
        if is_waited_for && (is_taken || self.is_empty()) {
            return false;
        }
        !self.receiver_gone
    }

    /// Puts a message in.
    #[inline(always)]
    pub(crate) fn put(&mut self) -> Effect {
        self.pass(false)
    }

    /// Takes a message out.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Effect {
        self.pass(true)
    }

    /// Puts a message in or takes one out, without a branch.
    #[inline(always)]
    pub(crate) fn pass(&mut self, is_taken: bool) -> Effect {
        const { assert!(SENT == 0 && TAKEN == 1) };
        let count = &mut self.passed[usize::from(is_taken)];
        let ticket = *count;
        *count += 1;
        if is_taken { Effect::Yes } else { Effect::Ticket(ticket) }
    }

    #[inline(always)]
    pub(crate) fn has_messages(&self) -> bool {
        !self.is_empty()
    }

    /// After a message was taken out: likewise. Who hands messages over waits for just this.
    #[inline(always)]
    pub(crate) fn concerns_waiters_after_receive(&self) -> bool {
        let messages = self.messages();
        messages == 0 || messages + 1 >= self.capacity
    }

    fn has_room(&self) -> bool {
        self.messages() < self.capacity
    }

    fn is_empty(&self) -> bool {
        self.passed[SENT] == self.passed[TAKEN]
    }
}

impl Shape for Channel {
    type Op = ChannelOp;

    #[inline(always)]
    fn enabled(&self, op: ChannelOp, _by: ThreadId) -> bool {
        match op {
            ChannelOp::Send => self.receiver_gone || self.capacity == 0 || self.has_room(),
            ChannelOp::AwaitTaken { ticket } => self.receiver_gone || self.passed[TAKEN] > ticket,
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
            ChannelOp::Send | ChannelOp::TrySend => self.put(),
            ChannelOp::AwaitTaken { ticket } => Effect::of(self.passed[TAKEN] > ticket),
            ChannelOp::Receive { .. } | ChannelOp::TryReceive if !self.is_empty() => self.take(),
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

    /// Every state that few messages lead to, sides gone or not.
    fn states(capacity: Option<u64>) -> impl Iterator<Item = Channel> {
        (0..6u64).flat_map(move |sent| {
            (0..=sent).flat_map(move |taken| {
                [(false, false), (true, false), (false, true), (true, true)].map(
                    |(senders_gone, receiver_gone)| Channel {
                        passed: [sent, taken],
                        senders_gone,
                        receiver_gone,
                        ..Channel::new(capacity)
                    },
                )
            })
        })
    }

    #[test]
    fn whoever_can_go_on_or_no_longer_is_told() {
        let by = ThreadId::MAIN;
        let mut untold = 0;
        for capacity in [Some(0), Some(1), Some(2), Some(3), None] {
            // Only where messages are handed over does anybody wait for that.
            let tickets = if capacity == Some(0) { 0..6 } else { 0..0 };
            let waits = tickets
                .map(|ticket| ChannelOp::AwaitTaken { ticket })
                .chain([ChannelOp::Send, ChannelOp::Receive { timed: false }]);
            for before in states(capacity) {
                for op in [ChannelOp::Send, ChannelOp::Receive { timed: false }] {
                    if !before.enabled(op, by) {
                        continue;
                    }
                    let mut after = before.clone();
                    if after.apply(op, by) == Effect::Closed {
                        assert_eq!(before, after);
                        continue;
                    }
                    let tells = if op == ChannelOp::Send {
                        after.concerns_waiters_after_send()
                    } else {
                        after.concerns_waiters_after_receive()
                    };
                    let mut waits = waits.clone().filter(|&wait| before.may_disable(wait));
                    let differs = |wait| before.enabled(wait, by) != after.enabled(wait, by);
                    assert!(tells || !waits.any(differs), "{before:?} {op:?}");
                    untold += u32::from(!tells);
                }
            }
        }
        assert!(untold > 50, "{untold}");
    }

    #[test]
    fn what_is_usual_is_done_and_nobody_has_to_be_told() {
        let by = ThreadId::MAIN;
        let receive = ChannelOp::Receive { timed: false };
        let mut usual = [0; 2];
        for before in states(None) {
            for (is_taken, op) in [(false, ChannelOp::Send), (true, receive)] {
                if is_taken && !before.has_messages() {
                    continue;
                }
                for is_waited_for in [false, true] {
                    if !before.is_usual_to_pass(is_taken, is_waited_for) {
                        continue;
                    }
                    let (mut passed, mut applied) = (before.clone(), before.clone());
                    let expected = match is_taken {
                        true => Effect::Yes,
                        false => Effect::Ticket(before.passed[SENT]),
                    };
                    assert_eq!(passed.pass(is_taken), expected, "{before:?} {op:?}");
                    assert_eq!(applied.apply(op, by), expected, "{before:?} {op:?}");
                    assert_eq!(passed, applied, "{before:?} {op:?}");
                    let differs = before.enabled(receive, by) != passed.enabled(receive, by);
                    assert!(!is_waited_for || !differs, "{before:?} {op:?}");
                    usual[usize::from(is_taken)] += 1;
                }
            }
        }
        assert!(usual.iter().all(|&count| count > 20), "{usual:?}");
    }

    #[test]
    fn what_is_never_disabled_need_not_wait() {
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
