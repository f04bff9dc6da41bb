//! The failing execution, with what its analyses say about each step.

use raddle_analysis::{Lifetimes, Links, StaleReads, Words, type_name, value};
use raddle_core::{Ending, ObjectId, ObjectInfo, ObjectKind, ThreadId, ThreadInfo};
use raddle_results::document::{
    Event, EventId, Link, MissedSync, Note, Object, Pending, Place, StaleRead, Thread, Trace, Weak,
};

use super::fields::{effect, operation};
use super::stack::{released_at, stacks};
use crate::fold::Fold;

pub(super) fn trace(run: &raddle_core::Trace, words: &Words<'_>, shown: Fold) -> Trace {
    let (links, lifetimes) = (Links::of(run), Lifetimes::of(run));
    let steps = run.events.len() as u64;
    let is_shown = |at: &usize| shown.shows(step(*at), steps);
    let events: Vec<Event> =
        (0..run.events.len()).filter(is_shown).map(|at| event(run, at, words, &links)).collect();
    let stale = StaleReads::of(run);
    Trace {
        ending: ending(&run.ending).into(),
        fingerprint: format!("{:016x}", run.fingerprint),
        threads: run.threads.iter().map(|info| thread(info, run, &lifetimes)).collect(),
        objects: (0..).zip(&run.objects).map(|(id, info)| object(id, info, run, words)).collect(),
        steps,
        omitted: steps - events.len() as u64,
        events,
        pending: run.pending.iter().map(|waiting| pending(waiting, words)).collect(),
        notes: run.notes().iter().map(note).collect(),
        stacks: stacks(run, words),
        stale_reads: stale.explained.iter().map(stale_read).collect(),
        more_stale_reads: stale.more as u64,
    }
}

fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Finished => "finished",
        Ending::Deadlock => "deadlock",
        Ending::Panicked(_) => "panicked",
        Ending::Stopped => "stopped",
        Ending::StepLimit => "step-limit",
        Ending::TimeLimit => "time-limit",
        Ending::Abandoned => "abandoned",
        Ending::Diverged(_) => "diverged",
    }
}

fn thread(info: &ThreadInfo, run: &raddle_core::Trace, lifetimes: &Lifetimes) -> Thread {
    let given = run.thread_names.iter().find(|name| name.0 == info.id);
    Thread {
        id: info.id.0,
        parent: (info.id != ThreadId::MAIN).then_some(info.parent.0),
        position: info.position,
        name: given.map(|(_, name)| name.clone()),
        spawned: lifetimes.spawn(info.id).map(step),
        ended: lifetimes.exit(info.id).map(step),
    }
}

fn note(note: &raddle_core::Note) -> Note {
    Note {
        thread: note.thread.0,
        after: note.after as u64,
        kind: note.kind,
        text: note.text.clone(),
        place: note.place.clone(),
    }
}

/// Returns a place, unless it is in the standard library, which called a function that the program passed to it.
fn place_of_program(place: Place) -> Place {
    match place {
        Place::Line { file, .. } if file.starts_with("/rustc/") => Place::Unknown,
        place => place,
    }
}

fn object(id: u32, info: &ObjectInfo, run: &raddle_core::Trace, words: &Words<'_>) -> Object {
    let known = run.description(ObjectId(id));
    let (thread, scalar) = match info.kind {
        ObjectKind::Thread(thread) | ObjectKind::Parker(thread) => (Some(thread.0), None),
        ObjectKind::Atomic(scalar) => (None, Some(type_name(scalar).to_owned())),
        ObjectKind::Cell
        | ObjectKind::Mutex
        | ObjectKind::RwLock
        | ObjectKind::Condvar
        | ObjectKind::Barrier
        | ObjectKind::Once
        | ObjectKind::Channel
        | ObjectKind::Semaphore
        | ObjectKind::Notify => (None, None),
    };
    let initial = match info.kind {
        ObjectKind::Atomic(scalar) => Some(value(scalar, info.initial)),
        ObjectKind::Barrier | ObjectKind::Semaphore => Some(info.initial.to_string()),
        ObjectKind::Channel => (info.initial != u64::MAX).then(|| info.initial.to_string()),
        ObjectKind::Thread(_)
        | ObjectKind::Parker(_)
        | ObjectKind::Cell
        | ObjectKind::Mutex
        | ObjectKind::RwLock
        | ObjectKind::Condvar
        | ObjectKind::Once
        | ObjectKind::Notify => None,
    };
    Object {
        id,
        name: words.names.name(ObjectId(id)).to_owned(),
        named: words.names.is_given(ObjectId(id)),
        kind: kind(info.kind).into(),
        thread,
        scalar,
        initial,
        first: EventId { thread: info.name.thread.0, index: info.name.index },
        site: info.site.into(),
        type_name: known.and_then(|known| short_type(known.type_name)),
        made: known.map_or(Place::Unknown, |known| place_of_program(known.made.into())),
    }
}

/// Returns a type without the modules of its names: `Mutex<Queue>`. `None` if it is unknown.
fn short_type(name: &str) -> Option<String> {
    let mut short = String::new();
    let mut word = String::new();
    for letter in name.chars() {
        match letter {
            ':' => word.clear(),
            letter if letter.is_alphanumeric() || letter == '_' => word.push(letter),
            letter => {
                short += &word;
                word.clear();
                short.push(letter);
            }
        }
    }
    short += &word;
    (!short.is_empty()).then_some(short)
}

fn kind(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Thread(_) => "thread",
        ObjectKind::Parker(_) => "parker",
        ObjectKind::Atomic(_) => "atomic",
        ObjectKind::Cell => "cell",
        ObjectKind::Mutex => "mutex",
        ObjectKind::RwLock => "rwlock",
        ObjectKind::Condvar => "condvar",
        ObjectKind::Barrier => "barrier",
        ObjectKind::Once => "once",
        ObjectKind::Channel => "channel",
        ObjectKind::Semaphore => "semaphore",
        ObjectKind::Notify => "notify",
    }
}

fn event(run: &raddle_core::Trace, at: usize, words: &Words<'_>, links: &Links) -> Event {
    let event = &run.events[at];
    let scalar = words.names.scalar(event.op);
    Event {
        step: step(at),
        thread: event.id.thread.0,
        index: event.id.index,
        object: object_id(event.op.object()),
        operation: operation(event.op, scalar),
        effect: effect(event, scalar),
        text: words.performed(at),
        link: links.link(at).map(link),
        missed: links.missed(at).map(step),
        after: links.after(at).map(step),
        site: released_at(run, event).unwrap_or_else(|| event.site.into()),
    }
}

fn pending(waiting: &raddle_core::Pending, words: &Words<'_>) -> Pending {
    Pending {
        thread: waiting.thread.0,
        object: object_id(waiting.op.object()),
        operation: operation(waiting.op, words.names.scalar(waiting.op)),
        text: words.announced(waiting.op),
        enabled: waiting.enabled,
        site: waiting.site.into(),
    }
}

fn link(link: raddle_analysis::Link) -> Link {
    match link {
        raddle_analysis::Link::Reads(at) => Link::Reads { step: step(at) },
        raddle_analysis::Link::ReadsInitial => Link::ReadsInitial,
        raddle_analysis::Link::StoresBefore(at) => Link::StoresBefore { step: step(at) },
        raddle_analysis::Link::Overwrites(at) => Link::Overwrites { step: step(at) },
        raddle_analysis::Link::TakenIn(at) => Link::TakenIn { step: step(at) },
    }
}

fn stale_read(read: &raddle_analysis::StaleRead) -> StaleRead {
    let missed_sync = |missed: raddle_analysis::MissedSync| MissedSync {
        read: step(missed.read),
        store: step(missed.store),
        weak: match missed.weak {
            raddle_analysis::Weak::Load => Weak::Load,
            raddle_analysis::Weak::Store => Weak::Store,
            raddle_analysis::Weak::Both => Weak::Both,
        },
    };
    StaleRead {
        step: step(read.step),
        source: read.source.map(step),
        newest: step(read.newest),
        missed_sync: read.missed.map(missed_sync),
    }
}

fn object_id(object: ObjectId) -> Option<u32> {
    (object != ObjectId::NONE).then_some(object.0)
}

/// Steps are counted from one, positions from zero.
fn step(position: usize) -> u64 {
    position as u64 + 1
}
