//! Data races: two accesses to a plain variable, at least one of them a write, that nothing orders.
//!
//! What orders events is synchronisation, not the order in which they happened to come: program order,
//! spawn and join, locks, barriers, one-time initialisations, park tokens, messages, and atomics as far
//! as their memory orderings say (C++20: a release sequence goes on through read-modify-writes only). A
//! condition variable orders nothing by itself; the lock it is used with does.
//!
//! To make an object is to write its memory, for any kind of object, where an allocator tells who did.
//!
//! Clocks are worked out after a run, and only if the run has accesses to plain variables.

use raddle_core::{
    Action, AtomicOp, BarrierOp, CellOp, ChannelOp, Effect, Event, Finding, MutexOp, ObjectId,
    OnceOp, Order, ParkOp, PlainAccess, RwLockOp, Site, ThreadOp, Trace,
};
use raddle_engine::{Engine, Sc, Substrate};
use raddle_strategy::Random;

use crate::clock::Clock;
use crate::{Explorer, Repeat};

/// The first race of a run, if it has one.
pub fn race(trace: &Trace) -> Option<Finding> {
    let announced = |event: &Event| matches!(event.op.action(), Action::Cell(_));
    if trace.plain.is_empty() && !trace.events.iter().any(announced) {
        return None;
    }
    let (first, second) = go_through(trace, |racing| Err(racing)).err()?;
    Some(Finding::Race { first, second })
}

/// How many runs are made to see which lines race.
const TRIALS: u64 = 50;

/// The lines of `program` that race in one of a few runs, each once. The same whenever it is asked.
pub fn racing_lines<S: Substrate>(
    substrate: &mut S,
    program: &S::Program,
    max_steps: usize,
) -> Vec<Site> {
    let mut lines = Vec::new();
    let mut trials = Repeat::new(Random::default(), 0);
    let mut engine = Engine::new(Sc, trials.family(), trials.chooser(), max_steps);
    for trial in 0..TRIALS {
        trials.next(engine.plan_mut());
        if substrate.execute(&mut engine, program).is_err() {
            break;
        }
        let (trace, plan) = engine.trace_and_plan_mut();
        trials.learn(trial, trace, plan);
        let _ = go_through(trace, |(first, second)| {
            for line in [first.site, second.site] {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            Ok(())
        });
    }
    lines
}

/// Two accesses that race.
type Racing = (PlainAccess, PlainAccess);

/// Tells `found` of every race of a run, until it has enough.
fn go_through(
    trace: &Trace,
    mut found: impl FnMut(Racing) -> Result<(), Racing>,
) -> Result<(), Racing> {
    let mut detector = Detector::new(trace);
    let mut look = |detector: &mut Detector, access: PlainAccess| {
        detector.other(access).map_or(Ok(()), |other| found((other, access)))?;
        detector.access(access);
        Ok(())
    };
    let mut plain = trace.plain.iter().peekable();
    for (position, event) in trace.events.iter().enumerate() {
        while let Some(access) = plain.next_if(|access| access.after <= position) {
            look(&mut detector, *access)?;
        }
        if let Action::Cell(op) = event.op.action() {
            let access = plain_access(position, event, op == CellOp::Write);
            look(&mut detector, access)?;
        } else {
            if detector.is_created(event.op.object()) {
                // Whoever uses an object reads what its creator wrote.
                look(&mut detector, plain_access(position, event, false))?;
            }
            detector.happen(event);
        }
    }
    plain.try_for_each(|access| look(&mut detector, *access))
}

/// The event at `position` as an access to plain memory.
fn plain_access(position: usize, event: &Event, writes: bool) -> PlainAccess {
    let (thread, object) = (event.id.thread, event.op.object());
    PlainAccess { thread, after: position, object, writes, site: event.site }
}

#[derive(Clone, Debug, Default)]
struct OfThread {
    clock: Clock,
    /// What its relaxed loads have read, for a fence that acquires.
    unacquired: Clock,
    /// What its last releasing fence released.
    fenced: Clock,
}

/// What is to be learnt from an object.
#[derive(Clone, Debug, Default)]
struct OfObject {
    /// What it was given: by the last store, by whoever let go of it, by everybody who came there.
    released: Clock,
    /// What those released who read it under a lock, for those who write.
    read: Clock,
    /// What each message was sent with.
    sent: Vec<Clock>,
    /// What each message was taken with.
    taken: Vec<Clock>,
}

/// The accesses to a plain variable that a later one could race with.
#[derive(Clone, Debug, Default)]
struct OfVariable {
    write: Option<Stamped>,
    /// Since the write; one for each thread.
    reads: Vec<Stamped>,
}

/// An access, and the time at which its thread made it.
#[derive(Copy, Clone, Debug)]
struct Stamped {
    access: PlainAccess,
    time: u32,
}

struct Detector {
    threads: Vec<OfThread>,
    objects: Vec<OfObject>,
    variables: Vec<OfVariable>,
}

impl Detector {
    fn new(trace: &Trace) -> Detector {
        let threads = trace.threads.iter().map(|info| info.id.index() + 1).max().unwrap_or(1);
        let mut threads = vec![OfThread::default(); threads];
        for info in &trace.threads {
            threads[info.id.index()].clock.advance(info.id);
        }
        let objects = vec![OfObject::default(); trace.objects.len()];
        let variables = vec![OfVariable::default(); trace.objects.len()];
        Detector { threads, objects, variables }
    }

    /// Whether somebody wrote the memory of an object that is used by other means.
    fn is_created(&self, object: ObjectId) -> bool {
        self.variables.get(object.index()).is_some_and(|variable| variable.write.is_some())
    }

    /// What an access races with, if with anything.
    fn other(&self, access: PlainAccess) -> Option<PlainAccess> {
        let PlainAccess { thread, object, writes, .. } = access;
        let clock = &self.threads[thread.index()].clock;
        let variable = &self.variables[object.index()];
        let unordered = |other: &&Stamped| {
            other.access.thread != thread && clock.of(other.access.thread) < other.time
        };
        let write = variable.write.iter().find(unordered);
        let read = || variable.reads.iter().filter(|_| writes).find(unordered);
        write.or_else(read).map(|other| other.access)
    }

    /// An access that later ones could race with.
    fn access(&mut self, access: PlainAccess) {
        let PlainAccess { thread, object, writes, .. } = access;
        let time = self.threads[thread.index()].clock.of(thread);
        let variable = &mut self.variables[object.index()];
        let stamped = Stamped { access, time };
        if writes {
            variable.reads.clear();
            variable.write = Some(stamped);
        } else {
            match variable.reads.iter_mut().find(|read| read.access.thread == thread) {
                Some(read) => *read = stamped,
                None => variable.reads.push(stamped),
            }
        }
    }

    /// Lets a thread learn and teach what an event on an object says.
    fn happen(&mut self, event: &Event) {
        let id = event.id.thread;
        let thread = &mut self.threads[id.index()];
        let Some(object) = self.objects.get_mut(event.op.object().index()) else {
            if let Action::Fence(order) = event.op.action() {
                thread.fence(order);
            }
            thread.clock.advance(id);
            return;
        };
        match event.op.action() {
            Action::Thread(op) => match op {
                ThreadOp::Spawn => {
                    let clock = thread.clock.clone();
                    if let Effect::Value(child) = event.effect {
                        self.threads[child as usize].clock.join(&clock);
                    }
                }
                ThreadOp::Exit => object.released.join(&thread.clock),
                ThreadOp::Join => thread.clock.join(&object.released),
                ThreadOp::IsFinished if event.effect == Effect::Yes => {
                    thread.clock.join(&object.released);
                }
                ThreadOp::IsFinished => {}
            },
            Action::Atomic(op) => thread.atomic(op, event.effect, object),
            Action::Mutex(op) => match op {
                MutexOp::TryLock if event.effect == Effect::No => {}
                MutexOp::Lock | MutexOp::TryLock => thread.clock.join(&object.released),
                MutexOp::Unlock => object.released.clone_from(&thread.clock),
            },
            Action::RwLock(op) => match op {
                RwLockOp::TryRead | RwLockOp::TryWrite if event.effect == Effect::No => {}
                RwLockOp::Read | RwLockOp::TryRead => thread.clock.join(&object.released),
                RwLockOp::Write | RwLockOp::TryWrite => {
                    thread.clock.join(&object.released);
                    thread.clock.join(&object.read);
                }
                RwLockOp::UnlockRead => object.read.join(&thread.clock),
                RwLockOp::UnlockWrite => object.released.clone_from(&thread.clock),
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
            Action::Channel(op) => thread.channel(op, event.effect, object),
            Action::Condvar(_)
            | Action::Cell(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => {}
        }
        self.threads[id.index()].clock.advance(id);
    }
}

impl OfThread {
    fn fence(&mut self, order: Order) {
        if order.acquires() {
            self.clock.join(&self.unacquired);
        }
        if order.releases() {
            self.fenced.clone_from(&self.clock);
        }
    }

    fn atomic(&mut self, op: AtomicOp, effect: Effect, object: &mut OfObject) {
        let (reads, writes) = match (op, effect) {
            (AtomicOp::Load { order }, _) => (Some(order), None),
            (AtomicOp::Store { order, .. }, _) => (None, Some(order)),
            (AtomicOp::Update { order, .. }, _) => (Some(order), Some(order)),
            (AtomicOp::CompareExchange { success, .. }, Effect::Exchanged(_)) => {
                (Some(success), Some(success))
            }
            (AtomicOp::CompareExchange { failure, .. }, _) => (Some(failure), None),
        };
        if let Some(order) = reads {
            if order.acquires() {
                self.clock.join(&object.released);
            } else {
                self.unacquired.join(&object.released);
            }
        }
        if let Some(order) = writes {
            // A store begins anew; a read-modify-write goes on with what was released before.
            if reads.is_none() {
                object.released = Clock::default();
            }
            object.released.join(if order.releases() { &self.clock } else { &self.fenced });
        }
    }

    fn channel(&mut self, op: ChannelOp, effect: Effect, object: &mut OfObject) {
        match (op, effect) {
            (ChannelOp::Send | ChannelOp::TrySend, Effect::Ticket(_)) => {
                object.sent.push(self.clock.clone());
            }
            (ChannelOp::Receive { .. } | ChannelOp::TryReceive, Effect::Yes) => {
                if let Some(sent) = object.sent.get(object.taken.len()) {
                    self.clock.join(sent);
                }
                object.taken.push(self.clock.clone());
            }
            (ChannelOp::AwaitTaken { ticket }, Effect::Yes) => {
                if let Some(taken) = object.taken.get(ticket as usize) {
                    self.clock.join(taken);
                }
            }
            (ChannelOp::CloseSenders | ChannelOp::CloseReceiver, _) => {
                object.released.join(&self.clock);
            }
            (_, Effect::Closed) => self.clock.join(&object.released),
            _ => {}
        }
    }
}
