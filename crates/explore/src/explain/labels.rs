//! Names of events that hold across runs.
//!
//! An event id is the position among the events of a thread: after another branch it is another operation. A label says
//! what the thread does and where, and for the how-manieth time.

use std::collections::HashMap;

use super::guide::Place;
use raddle_core::{Event, ObjectId, Op, Pending, Site, ThreadId, Trace};

/// What a thread does at a place of the program.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Deed {
    pub(super) thread: ThreadId,
    /// The number of the place in [`Sites`].
    site: u32,
    /// The kind of the operation.
    kind: u8,
}

impl Deed {
    /// Returns the operation and its place, without the thread.
    pub(super) fn place(self) -> Place {
        (self.site, self.kind)
    }
}

/// The name of an event: the thread does this for the `nth` time, counted from zero.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Label {
    pub(super) deed: Deed,
    pub(super) nth: u32,
}

/// Numbers of places.
#[derive(Default)]
pub(super) struct Sites {
    /// A place that was compiled several times has several keys.
    by_key: HashMap<usize, u32>,
    known: Vec<Site>,
}

impl Sites {
    pub(super) fn deed(&mut self, thread: ThreadId, op: Op, site: Site) -> Deed {
        let known = &mut self.known;
        let number = *self.by_key.entry(site.key()).or_insert_with(|| {
            let found = known.iter().position(|other| *other == site);
            found.unwrap_or_else(|| {
                known.push(site);
                known.len() - 1
            }) as u32
        });
        Deed { thread, site: number, kind: op.kind() }
    }

    pub(super) fn deed_of(&mut self, event: &Event) -> Deed {
        self.deed(event.id.thread, event.op, event.site)
    }
}

/// A run with its labels.
pub(super) struct Labelled {
    pub(super) trace: Trace,
    /// By position.
    pub(super) labels: Vec<Label>,
    /// The position of each label.
    pub(super) positions: HashMap<Label, usize>,
    /// The operations that were announced and not performed.
    pub(super) pending: HashMap<Label, Pending>,
}

impl Labelled {
    pub(super) fn new(trace: Trace, sites: &mut Sites) -> Labelled {
        let mut counts: HashMap<Deed, u32> = HashMap::new();
        let label = |event: &Event| {
            let deed = sites.deed_of(event);
            let count = counts.entry(deed).or_insert(0);
            *count += 1;
            Label { deed, nth: *count - 1 }
        };
        let labels: Vec<Label> = trace.events.iter().map(label).collect();
        let pending = trace.pending.iter().map(|pending| {
            let deed = sites.deed(pending.thread, pending.op, pending.site);
            (Label { deed, nth: counts.get(&deed).copied().unwrap_or(0) }, *pending)
        });
        let pending = pending.collect();
        let positions = labels.iter().enumerate().map(|(at, label)| (*label, at)).collect();
        Labelled { trace, labels, positions, pending }
    }

    /// Returns whether the event at `position` can be part of a cause. The orders of spawns, ends and joins follow from
    /// others.
    pub(super) fn is_candidate(&self, position: usize) -> bool {
        let op = &self.trace.events[position].op;
        !op.is_thread() && op.object() != ObjectId::NONE
    }
}
