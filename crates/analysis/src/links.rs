//! Links from the steps of a run to the earlier steps that explain them, derived in one pass.

use std::collections::HashMap;

use raddle_core::{
    Action, AtomicOp, BarrierOp, ChannelOp, Effect, Event, EventId, FutexOp, MutexOp, ObjectId,
    ObjectKind, OnceOp, ParkOp, RwLockOp, SemaphoreOp, ThreadId, ThreadOp, Trace,
};

use crate::{Reads, Wakeups};

/// The link of a step to an earlier one. Steps are positions in the trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Link {
    /// The step reads what this step wrote.
    Reads(usize),
    /// The step reads the initial value of the variable.
    ReadsInitial,
    /// The step's store comes before that of this step in the variable's modification order.
    StoresBefore(usize),
    /// The step overwrites what another thread wrote in this step, without reading it.
    Overwrites(usize),
    /// The step releases the lock that this step acquired.
    TakenIn(usize),
}

/// The links of all steps of a run.
pub struct Links {
    links: Vec<Option<Link>>,
    /// By step: the newest store, if the step's read missed it.
    missed: Vec<Option<usize>>,
    /// By step: the step of another thread that enabled it.
    after: Vec<Option<usize>>,
}

impl Links {
    /// Derives the links of the steps of `trace`.
    pub fn of(trace: &Trace) -> Links {
        let wakeups = Wakeups::of(trace);
        let mut past = Past::default();
        let mut links = Links { links: Vec::new(), missed: Vec::new(), after: Vec::new() };
        let reads = Reads::of(trace);
        let steps: HashMap<EventId, usize> =
            trace.events.iter().enumerate().map(|(step, event)| (event.id, step)).collect();
        for (position, event) in trace.events.iter().enumerate() {
            let read = reads.at(position);
            let missed = read.filter(|read| read.newer > 0).map(|read| steps[&read.newest]);
            let atomic = match (read, reads.overtaken(position)) {
                (Some(read), _) => Some(
                    steps.get(&read.source).map_or(Link::ReadsInitial, |&step| Link::Reads(step)),
                ),
                (None, Some(next)) => Some(Link::StoresBefore(steps[&next])),
                (None, None) => None,
            };
            links.links.push(atomic.or_else(|| past.link(trace, event)));
            links.missed.push(missed);
            let after = past.enabler(trace, event).or_else(|| wakeups.notification(position));
            let is_foreign = |step: &usize| trace.events[*step].id.thread != event.id.thread;
            links.after.push(after.filter(is_foreign));
            past.add(trace, position, event);
        }
        links
    }

    /// Returns the link of the step at `position`, if it has one.
    pub fn link(&self, position: usize) -> Option<Link> {
        self.links[position]
    }

    /// Returns the newest store, if the read at `position` did not read it.
    pub fn missed(&self, position: usize) -> Option<usize> {
        self.missed[position]
    }

    /// Returns the step of another thread that enabled the one at `position`: it released the lock, sent the
    /// message, notified, unparked, exited, or spawned the thread.
    pub fn after(&self, position: usize) -> Option<usize> {
        self.after[position]
    }
}

/// What the links of later steps need to know of the steps so far.
#[derive(Default)]
struct Past {
    /// By object: the last step that updated it.
    updates: HashMap<ObjectId, usize>,
    /// By lock and thread: the last acquisition.
    acquisitions: HashMap<(ObjectId, ThreadId), usize>,
    /// By lock: the last release. By channel: the sends of messages not received yet. By park token,
    /// one-time initialisation and barrier: the last step that enables others.
    enablers: HashMap<ObjectId, Vec<usize>>,
    /// By thread: its spawn until its first step, then its exit.
    lives: HashMap<ThreadId, usize>,
}

impl Past {
    fn link(&self, trace: &Trace, event: &Event) -> Option<Link> {
        let object = event.op.object();
        let acquired =
            || self.acquisitions.get(&(object, event.id.thread)).copied().map(Link::TakenIn);
        match event.op.action() {
            Action::Atomic(op) => match op {
                // Linked by what they read.
                AtomicOp::Load { .. }
                | AtomicOp::Update { .. }
                | AtomicOp::CompareExchange { .. } => None,
                AtomicOp::Store { .. } => {
                    let before = *self.updates.get(&object)?;
                    let is_foreign = trace.events[before].id.thread != event.id.thread;
                    is_foreign.then_some(Link::Overwrites(before))
                }
            },
            Action::Mutex(op) => match op {
                MutexOp::Unlock => acquired(),
                MutexOp::Lock | MutexOp::TryLock => None,
            },
            Action::RwLock(op) => match op {
                RwLockOp::UnlockRead | RwLockOp::UnlockWrite => acquired(),
                RwLockOp::Read | RwLockOp::Write | RwLockOp::TryRead | RwLockOp::TryWrite => None,
            },
            Action::Thread(_)
            | Action::Cell(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => None,
        }
    }

    /// Returns the step that enabled this one, of any thread.
    fn enabler(&mut self, trace: &Trace, event: &Event) -> Option<usize> {
        let (object, thread) = (event.op.object(), event.id.thread);
        if event.id.index == 0 {
            if let Some(spawn) = self.lives.remove(&thread) {
                return Some(spawn);
            }
        }
        let took_effect = event.effect != Effect::No && event.effect != Effect::Closed;
        let last = |past: &Past| past.enablers.get(&object).and_then(|all| all.last().copied());
        match event.op.action() {
            Action::Mutex(MutexOp::Lock | MutexOp::TryLock)
            | Action::RwLock(
                RwLockOp::Read | RwLockOp::Write | RwLockOp::TryRead | RwLockOp::TryWrite,
            )
            | Action::Park(ParkOp::Park { .. })
            | Action::Futex(FutexOp::Consume { .. })
                if took_effect =>
            {
                last(self)
            }
            Action::Barrier(BarrierOp::Leave { .. }) => last(self),
            Action::Once(OnceOp::Begin) if event.effect == Effect::No => last(self),
            Action::Channel(ChannelOp::Receive { .. } | ChannelOp::TryReceive)
            | Action::Semaphore(SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait)
                if took_effect =>
            {
                let sends = self.enablers.get_mut(&object)?;
                (!sends.is_empty()).then(|| sends.remove(0))
            }
            Action::Thread(ThreadOp::Join) => match trace.objects.get(object.index())?.kind {
                ObjectKind::Thread(joined) => self.lives.get(&joined).copied(),
                ObjectKind::Atomic(_)
                | ObjectKind::Cell
                | ObjectKind::Mutex
                | ObjectKind::RwLock
                | ObjectKind::Condvar
                | ObjectKind::Barrier
                | ObjectKind::Once
                | ObjectKind::Parker(_)
                | ObjectKind::Channel
                | ObjectKind::Semaphore
                | ObjectKind::Notify => None,
            },
            Action::Thread(ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::IsFinished)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => None,
        }
    }

    fn add(&mut self, trace: &Trace, position: usize, event: &Event) {
        let (object, thread) = (event.op.object(), event.id.thread);
        if event.access().changes() {
            self.updates.insert(object, position);
        }
        let took_effect = event.effect != Effect::No && event.effect != Effect::Closed;
        match event.op.action() {
            Action::Thread(op) => match op {
                ThreadOp::Spawn => {
                    if let Some(ObjectKind::Thread(spawned)) =
                        trace.objects.get(object.index()).map(|object| object.kind)
                    {
                        self.lives.insert(spawned, position);
                    }
                }
                ThreadOp::Exit => {
                    self.lives.insert(thread, position);
                }
                ThreadOp::Join | ThreadOp::IsFinished => {}
            },
            Action::Mutex(op) => match op {
                MutexOp::Lock | MutexOp::TryLock if took_effect => {
                    self.acquisitions.insert((object, thread), position);
                }
                MutexOp::Lock | MutexOp::TryLock => {}
                MutexOp::Unlock => self.enables(object, position),
            },
            Action::RwLock(op) => match op {
                RwLockOp::Read | RwLockOp::Write | RwLockOp::TryRead | RwLockOp::TryWrite
                    if took_effect =>
                {
                    self.acquisitions.insert((object, thread), position);
                }
                RwLockOp::Read | RwLockOp::Write | RwLockOp::TryRead | RwLockOp::TryWrite => {}
                RwLockOp::UnlockRead | RwLockOp::UnlockWrite => self.enables(object, position),
            },
            Action::Barrier(op) => match op {
                BarrierOp::Arrive => self.enables(object, position),
                BarrierOp::Leave { .. } => {}
            },
            Action::Once(op) => match op {
                OnceOp::Complete => self.enables(object, position),
                OnceOp::Begin | OnceOp::Reset | OnceOp::IsComplete => {}
            },
            Action::Park(op) => match op {
                ParkOp::Unpark if took_effect => self.enables(object, position),
                ParkOp::Unpark | ParkOp::Park { .. } => {}
            },
            Action::Channel(op) => match op {
                ChannelOp::Send | ChannelOp::TrySend if took_effect => {
                    self.enablers.entry(object).or_default().push(position);
                }
                ChannelOp::Send
                | ChannelOp::TrySend
                | ChannelOp::AwaitTaken { .. }
                | ChannelOp::Receive { .. }
                | ChannelOp::TryReceive
                | ChannelOp::CloseSenders
                | ChannelOp::CloseReceiver => {}
            },
            Action::Semaphore(op) => match op {
                SemaphoreOp::Post => self.enablers.entry(object).or_default().push(position),
                SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait | SemaphoreOp::Value => {}
            },
            Action::Futex(op) => match op {
                FutexOp::Wake { .. } | FutexOp::Requeue { .. } if took_effect => {
                    self.enables(object, position);
                }
                FutexOp::Wake { .. }
                | FutexOp::Requeue { .. }
                | FutexOp::Enqueue { .. }
                | FutexOp::Look
                | FutexOp::Consume { .. } => {}
            },
            Action::Atomic(_)
            | Action::Cell(_)
            | Action::Condvar(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => {}
        }
    }

    /// Records a step that enables others. Only the last one matters.
    fn enables(&mut self, object: ObjectId, position: usize) {
        let all = self.enablers.entry(object).or_default();
        all.clear();
        all.push(position);
    }
}
