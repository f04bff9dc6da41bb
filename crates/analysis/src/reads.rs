//! What the accesses of a run to its atomic variables read, and the modification order of each variable.
//!
//! A trace records only what was chosen; everything else follows from that.

use raddle_core::{Action, AtomicOp, Effect, Event, EventId, Trace};

/// The reads-from relation and the modification orders of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reads {
    /// By position in the trace: what an access to an atomic variable read, if it reads.
    reads: Vec<Option<Read>>,
    /// By object: the stores to an atomic variable in modification order, without the initial one.
    orders: Vec<Vec<EventId>>,
    /// Stores that did not become the newest, by position, with the store directly after them.
    overtaken: Vec<(usize, EventId)>,
}

/// What one access read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// The store.
    pub source: EventId,
    /// The number of stores after the source in modification order that had already happened.
    pub newer: usize,
    /// The newest of these stores; the source if there are none.
    pub newest: EventId,
}

impl Reads {
    /// Derives what the accesses of `trace` read.
    pub fn of(trace: &Trace) -> Reads {
        let mut orders: Vec<Vec<EventId>> = vec![Vec::new(); trace.objects.len()];
        let mut chosen = trace.sources.iter().peekable();
        let mut overtaken = Vec::new();
        let mut reads = Vec::with_capacity(trace.events.len());
        for (position, event) in trace.events.iter().enumerate() {
            let chosen = chosen.next_if(|choice| choice.0 == position).map(|choice| choice.1);
            let Some((does_read, does_write)) = kind(event) else {
                reads.push(None);
                continue;
            };
            let order = &mut orders[event.op.object().index()];
            // The number of stores up to and including the chosen one.
            let place = match chosen {
                None => order.len(),
                Some(store) => order.iter().position(|&id| id == store).map_or(0, |at| at + 1),
            };
            let source = match place.checked_sub(1) {
                None => EventId::INITIAL,
                Some(before) => order[before],
            };
            let newest = order.last().copied().unwrap_or(EventId::INITIAL);
            let newer = order.len() - place;
            reads.push(does_read.then_some(Read { source, newer, newest }));
            if does_write {
                if let Some(&next) = order.get(place) {
                    overtaken.push((position, next));
                }
                order.insert(place, event.id);
            }
        }
        Reads { reads, orders, overtaken }
    }

    /// Returns the store directly after the one at `position` in modification order. Returns `None` if that
    /// store became the newest.
    pub fn overtaken(&self, position: usize) -> Option<EventId> {
        let at = self.overtaken.binary_search_by_key(&position, |store| store.0).ok()?;
        Some(self.overtaken[at].1)
    }

    /// Returns what the event at `position` read. Returns `None` if it does not read an atomic variable.
    pub fn at(&self, position: usize) -> Option<Read> {
        self.reads.get(position).copied().flatten()
    }

    /// The modification order of each object, by [`ObjectId`](raddle_core::ObjectId), without the initial
    /// store.
    pub fn orders(&self) -> &[Vec<EventId>] {
        &self.orders
    }
}

/// Returns whether an access to an atomic variable read and whether it wrote.
fn kind(event: &Event) -> Option<(bool, bool)> {
    let Action::Atomic(op) = event.op.action() else { return None };
    Some(match op {
        AtomicOp::Load { .. } => (true, false),
        AtomicOp::Store { .. } => (false, true),
        AtomicOp::Update { .. } => (true, true),
        AtomicOp::CompareExchange { .. } => (true, matches!(event.effect, Effect::Exchanged(_))),
    })
}
