//! A channel of a run: the engine counts the messages, the messages are here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use raddle_core::{Action, AtomicOp, ChannelOp, Effect, ObjectId, Op, Order, Rmw, Scalar, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use crate::run_cell::RunCell;

/// What the two sides of a channel share.
pub(super) struct Shared<T> {
    name: Name,
    bound: Option<usize>,
    /// Messages that were sent and not received, with their tickets, oldest first.
    messages: RunCell<VecDeque<(u64, T)>>,
    senders: AtomicUsize,
    /// Whether there has been more than one sender.
    cloned: AtomicBool,
    /// Counts the senders that are gone. Which is the last one depends on their order, so that this is an operation. Clones
    /// are none: the thread that clones has a sender. In a trace it is an atomic variable.
    departures: Name,
}

impl<T> Shared<T> {
    pub(super) fn new(bound: Option<usize>) -> Arc<Shared<T>> {
        Arc::new(Shared {
            name: Name::new(),
            bound,
            messages: RunCell::new(VecDeque::new()),
            senders: AtomicUsize::new(1),
            cloned: AtomicBool::new(false),
            departures: Name::new(),
        })
    }

    /// Performs an operation on the channel.
    ///
    /// # Panics
    /// Outside the run that made the channel.
    #[inline(always)]
    pub(super) fn submit(&self, op: Op, site: Site) -> Effect {
        let begin = || Some(self.begin());
        match port::operate(Kind::Any, &self.name, begin, op, site) {
            Some(effect) => effect,
            None => elsewhere(),
        }
    }

    /// Returns how the channel begins in the run under way, which uses it for the first time.
    #[cold]
    fn begin(&self) -> Initial {
        if !self.is_here() {
            self.name.forget();
            elsewhere()
        }
        Initial::Channel { capacity: self.bound.map(|bound| bound as u64) }
    }

    fn is_here(&self) -> bool {
        self.messages.is_here()
    }

    /// Puts in the message that the engine counted. Returns whether the sender has to wait until it is taken.
    pub(super) fn put(&self, ticket: u64, value: T) -> bool {
        self.messages.with(|messages| messages.push_back((ticket, value)));
        self.bound == Some(0)
    }

    /// Takes out the message that the engine counted.
    pub(super) fn take(&self) -> T {
        let taken = self.messages.with(VecDeque::pop_front);
        taken.unwrap_or_else(|| miscounted()).1
    }

    /// Takes back the message with this ticket, which was not received and never will be.
    pub(super) fn take_back(&self, ticket: u64) -> T {
        let taken = self.messages.with(|messages| {
            let place = messages.iter().position(|message| message.0 == ticket)?;
            messages.remove(place)
        });
        taken.unwrap_or_else(|| miscounted()).1
    }

    pub(super) fn add_sender(&self) {
        self.cloned.store(true, Ordering::Relaxed);
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// Drops a sender that was made at `site`.
    pub(super) fn drop_sender(&self, site: Site) {
        const DEPART: Op = Op::new(
            ObjectId::NONE,
            Action::Atomic(AtomicOp::Update {
                order: Order::AcqRel,
                scalar: Scalar::U64,
                function: Rmw::Add,
                operand: 1,
            }),
        );
        const CLOSE: Op = Op::new(ObjectId::NONE, Action::Channel(ChannelOp::CloseSenders));
        let here = self.is_here();
        if here && self.cloned.load(Ordering::Relaxed) {
            let initial = || Some(Initial::Atomic(Scalar::U64, 0));
            port::operate(Kind::Atomic, &self.departures, initial, DEPART, site);
        }
        let is_last = self.senders.fetch_sub(1, Ordering::AcqRel) == 1;
        if here && is_last {
            self.submit(CLOSE, site);
        }
    }

    /// Drops the receiver, which was made at `site`.
    pub(super) fn drop_receiver(&self, site: Site) {
        const CLOSE: Op = Op::new(ObjectId::NONE, Action::Channel(ChannelOp::CloseReceiver));
        // Outside the run its messages are dropped with the channel.
        if !self.is_here() {
            return;
        }
        self.submit(CLOSE, site);
        // Of a channel without room, messages go back to their senders.
        if self.bound != Some(0) {
            // Their destructors are the program's.
            let left = self.messages.with(std::mem::take);
            drop(left);
        }
    }
}

#[cold]
fn elsewhere() -> ! {
    panic!("a channel was used outside the execution that made it; its other side may be gone")
}

#[cold]
fn miscounted() -> ! {
    unreachable!("raddle invariant broken: the engine counted a message that is not there")
}
