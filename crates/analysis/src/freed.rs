//! Memory that is used after it was freed, or freed twice.
//!
//! The end of an object is wrong if an access to it, or another end, does not happen before it: the access comes later,
//! or nothing orders the two. That depends on the class of the run only, so no search has to reverse anything. It is the
//! mirror image of how the creation of an object is treated in [races](crate::race).
//!
//! Deviation: an end inside `Arc::drop_slow` of the standard library happens after all earlier drops of the `Arc`, which
//! are no events. Who asks for [suspects](suspect) finds out by the stacks.

use raddle_core::{Action, End, Event, ObjectId, PlainAccess, Site, ThreadId, Trace};

use crate::Reads;
use crate::races::Detector;

/// An access to an object that does not happen before the end of the object.
#[derive(Clone, Debug, PartialEq)]
pub struct Suspect {
    /// The end.
    pub end: End,
    /// The access, or the other end.
    pub access: PlainAccess,
    /// Whether the access is another end.
    pub is_end: bool,
    /// Whether the access comes after the end in this run.
    pub is_late: bool,
    /// The lines that identify the suspect in other runs.
    pub lines: Lines,
}

/// Source lines that identify a suspect: where the object was first used, the last operation of the thread before it
/// ended the object, and the access.
pub type Lines = [Site; 3];

/// Returns the first access or end of a run that does not happen before the end of its object, without those that
/// `is_cleared` says are ordered in a way that raddle does not see. An access that comes later is never cleared.
pub fn suspect(trace: &Trace, is_cleared: &dyn Fn(&Lines) -> bool) -> Option<Suspect> {
    if let Some(late) = trace.late_use {
        let end = trace.ends.iter().find(|end| end.object == late.access.object).copied();
        // Objects whose end was not recorded were ended by main, after it had joined all other threads.
        let unknown = End { object: late.access.object, thread: late.access.thread, after: 0 };
        let (end, access) = (end.unwrap_or(unknown), late.access);
        let lines = lines(trace, &end, &access);
        return Some(Suspect { end, access, is_end: late.ends, is_late: true, lines });
    }
    if !is_shared(trace) {
        return None;
    }
    let mut found = None;
    walk(trace, |end, access, is_late| {
        let lines = lines(trace, &end, &access);
        let is_suspect = is_late || !is_cleared(&lines);
        if is_suspect {
            found = Some(Suspect { end, access, is_end: false, is_late, lines });
        }
        is_suspect
    });
    found
}

/// Returns whether another thread than the one that ended an object accesses it. Clocks are needed only then.
fn is_shared(trace: &Trace) -> bool {
    let ended_by_other = |thread: ThreadId, object: ObjectId| {
        trace.ends.iter().any(|end| end.object == object && end.thread != thread)
    };
    !trace.ends.is_empty()
        && (trace.events.iter().any(|event| ended_by_other(event.id.thread, event.op.object()))
            || trace.plain.iter().any(|access| ended_by_other(access.thread, access.object)))
}

fn lines(trace: &Trace, end: &End, access: &PlainAccess) -> Lines {
    let before = trace.events[..end.after.min(trace.events.len())].iter().rev();
    let last = before.clone().find(|event| event.id.thread == end.thread);
    let first_use = trace.objects.get(end.object.index()).map(|info| info.site);
    [
        first_use.unwrap_or(Site::UNKNOWN),
        last.map_or(Site::UNKNOWN, |event| event.site),
        access.site,
    ]
}

/// Accesses to an object that ends in the run.
#[derive(Clone, Default)]
struct OfObject {
    ends: bool,
    end: Option<End>,
    /// The last access of each thread, with the time of the thread.
    accesses: Vec<(PlainAccess, u32)>,
}

/// Calls `found` for every end and every access that does not happen before it, until it returns true. The last argument
/// is whether the access comes after the end in this run.
fn walk(trace: &Trace, mut found: impl FnMut(End, PlainAccess, bool) -> bool) {
    let mut detector = Detector::new(trace);
    let reads = detector.carries_all().then(|| Reads::of(trace));
    let mut objects = vec![OfObject::default(); trace.objects.len()];
    for end in &trace.ends {
        objects[end.object.index()].ends = true;
    }
    let mut add = |detector: &Detector, objects: &mut [OfObject], access: PlainAccess| {
        let Some(object) = objects.get_mut(access.object.index()).filter(|object| object.ends)
        else {
            return false;
        };
        if let Some(end) = object.end {
            return found(end, access, true);
        }
        let time = detector.time(access.thread);
        match object.accesses.iter_mut().find(|known| known.0.thread == access.thread) {
            Some(known) => *known = (access, time),
            None => object.accesses.push((access, time)),
        }
        false
    };
    let mut plain = trace.plain.iter().peekable();
    let mut ends = trace.ends.iter().peekable();
    let mut unordered: Vec<(End, PlainAccess)> = Vec::new();
    for position in 0..=trace.events.len() {
        while let Some(access) = plain.next_if(|access| access.after <= position) {
            if add(&detector, &mut objects, *access) {
                return;
            }
        }
        while let Some(&end) = ends.next_if(|end| end.after <= position) {
            let object = &mut objects[end.object.index()];
            let others = object.accesses.iter().filter(|(access, time)| {
                access.thread != end.thread && !detector.has_seen(end.thread, access.thread, *time)
            });
            unordered.extend(others.map(|(access, _)| (end, *access)));
            object.end = Some(end);
        }
        let Some(event) = trace.events.get(position) else { break };
        if event.op.object() != ObjectId::NONE
            && add(&detector, &mut objects, event_access(position, event))
        {
            return;
        }
        match event.op.action() {
            Action::Cell(_) => detector.advance(event.id.thread),
            Action::Atomic(op) => {
                let source = reads.as_ref().and_then(|reads| reads.at(position));
                detector.atomic(op, event, source.map(|read| read.source));
            }
            _ => detector.observe(event),
        }
    }
    for (end, access) in unordered {
        if found(end, access, false) {
            return;
        }
    }
}

/// Returns the event at `position` as an access to the memory of its object.
fn event_access(position: usize, event: &Event) -> PlainAccess {
    let (thread, object) = (event.id.thread, event.op.object());
    let writes = event.access().changes();
    PlainAccess { thread, after: position, object, writes, site: event.site }
}
