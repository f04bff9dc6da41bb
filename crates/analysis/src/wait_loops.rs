//! Threads that wait in loops at the end of a run.

use raddle_core::{Event, EventId, ObjectId, StopReason, Trace};
use raddle_results::{Looked, WaitLoop};

/// Returns the threads that wait in loops at the end of `trace`, if what each of them looks at is still the same: they wait
/// forever, unless another thread can go on.
pub fn wait_loops(trace: &Trace) -> Vec<WaitLoop> {
    let found = trace.stopped.iter().filter_map(|stopped| match &stopped.why {
        StopReason::Assumption | StopReason::IdleRound { is_current: false, .. } => None,
        StopReason::IdleRound { looks, is_current: true } => {
            Some(WaitLoop { thread: stopped.thread, looks: distinct(looks, trace) })
        }
    });
    found.collect()
}

/// Returns the looks of a round without repetition, and without pauses unless there is nothing else.
fn distinct(looks: &[Event], trace: &Trace) -> Vec<Looked> {
    let is_on_object = |event: &&Event| event.op.object() != ObjectId::NONE;
    let has_objects = looks.iter().any(|event| is_on_object(&event));
    let mut found: Vec<Looked> = Vec::new();
    for event in looks.iter().filter(|event| !has_objects || is_on_object(event)) {
        let (object, site) = (event.op.object(), event.site);
        if !found.iter().any(|looked| (looked.object, looked.site) == (object, site)) {
            let at = position(event.id, trace);
            found.push(Looked { at, object, site, changed: last_change(object, trace) });
        }
    }
    found
}

fn position(id: EventId, trace: &Trace) -> usize {
    let found = trace.events.iter().rposition(|event| event.id == id);
    found.expect("raddle invariant broken: a look that is no event of its trace")
}

/// Returns the position of the last event that changed an object.
fn last_change(object: ObjectId, trace: &Trace) -> Option<usize> {
    let changes = |event: &Event| event.op.object() == object && event.access().changes();
    if object == ObjectId::NONE { None } else { trace.events.iter().rposition(changes) }
}
