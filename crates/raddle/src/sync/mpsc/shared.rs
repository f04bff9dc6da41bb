//! A channel of a run: the engine knows how many messages there are, the messages are here.

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use raddle_core::{Action, AtomicOp, ChannelOp, Effect, ObjectId, Op, Order, Rmw, Scalar, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use super::queue::Queue;

/// What the two sides of a channel share.
pub(super) struct Shared<T> {
    /// The run that made it.
    run: u64,
    name: Name,
    bound: Option<usize>,
    /// Belongs to the threads of the run: they share an OS thread, and nothing of the program's runs
    /// while one of them looks at it.
    messages: UnsafeCell<Messages<T>>,
    senders: AtomicUsize,
    /// Whether there has been more than one sender.
    cloned: AtomicBool,
    /// Counts the senders that are gone. Who is the last depends on the order in which they go, so
    /// that this is an operation. Clones are none: whoever clones has a sender.
    /// In a trace it is an atomic variable.
    departures: Name,
}

struct Messages<T> {
    /// Messages that their senders have left behind.
    left: Queue<T>,
    /// By ticket: messages whose senders wait until they are taken, and take them back if they are not. There are
    /// only these if the channel has no room.
    offered: VecDeque<(u64, T)>,
}

// SAFETY: the messages go with the channel.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: the messages are looked at only by a thread of the run, and after that by whoever has the
// channel for itself; they may be sent from one to the other.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> UnwindSafe for Shared<T> {}
impl<T> RefUnwindSafe for Shared<T> {}

impl<T> Shared<T> {
    pub(super) fn new(bound: Option<usize>) -> Arc<Shared<T>> {
        let messages = Messages { left: Queue::new(), offered: VecDeque::new() };
        Arc::new(Shared {
            run: port::run_number(),
            name: Name::new(),
            bound,
            messages: UnsafeCell::new(messages),
            senders: AtomicUsize::new(1),
            cloned: AtomicBool::new(false),
            departures: Name::new(),
        })
    }

    /// An operation on the channel, of this kind. Whoever comes back from it is a thread of the run.
    ///
    /// # Panics
    /// Outside the run that made the channel.
    #[inline(always)]
    pub(super) fn submit(&self, kind: Kind, op: Op, site: Site) -> Effect {
        let begin = || Some(self.begin());
        match port::operate(kind, &self.name, begin, op, site) {
            Some(effect) => effect,
            None => elsewhere(),
        }
    }

    /// The same, mostly not for the first time.
    ///
    /// Whatever is seldom done is done by a call that is told little more than where the channel is: in a loop of the
    /// program, the compiler would keep things in registers for what is hardly ever called.
    #[inline(always)]
    pub(super) fn submit_again(&self, kind: Kind, op: Op, site: Site) -> Effect {
        match self.name.known() {
            Some(object) => port::submit(kind, op.on(object), site),
            None => self.submit_first(kind, op.head(), op.first(), site),
        }
    }

    #[cold]
    #[inline(never)]
    fn submit_first(&self, kind: Kind, head: u64, first: u64, site: Site) -> Effect {
        self.submit(kind, Op::from_words(head, first, 0), site)
    }

    /// A run uses the channel for the first time.
    #[cold]
    fn begin(&self) -> Initial {
        if !self.is_here() {
            self.name.forget();
            elsewhere()
        }
        Initial::Channel { capacity: self.bound.map(|bound| bound as u64) }
    }

    fn is_here(&self) -> bool {
        port::run_number() == self.run
    }

    /// Does something with the messages.
    ///
    /// # Safety
    /// The caller is a thread of the run, and `work` runs nothing of the program's.
    #[inline(always)]
    unsafe fn with_messages<R>(&self, work: impl FnOnce(&mut Messages<T>) -> R) -> R {
        // SAFETY: all others who look at them are on this OS thread, and not at it: the caller promises
        // that `work` ends before anybody else goes on.
        work(unsafe { &mut *self.messages.get() })
    }

    /// Puts in the message that the engine counted.
    ///
    /// # Safety
    /// The caller is a thread of the run, and the channel has room.
    #[inline(always)]
    pub(super) unsafe fn leave(&self, value: T) {
        let put = |messages: &mut Messages<T>| match messages.left.has_room() {
            true => {
                messages.left.push(value);
                None
            }
            false => Some(value),
        };
        // SAFETY: promised by the caller; to move a value runs nothing.
        if let Some(value) = unsafe { self.with_messages(put) } {
            // SAFETY: promised by the caller.
            unsafe { self.leave_elsewhere(value) };
        }
    }

    /// The same in a new piece of memory.
    ///
    /// # Safety
    /// As there.
    #[cold]
    #[inline(never)]
    unsafe fn leave_elsewhere(&self, value: T) {
        // SAFETY: promised by the caller; to move a value runs nothing.
        unsafe { self.with_messages(|messages| messages.left.push(value)) }
    }

    /// As [`leave`](Shared::leave), whatever room there is. Whether the sender has to wait for the end of the message.
    ///
    /// # Safety
    /// The caller is a thread of the run.
    #[inline(always)]
    pub(super) unsafe fn offer(&self, ticket: u64, value: T) -> bool {
        let has_to_wait = self.bound == Some(0);
        let put = |messages: &mut Messages<T>| {
            if has_to_wait {
                messages.offered.push_back((ticket, value));
            } else {
                messages.left.push(value);
            }
        };
        // SAFETY: promised by the caller; to move a value runs nothing.
        unsafe { self.with_messages(put) }
        has_to_wait
    }

    /// Takes out the message that the engine counted.
    ///
    /// # Safety
    /// The caller is a thread of the run.
    #[inline(always)]
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: promised by the caller; to move a value runs nothing.
        match unsafe { self.with_messages(|messages| messages.left.pop_at_hand()) } {
            Some(message) => message,
            // SAFETY: promised by the caller.
            None => unsafe { self.take_elsewhere() },
        }
    }

    /// The same from the next piece of memory, or from whoever offers it.
    ///
    /// # Safety
    /// As there.
    #[cold]
    #[inline(never)]
    unsafe fn take_elsewhere(&self) -> T {
        let take = |messages: &mut Messages<T>| match messages.left.pop() {
            Some(message) => message,
            None => messages.take_offered(),
        };
        // SAFETY: promised by the caller; to move a value runs nothing.
        unsafe { self.with_messages(take) }
    }

    /// The message offered with this ticket, which was not taken and never will be.
    ///
    /// # Safety
    /// The caller is a thread of the run.
    #[cold]
    pub(super) unsafe fn take_back(&self, ticket: u64) -> T {
        let take_back = |messages: &mut Messages<T>| {
            let place = messages.offered.iter().position(|offer| offer.0 == ticket)?;
            messages.offered.remove(place)
        };
        // SAFETY: promised by the caller; to move a value runs nothing.
        let offer = unsafe { self.with_messages(take_back) };
        offer.unwrap_or_else(|| miscounted()).1
    }

    pub(super) fn add_sender(&self) {
        self.cloned.store(true, Ordering::Relaxed);
        self.count_sender(1);
    }

    /// Counts one sender more or less. How many were there before?
    ///
    /// The threads of a run share an OS thread, so that they need no atomic change. No memory depends on the number.
    #[inline(always)]
    fn count_sender(&self, more: isize) -> usize {
        if !self.is_here() {
            return self.senders.fetch_add(more as usize, Ordering::AcqRel);
        }
        let before = self.senders.load(Ordering::Relaxed);
        self.senders.store(before.wrapping_add_signed(more), Ordering::Relaxed);
        before
    }

    /// A sender that was made at `site` is gone.
    // After a switch, each return goes somewhere else than the processor expects.
    #[inline(always)]
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
            port::operate(Kind::Add, &self.departures, initial, DEPART, site);
        }
        let last = self.count_sender(-1) == 1;
        if here && last {
            self.submit(Kind::Channel, CLOSE, site);
        }
    }

    /// The receiver, made at `site`, is gone.
    pub(super) fn drop_receiver(&self, site: Site) {
        const CLOSE: Op = Op::new(ObjectId::NONE, Action::Channel(ChannelOp::CloseReceiver));
        // Elsewhere the threads of the run may be at the messages; they go with the channel.
        if !self.is_here() {
            return;
        }
        self.submit(Kind::Channel, CLOSE, site);
        // Those that are offered go back to their senders.
        let take_all =
            |messages: &mut Messages<T>| std::mem::replace(&mut messages.left, Queue::new());
        // SAFETY: this is a thread of the run, and to move a queue runs nothing.
        let messages = unsafe { self.with_messages(take_all) };
        drop(messages);
    }
}

impl<T> Messages<T> {
    #[cold]
    fn take_offered(&mut self) -> T {
        match self.offered.pop_front() {
            Some((_, message)) => message,
            None => miscounted(),
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
