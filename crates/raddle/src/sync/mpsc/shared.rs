//! A channel of a run. The engine counts the messages; this module stores them.

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use raddle_core::{Action, AtomicOp, ChannelOp, Effect, ObjectId, Op, Order, Rmw, Scalar, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use crate::run_cell::RunCell;

/// The part of a channel of a run that its two sides share.
pub(super) struct Shared<T> {
    /// Not dropped: the last side frees the channel, which no operation shows.
    name: ManuallyDrop<Name>,
    bound: Option<usize>,
    /// The messages that were sent and not received, with their tickets, oldest first.
    messages: RunCell<VecDeque<(u64, T)>>,
    senders: AtomicUsize,
    /// Whether the sender was ever cloned.
    cloned: AtomicBool,
    /// The number of dropped senders, in traces an atomic variable.
    ///
    /// Which sender is the last depends on the order of the drops, so a drop is an operation. A clone is none, because the
    /// thread that clones has a sender.
    departures: ManuallyDrop<Name>,
}

impl<T> Shared<T> {
    #[track_caller]
    pub(super) fn new(bound: Option<usize>) -> Arc<Shared<T>> {
        Arc::new(Shared {
            name: ManuallyDrop::new(Name::new()),
            bound,
            messages: RunCell::new(VecDeque::new()),
            senders: AtomicUsize::new(1),
            cloned: AtomicBool::new(false),
            departures: ManuallyDrop::new(Name::new()),
        })
    }

    /// Performs an operation on the channel.
    ///
    /// # Panics
    /// Panics outside the run that created the channel.
    #[inline]
    pub(super) fn submit(&self, op: Op, site: Site) -> Effect {
        let begin = || Some(self.begin());
        match port::operate(Kind::Any, &self.name, begin, op, site) {
            Some(effect) => effect,
            None => elsewhere(),
        }
    }

    /// Returns the initial state of the channel, for its first use in the current run.
    #[cold]
    fn begin(&self) -> Initial {
        if !self.is_here() {
            self.name.forget();
            elsewhere()
        }
        port::declares::<T>();
        Initial::Channel { capacity: self.bound.map(|bound| bound as u64) }
    }

    fn is_here(&self) -> bool {
        self.messages.is_here()
    }

    /// Stores a message that the engine has counted. Returns whether the sender must wait until it is received.
    pub(super) fn put(&self, ticket: u64, value: T) -> bool {
        self.messages.with(|messages| messages.push_back((ticket, value)));
        self.bound == Some(0)
    }

    /// Removes the oldest message, which the engine has counted as received.
    pub(super) fn take(&self) -> T {
        let taken = self.messages.with(VecDeque::pop_front);
        taken.unwrap_or_else(|| miscounted()).1
    }

    /// Removes the message with this ticket, which will never be received.
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

    /// Drops a sender that was created at `site`.
    pub(super) fn drop_sender(&self, site: Site) {
        const DEPART: Op = Op::new(
            ObjectId::NONE,
            Action::Atomic(AtomicOp::Update {
                order: Order::AcqRel,
                scalar: Scalar::Departures,
                function: Rmw::Add,
                operand: 1,
            }),
        );
        const CLOSE: Op = Op::new(ObjectId::NONE, Action::Channel(ChannelOp::CloseSenders));
        let here = self.is_here();
        if here && self.cloned.load(Ordering::Relaxed) {
            let initial = || Some(Initial::Atomic(Scalar::Departures, 0));
            port::operate(Kind::Atomic, &self.departures, initial, DEPART, site);
        }
        let is_last = self.senders.fetch_sub(1, Ordering::AcqRel) == 1;
        if here && is_last {
            self.submit(CLOSE, site);
        }
    }

    /// Drops the receiver, which was created at `site`.
    pub(super) fn drop_receiver(&self, site: Site) {
        const CLOSE: Op = Op::new(ObjectId::NONE, Action::Channel(ChannelOp::CloseReceiver));
        // Outside the run the messages are dropped with the channel.
        if !self.is_here() {
            return;
        }
        self.submit(CLOSE, site);
        // If the bound is zero, the senders take their messages back.
        if self.bound != Some(0) {
            // The destructors of messages are code of the program, which `with` must not run.
            let left = self.messages.with(std::mem::take);
            drop(left);
        }
    }
}

#[cold]
fn elsewhere() -> ! {
    panic!("a channel was used outside the execution that created it; its other side may be gone")
}

#[cold]
fn miscounted() -> ! {
    unreachable!("raddle invariant broken: the engine counted a message that is not there")
}
