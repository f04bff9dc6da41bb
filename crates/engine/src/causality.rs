//! Happens-before, by vector clocks.
//!
//! Events are ordered by synchronisation, not by their position in the run. Program order, spawn and join, locks,
//! barriers, one-time initialisations, park tokens and messages synchronise as the standard library documents them.
//! Atomics synchronise as their memory orderings say. A condition variable orders nothing by itself; the lock it is
//! used with does. A try-lock that fails orders nothing. A post of a semaphore happens before the waits after it. Futex
//! operations on one variable are ordered, because the kernel makes them under a lock.
//!
//! The rules stand in this module only. The weak memory model uses them during a run, the race detector after it.

use alloc::vec::Vec;

use raddle_core::{
    Action, BarrierOp, ChannelOp, Effect, Event, EventId, FutexOp, MutexOp, ObjectId, OnceOp,
    Order, ParkOp, RwLockOp, SemaphoreOp, ThreadId, ThreadOp,
};

/// A vector clock: for each thread, the number of its steps that happen before.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// The clock that contains no step.
    pub const EMPTY: Clock = Clock(Vec::new());

    /// Returns the number of steps of `thread`.
    #[inline]
    pub fn of(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    /// Returns whether this clock, which counts events, contains `event`.
    #[inline]
    pub fn contains(&self, event: EventId) -> bool {
        self.of(event.thread) > event.index
    }

    /// Takes the maximum of this clock and `other`.
    pub fn join(&mut self, other: &Clock) {
        let shared = self.0.len();
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
        if let Some(more @ [_, ..]) = other.0.get(shared..) {
            self.0.extend_from_slice(more);
        }
    }

    /// Adds one step of `thread`.
    #[inline]
    pub fn advance(&mut self, thread: ThreadId) {
        match self.0.get_mut(thread.index()) {
            Some(mine) => *mine += 1,
            None => self.raise(thread, 1),
        }
    }

    /// Raises the number of steps of `thread` to `steps`, if it is lower.
    pub fn raise(&mut self, thread: ThreadId, steps: u32) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        let mine = &mut self.0[thread.index()];
        *mine = (*mine).max(steps);
    }

    /// Lowers the number of steps of `thread` to `steps`, if it is higher.
    pub fn lower_to(&mut self, thread: ThreadId, steps: u32) {
        if let Some(mine) = self.0.get_mut(thread.index()) {
            *mine = (*mine).min(steps);
        }
    }

    /// Becomes equal to `other`. Keeps the allocated memory.
    #[inline]
    pub fn copy_from(&mut self, other: &Clock) {
        self.0.clear();
        if !other.0.is_empty() {
            self.0.extend_from_slice(&other.0);
        }
    }

    /// Removes all steps.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns whether the clock contains no step.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns every thread with at least one step, and the number of its steps.
    pub fn iter(&self) -> impl Iterator<Item = (ThreadId, u32)> + '_ {
        let all = self.0.iter().enumerate();
        all.filter(|(_, steps)| **steps > 0).map(|(id, &steps)| (ThreadId(id as u32), steps))
    }
}

/// The clocks of a thread at its next event.
#[derive(Clone, Debug, Default)]
pub struct ThreadClocks {
    /// What happens before the next event, which is included.
    pub clock: Clock,
    /// What the thread's relaxed loads have read. An acquire fence joins it.
    unacquired: Clock,
    /// What the thread's last release fence released.
    released_by_fence: Clock,
}

impl ThreadClocks {
    /// Performs a fence.
    pub fn fence(&mut self, order: Order) {
        if order.acquires() {
            self.clock.join(&self.unacquired);
        }
        if order.releases() {
            self.released_by_fence.copy_from(&self.clock);
        }
    }

    /// Reads a store that releases `message`.
    #[inline]
    pub fn read(&mut self, order: Order, message: &Clock) {
        if message.is_empty() {
        } else if order.acquires() {
            self.clock.join(message);
        } else {
            self.unacquired.join(message);
        }
    }

    /// Returns what a store with this order releases to its readers.
    #[inline]
    pub fn message(&self, order: Order) -> &Clock {
        if order.releases() { &self.clock } else { &self.released_by_fence }
    }

    /// Returns what the thread's relaxed loads have read.
    pub fn unacquired(&self) -> &Clock {
        &self.unacquired
    }

    fn reset(&mut self, id: ThreadId) {
        self.clock.clear();
        self.clock.raise(id, 1);
        self.unacquired.clear();
        self.released_by_fence.clear();
    }
}

/// The clocks of an object.
#[derive(Clone, Debug, Default)]
struct ObjectClocks {
    /// What threads released through the object.
    released: Clock,
    /// What read locks released. Only write locks acquire it.
    read: Clock,
    /// By message, the clock of its send.
    sent: Vec<Clock>,
    /// By message, the clock of its receive.
    taken: Vec<Clock>,
}

/// The happens-before relation of one run.
#[derive(Clone, Debug, Default)]
pub struct Causality {
    /// By thread. Entries from `thread_count` on are left over from earlier runs.
    threads: Vec<ThreadClocks>,
    thread_count: usize,
    /// By object. Entries from `object_count` on are left over from earlier runs.
    objects: Vec<ObjectClocks>,
    object_count: usize,
    /// By object, the thread that it represents. Main for objects that represent none.
    thread_of_object: Vec<ThreadId>,
}

impl Causality {
    /// Resets the relation for a new run.
    pub fn reset(&mut self) {
        self.thread_count = 0;
        self.object_count = 0;
        self.thread_of_object.clear();
    }

    /// Returns the clocks of a thread.
    #[inline]
    pub fn thread(&mut self, id: ThreadId) -> &mut ThreadClocks {
        if self.thread_count <= id.index() {
            self.add_threads(id);
        }
        &mut self.threads[id.index()]
    }

    /// Returns the clock of a thread. Returns `None` if the thread has not taken part in the run.
    #[inline]
    pub fn clock(&self, id: ThreadId) -> Option<&Clock> {
        self.threads[..self.thread_count].get(id.index()).map(|thread| &thread.clock)
    }

    /// Returns the clocks of all threads that have taken part in the run.
    pub fn threads(&self) -> &[ThreadClocks] {
        &self.threads[..self.thread_count]
    }

    #[cold]
    fn add_threads(&mut self, id: ThreadId) {
        while self.thread_count <= id.index() {
            if self.threads.len() == self.thread_count {
                self.threads.push(ThreadClocks::default());
            }
            self.threads[self.thread_count].reset(ThreadId(self.thread_count as u32));
            self.thread_count += 1;
        }
    }

    #[cold]
    fn add_objects(&mut self, at: usize) {
        while self.object_count <= at {
            match self.objects.get_mut(self.object_count) {
                Some(left_over) => left_over.clear(),
                None => self.objects.push(ObjectClocks::default()),
            }
            self.object_count += 1;
        }
    }

    /// Makes what threads released through an object happen before the next event of a thread.
    pub fn acquire(&mut self, id: ThreadId, object: ObjectId) {
        self.thread(id);
        if let Some(object) = self.objects[..self.object_count].get(object.index()) {
            self.threads[id.index()].clock.join(&object.released);
        }
    }

    /// Adds an event of a thread to its clock.
    #[inline]
    pub fn advance(&mut self, id: ThreadId) {
        self.thread(id).clock.advance(id);
    }

    /// Updates the clocks by an event that is no access to an atomic variable.
    pub fn observe(&mut self, event: &Event) {
        let id = event.id.thread;
        if event.op.is_thread() && event.op.thread() == ThreadOp::Exit {
            // A join synchronises with the events before the exit.
            return;
        }
        self.thread(id);
        let at = event.op.object().index();
        if event.op.is_thread() {
            self.thread_operation(id, at, event.op.thread(), event.effect);
        } else if event.op.object() != ObjectId::NONE {
            if self.object_count <= at {
                self.add_objects(at);
            }
            self.object_operation(id, at, event);
        } else if let Some(order) = event.op.fence() {
            self.threads[id.index()].fence(order);
        }
        self.threads[id.index()].clock.advance(id);
    }

    /// Performs an operation of `id` on the thread whose object has the index `at`.
    #[inline]
    fn thread_operation(&mut self, id: ThreadId, at: usize, op: ThreadOp, effect: Effect) {
        match (op, effect) {
            (ThreadOp::Spawn, Effect::Value(child)) => {
                let child = ThreadId(child as u32);
                if self.thread_of_object.len() <= at {
                    self.thread_of_object.resize(at + 1, ThreadId::MAIN);
                }
                self.thread_of_object[at] = child;
                self.thread(child);
                self.join_clock(id, child);
            }
            (ThreadOp::Join, _) | (ThreadOp::IsFinished, Effect::Yes) => {
                self.join_clock(
                    self.thread_of_object.get(at).copied().unwrap_or(ThreadId::MAIN),
                    id,
                );
            }
            (ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::IsFinished, _) => {}
        }
    }

    /// Joins the clock of `from` into that of `to`.
    #[inline]
    fn join_clock(&mut self, from: ThreadId, to: ThreadId) {
        let (from, to) = (from.index(), to.index());
        let (lower, upper) = self.threads.split_at_mut(from.max(to));
        match upper {
            [newer, ..] if from < to => newer.clock.join(&lower[from].clock),
            [newer, ..] if to < from => lower[to].clock.join(&newer.clock),
            _ => {}
        }
    }

    /// Performs an operation of `id` on the object with the index `at`.
    fn object_operation(&mut self, id: ThreadId, at: usize, event: &Event) {
        let (thread, object) = (&mut self.threads[id.index()], &mut self.objects[at]);
        match event.op.action() {
            Action::Mutex(op) => match op {
                MutexOp::TryLock if event.effect == Effect::No => {}
                MutexOp::Lock | MutexOp::TryLock => thread.clock.join(&object.released),
                MutexOp::Unlock => object.released.copy_from(&thread.clock),
            },
            Action::RwLock(op) => match op {
                RwLockOp::TryRead | RwLockOp::TryWrite if event.effect == Effect::No => {}
                RwLockOp::Read | RwLockOp::TryRead => thread.clock.join(&object.released),
                RwLockOp::Write | RwLockOp::TryWrite => {
                    thread.clock.join(&object.released);
                    thread.clock.join(&object.read);
                }
                RwLockOp::UnlockRead => object.read.join(&thread.clock),
                RwLockOp::UnlockWrite => object.released.copy_from(&thread.clock),
            },
            Action::Barrier(BarrierOp::Arrive) => {
                object.released.join(&thread.clock);
                // The last thread to arrive does not wait.
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
            Action::Semaphore(op) => match op {
                SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait if event.effect == Effect::No => {}
                SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait => {
                    thread.clock.join(&object.released);
                }
                SemaphoreOp::Post => object.released.join(&thread.clock),
                SemaphoreOp::Value => {}
            },
            Action::Futex(op) => match op {
                FutexOp::Wake { .. } | FutexOp::Requeue { .. } | FutexOp::Enqueue { .. } => {
                    thread.clock.join(&object.released);
                    object.released.copy_from(&thread.clock);
                }
                FutexOp::Consume { .. } if event.effect == Effect::No => {}
                FutexOp::Consume { .. } | FutexOp::Look => thread.clock.join(&object.released),
            },
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

impl ObjectClocks {
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
