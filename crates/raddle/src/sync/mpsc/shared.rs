//! A channel of a run: the engine knows how many messages there are, the messages are here.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use raddle_core::{Action, AtomicOp, ChannelOp, Effect, ObjectId, Op, Order, Rmw, Scalar, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

/// What the two sides of a channel share.
pub(super) struct Shared<T> {
    /// The run that made it.
    run: u64,
    name: Name,
    bound: Option<usize>,
    /// By ticket. Nothing of the program's runs while it is locked: threads of a run share an OS
    /// thread, and a second one would wait for ever.
    messages: Mutex<VecDeque<(u64, T)>>,
    senders: AtomicUsize,
    /// Whether there has been more than one sender.
    cloned: AtomicBool,
    /// Counts the senders that are gone. Who is the last depends on the order in which they go, so
    /// that this is an operation. Clones are none: whoever clones has a sender.
    /// In a trace it is an atomic variable.
    departures: Name,
}

impl<T> Shared<T> {
    pub(super) fn new(bound: Option<usize>) -> Arc<Shared<T>> {
        Arc::new(Shared {
            run: port::run_number(),
            name: Name::new(),
            bound,
            messages: Mutex::new(VecDeque::new()),
            senders: AtomicUsize::new(1),
            cloned: AtomicBool::new(false),
            departures: Name::new(),
        })
    }

    /// Whether senders wait until their message is taken.
    pub(super) fn hands_over(&self) -> bool {
        self.bound == Some(0)
    }

    /// An operation on the channel.
    ///
    /// # Panics
    /// Outside the run that made it.
    pub(super) fn submit(&self, op: ChannelOp, site: Site) -> Effect {
        assert!(
            self.is_here(),
            "a channel was used outside the execution that made it; its other side may be gone"
        );
        let capacity = self.bound.map(|bound| bound as u64);
        let initial = || Some(Initial::Channel { capacity });
        let make = |object| Op::new(object, Action::Channel(op));
        let effect = port::operate(Kind::Any, &self.name, initial, make, site);
        effect.expect("raddle invariant broken: a run without an end")
    }

    fn is_here(&self) -> bool {
        port::active() && port::run_number() == self.run
    }

    fn messages(&self) -> MutexGuard<'_, VecDeque<(u64, T)>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts in the message that the engine counted.
    pub(super) fn offer(&self, ticket: u64, value: T) -> Offer<'_, T> {
        self.messages().push_back((ticket, value));
        Offer { shared: self, ticket }
    }

    /// Takes out the message that the engine counted.
    pub(super) fn take(&self) -> T {
        let (_, value) = self
            .messages()
            .pop_front()
            .expect("raddle invariant broken: the engine counted a message that is not there");
        value
    }

    pub(super) fn add_sender(&self) {
        self.cloned.store(true, Ordering::Relaxed);
        self.senders.fetch_add(1, Ordering::Relaxed);
    }

    /// A sender that was made at `site` is gone.
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
        let here = self.is_here();
        if here && self.cloned.load(Ordering::Relaxed) {
            let initial = || Some(Initial::Atomic(Scalar::U64, 0));
            port::operate(
                Kind::Atomic,
                &self.departures,
                initial,
                |object| DEPART.on(object),
                site,
            );
        }
        let last = self.senders.fetch_sub(1, Ordering::AcqRel) == 1;
        if here && last {
            self.submit(ChannelOp::CloseSenders, site);
        }
    }

    /// The receiver, made at `site`, is gone.
    pub(super) fn drop_receiver(&self, site: Site) {
        let here = self.is_here();
        if here {
            self.submit(ChannelOp::CloseReceiver, site);
        }
        // Messages that are being handed over go back to their senders.
        if !(here && self.hands_over()) {
            let messages = std::mem::take(&mut *self.messages());
            drop(messages);
        }
    }
}

/// A message that was put in.
pub(super) struct Offer<'a, T> {
    shared: &'a Shared<T>,
    ticket: u64,
}

impl<T> Offer<'_, T> {
    /// The message, which was not taken and never will be.
    pub(super) fn take_back(self) -> T {
        let mut messages = self.shared.messages();
        let place = messages.iter().position(|message| message.0 == self.ticket);
        let message = place.and_then(|place| messages.remove(place));
        message.expect("raddle invariant broken: a message that was not taken is gone").1
    }
}
