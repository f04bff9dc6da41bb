//! Executions in documents. Steps are counted from one; threads and objects are numbers.

use std::borrow::Cow;

use raddle_core::NoteKind;

use super::Place;
use crate::json::{Data, Json, ReadError, object, variants, words};

/// An execution.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    /// How the execution ended, as a word.
    pub ending: String,
    /// Equal for executions of the same equivalence class, in hexadecimal.
    pub fingerprint: String,
    /// The threads.
    pub threads: Vec<Thread>,
    /// The objects, by number.
    pub objects: Vec<Object>,
    /// The number of steps.
    pub steps: u64,
    /// The number of steps that are not in `events`.
    pub omitted: u64,
    /// The steps, in order, perhaps without some in the middle.
    pub events: Vec<Event>,
    /// The operations that were announced but not performed.
    pub pending: Vec<Pending>,
    /// Lines that belong to steps, in order.
    pub notes: Vec<Note>,
    /// Where the parties of the failure were in their functions.
    pub stacks: Vec<Stack>,
    /// The first stale reads.
    pub stale_reads: Vec<StaleRead>,
    /// The number of further stale reads.
    pub more_stale_reads: u64,
}

impl Trace {
    /// Returns the event of a step. Returns `None` if it is omitted.
    pub fn event(&self, step: u64) -> Option<&Event> {
        let at = self.events.binary_search_by_key(&step, |event| event.step).ok()?;
        Some(&self.events[at])
    }

    /// Returns the thread with this number.
    pub fn thread(&self, id: u32) -> Option<&Thread> {
        self.threads.iter().find(|thread| thread.id == id)
    }

    /// Returns the object with this number.
    pub fn object(&self, id: u32) -> Option<&Object> {
        self.objects.get(id as usize)
    }

    /// Returns the operation that a thread announced but did not perform.
    pub fn pending(&self, thread: u32) -> Option<&Pending> {
        self.pending.iter().find(|pending| pending.thread == thread)
    }
}

/// A thread.
#[derive(Clone, PartialEq, Debug)]
pub struct Thread {
    /// Its number; main is zero.
    pub id: u32,
    /// The thread that spawned it; `None` for main.
    pub parent: Option<u32>,
    /// Its position among the threads of its parent.
    pub position: u32,
    /// The name that the program gave it.
    pub name: Option<String>,
    /// The step that spawned it; `None` for main.
    pub spawned: Option<u64>,
    /// The step with which it ended.
    pub ended: Option<u64>,
}

/// An object.
#[derive(Clone, PartialEq, Debug)]
pub struct Object {
    /// Its number.
    pub id: u32,
    /// What reports call it.
    pub name: String,
    /// Whether the program gave it that name.
    pub named: bool,
    /// Its kind, as a word.
    pub kind: String,
    /// The thread whose life or park token it is.
    pub thread: Option<u32>,
    /// The type of an atomic variable.
    pub scalar: Option<String>,
    /// The initial value of an atomic variable, the size of a barrier, the capacity of a channel.
    pub initial: Option<String>,
    /// The event that first announced it.
    pub first: EventId,
    /// The place of that event.
    pub site: Place,
    /// Its type, if known.
    pub type_name: Option<String>,
    /// The place where it was made, if known.
    pub made: Place,
}

/// A line that belongs to a step.
#[derive(Clone, PartialEq, Debug)]
pub struct Note {
    /// The thread.
    pub thread: u32,
    /// The number of steps before it.
    pub after: u64,
    /// What the line is.
    pub kind: NoteKind,
    /// The line, or several.
    pub text: String,
    /// File and line, if known.
    pub place: Option<String>,
}

/// The functions of the program in which a thread was.
#[derive(Clone, PartialEq, Debug)]
pub struct Stack {
    /// The thread.
    pub thread: u32,
    /// The number of steps before it.
    pub after: u64,
    /// What the thread does or waits to do, in words.
    pub text: String,
    /// Whether the thread waits to do it.
    pub waits: bool,
    /// The functions, innermost first, each with its line if that is known.
    pub frames: Vec<String>,
}

/// An event, named by its thread and its position among the events of that thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct EventId {
    /// The thread.
    pub thread: u32,
    /// The number of events the thread had performed before.
    pub index: u32,
}

/// A performed operation.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// The step.
    pub step: u64,
    /// The thread.
    pub thread: u32,
    /// The number of events the thread had performed before.
    pub index: u32,
    /// The object.
    pub object: Option<u32>,
    /// The operation.
    pub operation: Operation,
    /// What the operation returned to its thread, by its kind.
    pub effect: Option<Operation>,
    /// Operation and effect, in words.
    pub text: String,
    /// The earlier step that explains this one.
    pub link: Option<Link>,
    /// The step with the newest store, if this one did not read it.
    pub missed: Option<u64>,
    /// The earlier step of another thread that enabled this one.
    pub after: Option<u64>,
    /// The place in the program.
    pub site: Place,
}

/// An operation or an effect: a kind, and the fields that belong to it. New kinds may come.
#[derive(Clone, PartialEq, Debug)]
pub struct Operation {
    /// The kind, such as `mutex.lock`.
    pub kind: String,
    /// The fields.
    pub fields: Vec<(Cow<'static, str>, Json)>,
}

/// The earlier step that explains a step.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Link {
    /// Reads what this step wrote.
    Reads {
        /// The step.
        step: u64,
    },
    /// Reads the initial value of the variable.
    ReadsInitial,
    /// Stores before this step in the variable's modification order.
    StoresBefore {
        /// The step.
        step: u64,
    },
    /// Overwrites what another thread wrote in this step.
    Overwrites {
        /// The step.
        step: u64,
    },
    /// Releases the lock that was acquired in this step.
    TakenIn {
        /// The step.
        step: u64,
    },
}

/// An operation that was announced but not performed.
#[derive(Clone, PartialEq, Debug)]
pub struct Pending {
    /// The thread.
    pub thread: u32,
    /// The object.
    pub object: Option<u32>,
    /// The operation.
    pub operation: Operation,
    /// The operation, in words.
    pub text: String,
    /// Whether it was enabled.
    pub enabled: bool,
    /// The place in the program.
    pub site: Place,
}

/// A load that did not read the newest store of its variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StaleRead {
    /// The load.
    pub step: u64,
    /// The store it read; `None` for the initial value.
    pub source: Option<u64>,
    /// The newest store.
    pub newest: u64,
    /// The synchronisation that would have ruled the old value out, if there was a chance of one.
    pub missed_sync: Option<MissedSync>,
}

/// A read that would have synchronised, had the orderings been stronger.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MissedSync {
    /// The read.
    pub read: u64,
    /// The store it read.
    pub store: u64,
    /// Which of the two has too weak an ordering.
    pub weak: Weak,
}

/// Which side of a missed synchronisation has too weak an ordering.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Weak {
    /// The load does not acquire.
    Load,
    /// The store does not release.
    Store,
    /// Neither is strong enough.
    Both,
}

impl Data for Operation {
    fn to_json(&self) -> Json {
        let kind = ("kind".into(), self.kind.to_json());
        Json::Object([kind].into_iter().chain(self.fields.iter().cloned()).collect())
    }

    fn from_json(json: &Json) -> Result<Operation, ReadError> {
        let kind = json.field("kind")?;
        let Json::Object(fields) = json else { unreachable!("raddle invariant broken: no object") };
        let fields = fields.iter().filter(|field| field.0 != "kind").cloned().collect();
        Ok(Operation { kind, fields })
    }
}

object! {
    Trace {
        ending, fingerprint, threads, objects, steps, omitted, events, pending, notes, stacks,
        stale_reads, more_stale_reads,
    }
    Thread { id, parent, position, name, spawned, ended }
    Object {
        id, name, named, kind, thread, scalar: "type", initial, first, site, type_name, made,
    }
    Note { thread, after, kind, text, place }
    Stack { thread, after, text, waits, frames }
    EventId { thread, index }
    Event {
        step, thread, index, object, operation, effect, text, link, missed, after, site,
    }
    Pending { thread, object, operation, text, enabled, site }
    StaleRead { step, source, newest, missed_sync }
    MissedSync { read, store, weak }
}

variants! {
    Link {
        "reads" = Reads { step },
        "reads-initial" = ReadsInitial,
        "stores-before" = StoresBefore { step },
        "overwrites" = Overwrites { step },
        "taken-in" = TakenIn { step },
    }
}

words! {
    NoteKind { "note" = Note, "output" = Output, "panic" = Panic }
    Weak { "load" = Load, "store" = Store, "both" = Both }
}
