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
    /// Whether what it leads to may be run anyway, because it could not be told whether an earlier
    /// one leads there. Such a sequence may be given up at its end, and stands for nothing else.
    doubtful: bool,
    /// In the order in which they are to be run. None makes a later one redundant, except for those
    /// in doubt.
    pub(crate) children: Vec<Branch>,
}

/// Whether running one event first does not rule out what some steps lead to.
enum Covers {
    Yes {
        /// The one of the steps that it is.
        step: Option<usize>,
    },
    No,
    /// It depends on whether two objects of different runs are the same.
    Unknown,
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
            doubtful: false,
            children: Vec::new(),
        }
    }

    /// A branch without children and without doubt; `at` is the position of the point.
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
        let access = footprint.access;
        Branch { event, access, object, value, doubtful: false, children: Vec::new() }
    }

    /// Whether this event, in a run in which nothing it knows of has changed, touches `object`;
    /// `None` if that cannot be told.
    fn touches(&self, object: ObjectId, past: &Past, trace: &Trace) -> Option<bool> {
        let info = &trace.objects[object.index()];
        match self.object {
            Object::Known(known) => Some(object == known),
            Object::OfThread(kind) => Some(info.kind == kind),
            Object::Identified(identity) => Some(info.identity == identity),
            Object::Later { at, .. } if past.announced_before(info.name, at) => Some(false),
            Object::Later { history, .. } => {
                if past.history_before(self.event) != Some(history) {
                    return None;
                }
                past.operation(self.event, trace).map(|op| op.object() == object)
            }
        }
    }

    /// Whether running this first does not rule out what `steps` lead to.
    fn covers(&self, steps: &[Planned], past: &Past, trace: &Trace) -> Covers {
        if let Some(mine) = steps.iter().position(|step| step.event.thread == self.thread()) {
            let own = steps[mine];
            let is_first = own.value == self.value
                && steps[..mine].iter().all(|step| !step.footprint.depends(&own.footprint));
            return if is_first { Covers::Yes { step: Some(mine) } } else { Covers::No };
        }
        let mut covers = Covers::Yes { step: None };
        for step in steps {
            let Footprint { object, access, .. } = step.footprint;
            if conflict((object, self.access), (object, access)) {
                match self.touches(object, past, trace) {
                    Some(true) => return Covers::No,
                    Some(false) => {}
                    None => covers = Covers::Unknown,
                }
            }
        }
        covers
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
    let mut doubtful = false;
    while let Some((child, step)) = first_to_cover(tree, steps, past, trace, &mut doubtful) {
        if let Some(step) = step {
            steps.remove(step);
        }
        doubtful |= tree[child].doubtful;
        let stands_for_more = tree[child].children.is_empty() && !tree[child].doubtful;
        if stands_for_more || steps.is_empty() {
            return 0;
        }
        tree = &mut tree[child].children;
    }
    for step in steps.iter() {
        tree.push(Branch { doubtful, ..Branch::new(step, past, trace, at) });
        let last = tree.len() - 1;
        tree = &mut tree[last].children;
    }
    steps.len() as u64
}

/// The first branch that certainly covers `steps`, and which of them it is. Notes if an earlier one
/// might.
fn first_to_cover(
    tree: &[Branch],
    steps: &[Planned],
    past: &Past,
    trace: &Trace,
    doubtful: &mut bool,
) -> Option<(usize, Option<usize>)> {
    for (position, branch) in tree.iter().enumerate() {
        match branch.covers(steps, past, trace) {
            Covers::Yes { step } => return Some((position, step)),
            Covers::Unknown => *doubtful = true,
            Covers::No => {}
        }
    }
    None
}
