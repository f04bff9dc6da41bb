//! Everything one execution tells the layers above.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{
    Action, Choice, Effect, Event, EventId, Events, ObjectId, Pending, Scalar, Schedule, Site,
    ThreadId, ThreadOp,
};

/// The record of one run. Who was pending or enabled at a position is derived, never stored.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Trace {
    /// What happened, in order.
    pub events: Events,
    /// What was announced but never performed.
    pub pending: Vec<Pending>,
    /// Accesses to plain variables that were no scheduling points, in order.
    pub plain: Vec<PlainAccess>,
    /// Memory with objects in it that was allocated in the run and not freed, if an allocator tells.
    pub unfreed: Vec<Creation>,
    /// The threads of this run, in the order in which their spawns were announced; main first.
    pub threads: Vec<ThreadInfo>,
    /// The objects of this run, by [`ObjectId`](crate::ObjectId).
    pub objects: Vec<ObjectInfo>,
    /// Identifies the run's equivalence class.
    pub fingerprint: u64,
    /// Which store an access read, or which one a store stands right behind in the order of the
    /// variable's stores, where there was a choice; with the position of the access in `events`. Where
    /// there was none, it is the newest. `raddle_analysis::Reads` derives the rest.
    pub sources: Vec<(usize, EventId)>,
    /// How many points that are not about threads had more than one option.
    pub choices: u64,
    /// How the run ended.
    pub ending: Ending,
    /// What the program calls its threads, where it says so. The engine does not know; the front end
    /// adds it to the run it reports.
    pub thread_names: Vec<(ThreadId, String)>,
    /// What the program calls its objects, likewise.
    pub object_names: Vec<(ObjectId, String)>,
}

/// An access to a plain variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlainAccess {
    /// Who.
    pub thread: ThreadId,
    /// How many events had happened in the run before.
    pub after: usize,
    /// What.
    pub object: ObjectId,
    /// Whether it writes.
    pub writes: bool,
    /// Where in the source.
    pub site: Site,
}

/// The memory that an object is in comes into being.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Creation {
    /// The object.
    pub object: ObjectId,
    /// Who allocated the memory.
    pub thread: ThreadId,
    /// How many events had happened in the run before.
    pub after: usize,
    /// How much it is.
    pub bytes: usize,
}

/// A thread of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Its id.
    pub id: ThreadId,
    /// Who spawned it; main's parent is main.
    pub parent: ThreadId,
    /// Its position among its parent's children.
    pub position: u32,
}

/// An object of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// What it is.
    pub kind: ObjectKind,
    /// What it began with: an atomic variable's value, a barrier's size, how many messages a
    /// channel can hold (`u64::MAX`: any number). Zero for all others.
    pub initial: u64,
    /// The same in every run for the same object and for no other, where the front end knows; zero
    /// where it does not.
    pub identity: u64,
    /// The event that first announced it; its name across runs.
    pub name: EventId,
    /// The line of that announcement.
    pub site: Site,
}

/// Kinds of objects.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// The life of a thread.
    Thread(ThreadId),
    /// An atomic variable.
    Atomic(Scalar),
    /// A plain variable.
    Cell,
    /// A mutex.
    Mutex,
    /// A reader-writer lock.
    RwLock,
    /// A condition variable.
    Condvar,
    /// A barrier.
    Barrier,
    /// A one-time initialisation.
    Once,
    /// The park token of a thread.
    Parker(ThreadId),
    /// A channel.
    Channel,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Ending {
    /// Every thread ended, or main did and the others wait for ever.
    #[default]
    Finished,
    /// No thread can go on, and main has not ended.
    Deadlock,
    /// A thread panicked.
    Panicked(Panic),
    /// The step limit was reached.
    StepLimit,
    /// The chooser gave up on it.
    Abandoned,
    /// The program did not follow the prescribed choices.
    Diverged(Divergence),
}

/// A panic that escaped a thread.
#[derive(Clone, Debug)]
pub struct Panic {
    /// The thread.
    pub thread: ThreadId,
    /// The panic message.
    pub message: String,
    /// File, line and column, if known.
    pub place: Option<String>,
    /// The stack at the panic, if the environment asks for it. Not part of what makes two panics
    /// equal.
    pub backtrace: Option<String>,
}

impl PartialEq for Panic {
    fn eq(&self, other: &Panic) -> bool {
        (self.thread, &self.message, &self.place) == (other.thread, &other.message, &other.place)
    }
}

/// Where a run left the choices prescribed for it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// How many choices had been followed.
    pub at: usize,
    /// The choice that could not be made.
    pub expected: Choice,
}

impl Trace {
    /// Forgets what happened, but not the threads, the objects and their names. Keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.events.clear();
        self.pending.clear();
        self.plain.clear();
        self.unfreed.clear();
        self.sources.clear();
        self.choices = 0;
        self.fingerprint = 0;
        self.ending = Ending::Finished;
    }

    /// The most threads alive at a time, main included.
    pub fn most_alive(&self) -> u32 {
        let (mut alive, mut most) = (1u32, 1);
        for event in self.events.iter() {
            match event.op.action() {
                Action::Thread(ThreadOp::Spawn) => alive += 1,
                Action::Thread(ThreadOp::Exit) => alive = alive.saturating_sub(1),
                Action::Thread(ThreadOp::Join | ThreadOp::IsFinished)
                | Action::Atomic(_)
                | Action::Cell(_)
                | Action::Mutex(_)
                | Action::RwLock(_)
                | Action::Condvar(_)
                | Action::Barrier(_)
                | Action::Once(_)
                | Action::Park(_)
                | Action::Channel(_)
                | Action::Fence(_)
                | Action::Pause(_)
                | Action::Choose { .. } => {}
            }
            most = most.max(alive);
        }
        most
    }

    /// The choices that lead to this run.
    pub fn schedule(&self) -> Schedule {
        let mut schedule = Vec::with_capacity(self.events.len());
        self.add_schedule(&mut schedule);
        schedule
    }

    /// Adds the choices that lead to this run.
    pub fn add_schedule(&self, schedule: &mut Schedule) {
        if self.sources.is_empty() && !self.events.iter().any(|event| event.op.is_choose()) {
            schedule.extend(self.events.iter().map(|event| Choice::Thread(event.id.thread)));
            return;
        }
        let mut sources = self.sources.iter().peekable();
        for (position, event) in self.events.iter().enumerate() {
            schedule.push(Choice::Thread(event.id.thread));
            if let Some((_, source)) = sources.next_if(|(at, _)| *at == position) {
                let reads = event.op.reads_atomic();
                schedule.push(if reads { Choice::Source(*source) } else { Choice::Place(*source) });
            }
            if let (true, Effect::Value(value)) = (event.op.is_choose(), event.effect) {
                schedule.push(Choice::Value(value as u32));
            }
        }
    }

    /// The first position at which this run and `other`, made by the same choices, differ in what
    /// the program did.
    pub fn first_difference(&self, other: &Trace) -> Option<usize> {
        let shared = self.events.len().min(other.events.len());
        let mut both = self.events.iter().zip(other.events.iter());
        both.position(|(mine, theirs)| {
            mine != theirs && self.comparable(mine) != other.comparable(theirs)
        })
        .or_else(|| (self.events.len() != other.events.len()).then_some(shared))
    }

    /// The part of an event that must be the same in every run with the same choices. Addresses
    /// are not.
    fn comparable(
        &self,
        event: &Event,
    ) -> (EventId, Site, crate::ObjectId, Option<(Action, Effect)>) {
        let address = self
            .objects
            .get(event.op.object().index())
            .is_some_and(|object| object.kind == ObjectKind::Atomic(Scalar::Pointer));
        let detail = (!address).then_some((event.op.action(), event.effect));
        (event.id, event.site, event.op.object(), detail)
    }
}
