//! What comes after what: happens-before, by vector clocks.
//!
//! Synchronisation orders events, not the order in which they happened to come: program order, spawn
//! and join, locks, barriers, one-time initialisations, park tokens and messages, all as the standard
//! library documents them, and atomics as far as their memory orderings say. A condition variable
//! orders nothing by itself; the lock it is used with does. Nor does a try-lock that fails.
//!
//! This is the home of these rules: the weak memory model asks while a program runs, the race detector
//! afterwards.

use alloc::vec::Vec;

use raddle_core::{
    Action, BarrierOp, ChannelOp, Effect, Event, EventId, MutexOp, ObjectId, OnceOp, Order, ParkOp,
    RwLockOp, ThreadId, ThreadOp,
};

/// For each thread, how many of its steps something comes after.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// The one that comes after nothing.
    pub const NOTHING: Clock = Clock(Vec::new());

    /// How many steps of `thread`.
    #[inline]
    pub fn of(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    /// Whether `event` happened before, or is the thing itself, if steps are events.
    #[inline]
    pub fn knows(&self, event: EventId) -> bool {
        self.of(event.thread) > event.index
    }

    /// Comes after what `other` comes after, too.
    pub fn join(&mut self, other: &Clock) {
        let known = self.0.len();
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
        if let Some(more @ [_, ..]) = other.0.get(known..) {
            self.0.extend_from_slice(more);
        }
    }

    /// Comes after one more step of `thread`.
    #[inline]
    pub fn advance(&mut self, thread: ThreadId) {
        match self.0.get_mut(thread.index()) {
            Some(mine) => *mine += 1,
            None => self.raise(thread, 1),
        }
    }

    /// Comes after so many steps of `thread`, if it does not come after more.
    pub fn raise(&mut self, thread: ThreadId, steps: u32) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        let mine = &mut self.0[thread.index()];
        *mine = (*mine).max(steps);
    }

    /// Comes after only so many steps of `thread`.
    pub fn lower_to(&mut self, thread: ThreadId, steps: u32) {
        if let Some(mine) = self.0.get_mut(thread.index()) {
            *mine = (*mine).min(steps);
        }
    }

    /// Becomes what `other` is, in the same memory.
    #[inline]
    pub fn copy(&mut self, other: &Clock) {
        self.0.clear();
        if !other.0.is_empty() {
            self.0.extend_from_slice(&other.0);
        }
    }

    /// Comes after nothing.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether it comes after nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every thread it comes after a step of, with how many.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, u32)> + '_ {
        let all = self.0.iter().enumerate();
        all.filter(|(_, steps)| **steps > 0).map(|(id, &steps)| (ThreadId(id as u32), steps))
    }
}

/// What a thread comes after, at its next event; that one is included.
#[derive(Clone, Debug, Default)]
pub struct OfThread {
    /// What it comes after.
    pub clock: Clock,
    /// What its relaxed loads have read, for a fence that acquires.
    unacquired: Clock,
    /// What its last releasing fence released.
    fenced: Clock,
}

impl OfThread {
    /// A fence.
    pub fn fence(&mut self, order: Order) {
        if order.acquires() {
            self.clock.join(&self.unacquired);
        }
        if order.releases() {
            self.fenced.copy(&self.clock);
        }
    }

    /// Reads a store that carries `message`.
    #[inline]
    pub fn read(&mut self, order: Order, message: &Clock) {
        if message.is_empty() {
        } else if order.acquires() {
            self.clock.join(message);
        } else {
            self.unacquired.join(message);
        }
    }

    /// What a store with this order carries to those who read it.
    #[inline]
    pub fn message(&self, order: Order) -> &Clock {
        if order.releases() { &self.clock } else { &self.fenced }
    }

    /// What its relaxed loads have read.
    pub fn unacquired(&self) -> &Clock {
        &self.unacquired
    }

    fn begin(&mut self, id: ThreadId) {
        self.clock.clear();
        self.clock.raise(id, 1);
        self.unacquired.clear();
        self.fenced.clear();
    }
}

/// What is to be learnt from an object.
#[derive(Clone, Debug, Default)]
struct OfObject {
    /// What it was given: by whoever let go of it, by everybody who came there.
    released: Clock,
    /// What those released who read it under a lock, for those who write.
    read: Clock,
    /// What each message was sent with.
    sent: Vec<Clock>,
    /// What each message was taken with.
    taken: Vec<Clock>,
}

/// Who comes after what, in one run.
#[derive(Clone, Debug, Default)]
pub struct Causality {
    /// By thread; those from `known` on are left over from earlier runs.
    threads: Vec<OfThread>,
    known: usize,
    /// By object; those from `known_objects` on likewise.
    objects: Vec<OfObject>,
    known_objects: usize,
    /// By object, whose life it is, if it is one; main's is the first.
    lives: Vec<ThreadId>,
}

impl Causality {
    /// Forgets everything; a new run begins.
    pub fn reset(&mut self) {
        self.known = 0;
        self.known_objects = 0;
        self.lives.clear();
    }

    /// What a thread comes after.
    #[inline]
    pub fn thread(&mut self, id: ThreadId) -> &mut OfThread {
        if self.known <= id.index() {
            self.admit(id);
        }
        &mut self.threads[id.index()]
    }

    /// What a thread of which something is known comes after.
    #[inline]
    pub fn clock(&self, id: ThreadId) -> Option<&Clock> {
        self.threads[..self.known].get(id.index()).map(|thread| &thread.clock)
    }

    /// The threads of which something is known.
    pub fn threads(&self) -> &[OfThread] {
        &self.threads[..self.known]
    }

    #[cold]
    fn admit(&mut self, id: ThreadId) {
        while self.known <= id.index() {
            if self.threads.len() == self.known {
                self.threads.push(OfThread::default());
            }
            self.threads[self.known].begin(ThreadId(self.known as u32));
            self.known += 1;
        }
    }

    #[cold]
    fn admit_object(&mut self, at: usize) {
        while self.known_objects <= at {
            match self.objects.get_mut(self.known_objects) {
                Some(left_over) => left_over.clear(),
                None => self.objects.push(OfObject::default()),
            }
            self.known_objects += 1;
        }
    }

    /// The event of a thread is over.
    #[inline]
    pub fn advance(&mut self, id: ThreadId) {
        self.thread(id).clock.advance(id);
    }

    /// Lets a thread learn and teach what an event says that is no access to a variable.
    pub fn happen(&mut self, event: &Event) {
        let id = event.id.thread;
        if event.op.is_thread() && event.op.thread() == ThreadOp::Exit {
            // Whoever waits for that comes after what this thread comes after, and no more.
            return;
        }
        self.thread(id);
        let at = event.op.object().index();
        if event.op.is_thread() {
            self.live(id, at, event.op.thread(), event.effect);
        } else if event.op.object() != ObjectId::NONE {
            if self.known_objects <= at {
                self.admit_object(at);
            }
            self.learn_and_teach(id, at, event);
        } else if let Some(order) = event.op.fence() {
            self.threads[id.index()].fence(order);
        }
        self.threads[id.index()].clock.advance(id);
    }

    /// Threads begin, end, and wait for that. Every program does it.
    #[inline]
    fn live(&mut self, id: ThreadId, at: usize, op: ThreadOp, effect: Effect) {
        match (op, effect) {
            (ThreadOp::Spawn, Effect::Value(child)) => {
                let child = ThreadId(child as u32);
                if self.lives.len() <= at {
                    self.lives.resize(at + 1, ThreadId::MAIN);
                }
                self.lives[at] = child;
                self.thread(child);
                self.teach(id, child);
            }
            (ThreadOp::Join, _) | (ThreadOp::IsFinished, Effect::Yes) => {
                self.teach(self.lives.get(at).copied().unwrap_or(ThreadId::MAIN), id);
            }
            (ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::IsFinished, _) => {}
        }
    }

    /// A thread comes after what another comes after.
    #[inline]
    fn teach(&mut self, from: ThreadId, to: ThreadId) {
        let (from, to) = (from.index(), to.index());
        let (lower, upper) = self.threads.split_at_mut(from.max(to));
        match upper {
            [newer, ..] if from < to => newer.clock.join(&lower[from].clock),
            [newer, ..] if to < from => lower[to].clock.join(&newer.clock),
            _ => {}
        }
    }

    fn learn_and_teach(&mut self, id: ThreadId, at: usize, event: &Event) {
        let (thread, object) = (&mut self.threads[id.index()], &mut self.objects[at]);
        match event.op.action() {
            Action::Mutex(op) => match op {
                MutexOp::TryLock if event.effect == Effect::No => {}
                MutexOp::Lock | MutexOp::TryLock => thread.clock.join(&object.released),
                MutexOp::Unlock => object.released.copy(&thread.clock),
            },
            Action::RwLock(op) => match op {
                RwLockOp::TryRead | RwLockOp::TryWrite if event.effect == Effect::No => {}
                RwLockOp::Read | RwLockOp::TryRead => thread.clock.join(&object.released),
                RwLockOp::Write | RwLockOp::TryWrite => {
                    thread.clock.join(&object.released);
                    thread.clock.join(&object.read);
                }
                RwLockOp::UnlockRead => object.read.join(&thread.clock),
                RwLockOp::UnlockWrite => object.released.copy(&thread.clock),
            },
            Action::Barrier(BarrierOp::Arrive) => {
                object.released.join(&thread.clock);
                // The last to come need not wait.
                if let Effect::LastTicket(_) = event.effect {
                    thread.clock.join(&object.released);
                }
            }
            Action::Barrier(BarrierOp::Leave { .. }) => thread.clock.join(&object.released),
            Action::Once(op) => match op {
                OnceOp::IsComplete if event.effect == Effect::No => {}
                OnceOp::Begin | OnceOp::IsComplete => thread.clock.join(&object.released),
                OnceOp::Complete | OnceOp::Reset => object.released.join(&thread.clock),
            },
            Action::Park(ParkOp::Unpark) => object.released.join(&thread.clock),
            Action::Park(ParkOp::Park { .. }) => thread.clock.join(&object.released),
            Action::Channel(op) => object.channel(op, event.effect, &mut thread.clock),
            Action::Thread(_)
            | Action::Atomic(_)
            | Action::Condvar(_)
            | Action::Cell(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => {}
        }
    }
}

impl OfObject {
    fn clear(&mut self) {
        self.released.clear();
        self.read.clear();
        self.sent.clear();
        self.taken.clear();
    }

    fn channel(&mut self, op: ChannelOp, effect: Effect, clock: &mut Clock) {
        match (op, effect) {
            (ChannelOp::Send | ChannelOp::TrySend, Effect::Ticket(_)) => {
                self.sent.push(clock.clone());
            }
            (ChannelOp::Receive { .. } | ChannelOp::TryReceive, Effect::Yes) => {
                if let Some(sent) = self.sent.get(self.taken.len()) {
                    clock.join(sent);
                }
                self.taken.push(clock.clone());
            }
            (ChannelOp::AwaitTaken { ticket }, Effect::Yes) => {
                if let Some(taken) = self.taken.get(ticket as usize) {
                    clock.join(taken);
                }
            }
            (ChannelOp::CloseSenders | ChannelOp::CloseReceiver, _) => {
                self.released.join(clock);
            }
            (_, Effect::Closed) => clock.join(&self.released),
            _ => {}
        }
    }
}
