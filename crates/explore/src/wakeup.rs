//! Wakeup trees: what is still to be run from a point, as sequences that share their beginnings.
//!
//! A sequence is kept whole, not only its first step, because its last steps are what makes it
//! differ from everything that was run before.

use raddle_core::dependence::conflict;
use raddle_core::{Access, EventId, Footprint, ObjectId, ObjectKind, ThreadId, Trace};

use crate::past::Past;

/// An event to come, in terms of the run it was found in.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) event: EventId,
    pub(crate) footprint: Footprint,
    /// The number it is to choose.
    pub(crate) value: Option<u32>,
}

/// An event to come, in terms that hold in every run through the same point, and what follows it.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    event: EventId,
    access: Access,
    object: Object,
    pub(crate) value: Option<u32>,
    /// In the order in which they are to be run. None makes a later one redundant.
    pub(crate) children: Vec<Branch>,
}

/// An object of another run.
#[derive(Copy, Clone, Debug)]
enum Object {
    /// None, or one that was announced before the point, and has this number in every run through it.
    Known(ObjectId),
    /// The life or the park token of a thread.
    OfThread(ObjectKind),
    /// One that the front end knows by this number.
    Identified(u64),
    /// One that was announced after the point, which is at this position. If what the event's thread
    /// knew before is what `history` identifies, it is the one that the event touches in any run.
    Later { history: u64, at: usize },
}

impl Branch {
    pub(crate) fn thread(&self) -> ThreadId {
        self.event.thread
    }

    /// The choice of `value` by an event that touches no object.
    pub(crate) fn choosing(event: EventId, value: u32) -> Branch {
        Branch {
            event,
            access: Access::Read,
            object: Object::Known(ObjectId::NONE),
            value: Some(value),
            children: Vec::new(),
        }
    }

    /// A branch without children; `at` is the position of the point.
    fn new(planned: &Planned, past: &Past, trace: &Trace, at: usize) -> Branch {
        let id = planned.footprint.object;
        let object = match trace.objects.get(id.index()) {
            Some(info) if !past.announced_before(info.name, at) => match info.kind {
                ObjectKind::Thread(_) | ObjectKind::Parker(_) => Object::OfThread(info.kind),
                _ if info.identity != 0 => Object::Identified(info.identity),
                _ => Object::Later { history: past.history_before(planned.event).unwrap_or(0), at },
            },
            Some(_) | None => Object::Known(id),
        };
        let Planned { event, footprint, value } = *planned;
        Branch { event, access: footprint.access, object, value, children: Vec::new() }
    }

    /// Whether this event, in a run in which nothing it knows of has changed, touches `object`; true
    /// if that cannot be told.
    fn touches(&self, object: ObjectId, past: &Past, trace: &Trace) -> bool {
        if object == ObjectId::NONE {
            return false;
        }
        match self.object {
            Object::Known(known) => object == known,
            Object::OfThread(kind) => trace.objects[object.index()].kind == kind,
            Object::Identified(identity) => trace.objects[object.index()].identity == identity,
            Object::Later { history, at } => {
                if past.announced_before(trace.objects[object.index()].name, at) {
                    return false;
                }
                if past.history_before(self.event) != Some(history) {
                    return true;
                }
                past.operation(self.event, trace).is_none_or(|op| op.object() == object)
            }
        }
    }

    /// Whether running this first does not rule out what `steps` lead to; leaves those that are
    /// still to be run then.
    fn covers(&self, steps: &mut Vec<Planned>, past: &Past, trace: &Trace) -> bool {
        match steps.iter().position(|step| step.event.thread == self.thread()) {
            Some(mine) => {
                let own = steps[mine];
                let is_first = own.value == self.value
                    && steps[..mine].iter().all(|step| !step.footprint.depends(&own.footprint));
                if is_first {
                    steps.remove(mine);
                }
                is_first
            }
            None => steps.iter().all(|step| {
                let Footprint { object, access, .. } = step.footprint;
                let may_conflict = conflict((object, self.access), (object, access));
                !may_conflict || !self.touches(object, past, trace)
            }),
        }
    }
}

/// Adds `steps`, found in the run `past` and to be run from the point at position `at`, unless what
/// they lead to will be run anyway. How many steps are new.
pub(crate) fn insert(
    mut tree: &mut Vec<Branch>,
    steps: &mut Vec<Planned>,
    past: &Past,
    trace: &Trace,
    at: usize,
) -> u64 {
    while let Some(child) = tree.iter().position(|child| child.covers(steps, past, trace)) {
        tree = &mut tree[child].children;
        if tree.is_empty() || steps.is_empty() {
            return 0;
        }
    }
    for step in steps.iter() {
        tree.push(Branch::new(step, past, trace, at));
        let last = tree.len() - 1;
        tree = &mut tree[last].children;
    }
    steps.len() as u64
}
