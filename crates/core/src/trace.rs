//! The record of one run, which is all that the layers above the engine see of it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::{
    Action, Choice, Effect, Event, EventId, ObjectId, Pending, Scalar, Schedule, Site, Stopped,
    ThreadId, ThreadOp,
};

/// The record of one run. Which threads were enabled at a position is derived, never stored.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Trace {
    /// The performed operations, in order.
    pub events: Vec<Event>,
    /// The operations that were announced but not performed.
    pub pending: Vec<Pending>,
    /// The threads that went no further. They have no entry in `pending`.
    pub stopped: Vec<Stopped>,
    /// Accesses to plain variables that were no scheduling points, in order.
    pub plain: Vec<PlainAccess>,
    /// The ends of objects before other threads were joined, in order.
    pub ends: Vec<End>,
    /// The use of an object after its end, if there was one. It ended the run.
    pub late_use: Option<LateUse>,
    /// What most runs do not record.
    pub details: Option<Box<Details>>,
    /// Allocations of this run that hold objects and were not freed. Empty unless an allocator reports them.
    pub unfreed: Vec<Allocation>,
    /// The threads of this run, in the order in which their spawns were announced; main first.
    pub threads: Vec<ThreadInfo>,
    /// The objects of this run, by [`ObjectId`](crate::ObjectId).
    pub objects: Vec<ObjectInfo>,
    /// The fingerprint of the run's equivalence class.
    pub fingerprint: u64,
    /// The choices of stores: the position of an access in `events`, and the store it reads. For a store it is
    /// the store right before it in modification order. Accesses without an entry took the newest store;
    /// `raddle_analysis::Reads` derives those.
    pub sources: Vec<(usize, EventId)>,
    /// The number of points with more than one option that did not choose a thread.
    pub choices: u64,
    /// How the run ended.
    pub ending: Ending,
    /// The names that the program gives to its threads, if any. The front end adds them to the run it reports.
    pub thread_names: Vec<(ThreadId, String)>,
    /// The names that the program gives to its objects, if any. The front end adds them to the run it reports.
    pub object_names: Vec<(ObjectId, String)>,
}

/// An access to a plain variable.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PlainAccess {
    /// The accessing thread.
    pub thread: ThreadId,
    /// The number of events of the run before the access.
    pub after: usize,
    /// The variable.
    pub object: ObjectId,
    /// Whether the access writes.
    pub writes: bool,
    /// The place in the program.
    pub site: Site,
}

/// The end of an object: it was dropped, and its memory may be used for something else.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The object.
    pub object: ObjectId,
    /// The thread that dropped the object.
    pub thread: ThreadId,
    /// The number of events of the run before the end.
    pub after: usize,
}

/// The use of an object after its end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LateUse {
    /// The use. Its site is unknown if the object was dropped again.
    pub access: PlainAccess,
    /// Whether the object was dropped again.
    pub ends: bool,
}

/// What a run records only if it is asked for, and panics that did not end it.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// The stacks at accesses and ends of one object, and at the announcement of some events.
    pub stacks: Vec<Stack>,
    /// Lines that belong to steps, in order.
    pub notes: Vec<Note>,
    /// Descriptions of objects.
    pub descriptions: Vec<Description>,
}

/// Stacks are left out: they say nothing about the run, and whether they are recorded depends on what is asked for.
impl PartialEq for Details {
    fn eq(&self, other: &Details) -> bool {
        (&self.notes, &self.descriptions) == (&other.notes, &other.descriptions)
    }
}

impl Eq for Details {}

/// The stack of a thread at an access or end of an object, or at the announcement of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The object.
    pub object: ObjectId,
    /// The thread.
    pub thread: ThreadId,
    /// The number of events of the run before it.
    pub after: usize,
    /// What the thread does.
    pub moment: Moment,
    /// Whether the thread drops the last reference of a `std::sync::Arc`, or ends an object that may have been moved out of
    /// one, as far as the symbols of the program and `raddle::Alloc` tell.
    pub in_arc: bool,
    /// The frames, as text.
    pub text: String,
}

/// What a thread does while its [`Stack`] is recorded.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It accesses the object.
    Access,
    /// It ends the object.
    End,
    /// It announces an operation on the object, which has this position among its events.
    Announcement(u32),
}

/// A line that belongs to a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The thread.
    pub thread: ThreadId,
    /// The number of events of the run before it.
    pub after: usize,
    /// The place in the program: file and line, and perhaps the column.
    pub place: Option<String>,
    /// What the line is.
    pub kind: NoteKind,
    /// The line, or several.
    pub text: String,
}

/// What a [`Note`] is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// A note of the program.
    Note,
    /// Output of the program.
    Output,
    /// The message of a panic that left the thread and did not end the run.
    Panic,
}

/// What is known of an object besides its kind.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The object.
    pub object: ObjectId,
    /// The place where it was made, if known.
    pub made: Site,
    /// Its type. Empty if unknown.
    pub type_name: &'static str,
}

/// An allocation of memory that holds an object.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The object.
    pub object: ObjectId,
    /// The thread that allocated the memory.
    pub thread: ThreadId,
    /// The number of events of the run before the allocation.
    pub after: usize,
    /// The size of the allocation.
    pub bytes: usize,
}

/// A thread of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// The id of the thread.
    pub id: ThreadId,
    /// The thread that spawned it; main's parent is main.
    pub parent: ThreadId,
    /// The position among the parent's children.
    pub position: u32,
}

/// An object of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The initial value of an atomic variable or count of a semaphore, the size of a barrier, or the capacity of a
    /// channel (`u64::MAX` if unbounded). Zero for all others.
    pub initial: u64,
    /// A number that the object has in every run and no other object has. Zero if the front end has none.
    pub identity: u64,
    /// The event that first announced the object: its name across runs.
    pub name: EventId,
    /// The place of that announcement.
    pub site: Site,
}

/// Kinds of objects.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A thread, as the target of spawn, exit and join.
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
    /// A semaphore.
    Semaphore,
    /// A notification that belongs to no thread. Its operations are those of a park token.
    Notify,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Ending {
    /// Every thread has ended, or main has ended and the others wait forever, but not for each other in a cycle.
    #[default]
    Finished,
    /// No thread is enabled, and main has not ended or some threads wait for each other in a cycle.
    Deadlock,
    /// No thread is enabled, and at least one was stopped, so that the run is no whole execution of the program.
    Stopped,
    /// A thread panicked.
    Panicked(Panic),
    /// The step limit was reached.
    StepLimit,
    /// The time limit was reached.
    TimeLimit,
    /// The chooser gave the run up; the record ends there.
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
    /// File, line and column, if known. An unknown place equals every other.
    pub place: Option<String>,
    /// The backtrace, if the environment asks for it. Ignored by equality.
    pub backtrace: Option<String>,
}

impl PartialEq for Panic {
    fn eq(&self, other: &Panic) -> bool {
        let same_place = match (&self.place, &other.place) {
            (Some(one), Some(other)) => one == other,
            // A panic that no hook recorded has no place.
            (None, _) | (_, None) => true,
        };
        (self.thread, &self.message) == (other.thread, &other.message) && same_place
    }
}

/// The position at which a run could not follow its prescribed choices.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The number of choices that were followed.
    pub at: usize,
    /// The choice that could not be made.
    pub expected: Choice,
}

impl Trace {
    /// Clears the record, except for threads, objects and names. Keeps the allocated memory.
    #[inline]
    pub fn clear(&mut self) {
        self.events.clear();
        self.pending.clear();
        self.stopped.clear();
        self.plain.clear();
        self.ends.clear();
        self.late_use = None;
        self.details = None;
        self.unfreed.clear();
        self.sources.clear();
        self.choices = 0;
        self.fingerprint = 0;
        self.ending = Ending::Finished;
        self.thread_names.clear();
        self.object_names.clear();
    }

    /// Becomes a copy of `other`. Keeps the allocated memory.
    pub fn copy_from(&mut self, other: &Trace) {
        let Trace {
            events,
            pending,
            stopped,
            plain,
            ends,
            late_use,
            details,
            unfreed,
            threads,
            objects,
            fingerprint,
            sources,
            choices,
            ending,
            thread_names,
            object_names,
        } = other;
        self.events.clone_from(events);
        self.pending.clone_from(pending);
        self.stopped.clone_from(stopped);
        self.plain.clone_from(plain);
        self.ends.clone_from(ends);
        self.late_use = *late_use;
        self.details.clone_from(details);
        self.unfreed.clone_from(unfreed);
        self.threads.clone_from(threads);
        self.objects.clone_from(objects);
        self.fingerprint = *fingerprint;
        self.sources.clone_from(sources);
        self.choices = *choices;
        self.ending.clone_from(ending);
        self.thread_names.clone_from(thread_names);
        self.object_names.clone_from(object_names);
    }

    /// Returns the stacks that were recorded.
    pub fn stacks(&self) -> &[Stack] {
        self.details.as_deref().map_or(&[], |details| &details.stacks)
    }

    /// Returns the notes that were recorded, in order.
    pub fn notes(&self) -> &[Note] {
        self.details.as_deref().map_or(&[], |details| &details.notes)
    }

    /// Returns the description of an object, if it was recorded.
    pub fn description(&self, object: ObjectId) -> Option<&Description> {
        let details = self.details.as_deref()?;
        details.descriptions.iter().find(|description| description.object == object)
    }

    /// Returns the maximal number of threads alive at a time, main included.
    pub fn max_live_threads(&self) -> u32 {
        let (mut alive, mut max) = (1u32, 1);
        for event in &self.events {
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
                | Action::Semaphore(_)
                | Action::Futex(_)
                | Action::Fence(_)
                | Action::Pause(_)
                | Action::Choose { .. } => {}
            }
            max = max.max(alive);
        }
        max
    }

    /// Returns the choices of this run.
    pub fn schedule(&self) -> Schedule {
        let mut schedule = Vec::with_capacity(self.events.len());
        self.append_schedule(&mut schedule);
        schedule
    }

    /// Appends the choices of this run to `schedule`.
    pub fn append_schedule(&self, schedule: &mut Schedule) {
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

    /// Returns the first position at which this run and `other`, of the same choices, differ. Returns `None` if they do
    /// not differ.
    pub fn first_difference(&self, other: &Trace) -> Option<usize> {
        let shared = self.events.len().min(other.events.len());
        let mut both = self.events.iter().zip(other.events.iter());
        both.position(|(mine, theirs)| {
            mine != theirs && self.comparable(mine) != other.comparable(theirs)
        })
        .or_else(|| (self.events.len() != other.events.len()).then_some(shared))
    }

    /// Returns the part of an event that must be the same in every run with the same choices: all but addresses.
    fn comparable(&self, event: &Event) -> (EventId, Site, ObjectId, Option<(Action, Effect)>) {
        let is_address = self
            .objects
            .get(event.op.object().index())
            .is_some_and(|object| object.kind == ObjectKind::Atomic(Scalar::Pointer));
        let detail = (!is_address).then_some((event.op.action(), event.effect));
        (event.id, event.site, event.op.object(), detail)
    }
}
