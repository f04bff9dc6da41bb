//! A run as JSON.

use raddle_analysis::{Link, Links};
use raddle_core::{
    Ending, Event, EventId, ObjectId, ObjectInfo, ObjectKind, Pending, ThreadId, ThreadInfo, Trace,
};

use super::operation::{effect, operation};
use super::value::Json;
use super::{kind, site, thread};
use crate::fold::{Fold, Part, fold};
use crate::names::{Names, type_name};
use crate::operation::{announced, performed, value};

/// Of longer runs, the middle is left out: the token has all of it in a few bytes.
pub(super) const FOLD: Fold = Fold { whole: 10_000, first: 1_000, last: 9_000 };

pub(super) fn trace(trace: &Trace, names: &Names<'_>, how: Fold) -> Json {
    let links = Links::of(trace);
    let mut events = Vec::new();
    for part in fold(trace.events.len(), how) {
        match part {
            Part::Omitted(_) => {}
            Part::Steps(range) => events.extend(range.map(|at| event(trace, at, names, &links))),
        }
    }
    let omitted = trace.events.len() - events.len();
    Json::Object(vec![
        ("ending", Json::text(ending(&trace.ending))),
        ("fingerprint", Json::text(format!("{:016x}", trace.fingerprint))),
        ("threads", Json::list(trace.threads.iter().map(|info| thread_info(info, trace)))),
        (
            "objects",
            Json::list(
                trace.objects.iter().enumerate().map(|(number, info)| object(number, info, names)),
            ),
        ),
        ("steps", Json::Number(trace.events.len() as u64)),
        ("omitted", Json::Number(omitted as u64)),
        ("events", Json::List(events)),
        ("pending", Json::list(trace.pending.iter().map(|waiting| pending(waiting, names)))),
    ])
}

fn ending(ending: &Ending) -> &'static str {
    match ending {
        Ending::Finished => "finished",
        Ending::Deadlock => "deadlock",
        Ending::Panicked(_) => "panicked",
        Ending::StepLimit => "step-limit",
        Ending::Abandoned => "abandoned",
        Ending::Diverged(_) => "diverged",
    }
}

fn thread_info(info: &ThreadInfo, trace: &Trace) -> Json {
    let given = trace.thread_names.iter().find(|name| name.0 == info.id);
    let parent = (info.id != ThreadId::MAIN).then_some(info.parent);
    Json::Object(vec![
        ("id", thread(info.id)),
        ("parent", Json::or_null(parent, thread)),
        ("position", Json::Number(info.position.into())),
        ("name", Json::or_null(given, |(_, name)| Json::text(name))),
    ])
}

fn object(number: usize, info: &ObjectInfo, names: &Names<'_>) -> Json {
    let (word, more) = match info.kind {
        ObjectKind::Thread(of) => ("thread", Some(("thread", thread(of)))),
        ObjectKind::Parker(of) => ("parker", Some(("thread", thread(of)))),
        ObjectKind::Atomic(scalar) => ("atomic", Some(("type", Json::text(type_name(scalar))))),
        ObjectKind::Cell => ("cell", None),
        ObjectKind::Mutex => ("mutex", None),
        ObjectKind::RwLock => ("rwlock", None),
        ObjectKind::Condvar => ("condvar", None),
        ObjectKind::Barrier => ("barrier", None),
        ObjectKind::Once => ("once", None),
        ObjectKind::Channel => ("channel", None),
    };
    let initial = match info.kind {
        ObjectKind::Atomic(scalar) => Some(value(scalar, info.initial)),
        ObjectKind::Barrier => Some(info.initial.to_string()),
        ObjectKind::Channel => (info.initial != u64::MAX).then(|| info.initial.to_string()),
        ObjectKind::Thread(_)
        | ObjectKind::Parker(_)
        | ObjectKind::Cell
        | ObjectKind::Mutex
        | ObjectKind::RwLock
        | ObjectKind::Condvar
        | ObjectKind::Once => None,
    };
    let mut fields = vec![
        ("id", Json::Number(number as u64)),
        ("name", Json::text(names.name(ObjectId(number as u32)))),
        ("kind", Json::text(word)),
    ];
    fields.extend(more);
    fields.push(("initial", Json::or_null(initial, Json::Text)));
    fields.push(("first", event_id(info.name)));
    fields.push(("site", site(info.site)));
    Json::Object(fields)
}

fn event(trace: &Trace, at: usize, names: &Names<'_>, links: &Links) -> Json {
    let event: &Event = &trace.events[at];
    let scalar = names.scalar(event.op);
    Json::Object(vec![
        ("step", Json::Number(at as u64 + 1)),
        ("thread", thread(event.id.thread)),
        ("index", Json::Number(event.id.index.into())),
        ("object", object_id(event.op.object())),
        ("operation", operation(event.op, scalar)),
        ("effect", effect(event, scalar)),
        ("text", Json::text(performed(event, names))),
        ("link", Json::or_null(links.link(at), link_json)),
        ("missed", Json::or_null(links.missed(at), |at| Json::Number(at as u64 + 1))),
        ("after", Json::or_null(links.after(at), |at| Json::Number(at as u64 + 1))),
        ("site", site(event.site)),
    ])
}

fn pending(waiting: &Pending, names: &Names<'_>) -> Json {
    Json::Object(vec![
        ("thread", thread(waiting.thread)),
        ("object", object_id(waiting.op.object())),
        ("operation", operation(waiting.op, names.scalar(waiting.op))),
        ("text", Json::text(announced(waiting.op, names))),
        ("enabled", Json::Bool(waiting.enabled)),
        ("site", site(waiting.site)),
    ])
}

fn link_json(link: Link) -> Json {
    let step = |at: usize| ("step", Json::Number(at as u64 + 1));
    match link {
        Link::Reads(at) => kind("reads", [step(at)]),
        Link::ReadsInitial => kind("reads-initial", []),
        Link::StoresBefore(at) => kind("stores-before", [step(at)]),
        Link::Overwrites(at) => kind("overwrites", [step(at)]),
        Link::TakenIn(at) => kind("taken-in", [step(at)]),
    }
}

fn object_id(object: ObjectId) -> Json {
    let there = (object != ObjectId::NONE).then_some(object);
    Json::or_null(there, |object| Json::Number(object.0.into()))
}

fn event_id(id: EventId) -> Json {
    Json::Object(vec![("thread", thread(id.thread)), ("index", Json::Number(id.index.into()))])
}
