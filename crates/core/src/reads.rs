//! What the accesses of a run to its atomic variables read, and the order of the stores.
//!
//! A run records only what was chosen; everything else follows from it.

use alloc::vec::Vec;

use crate::{Action, AtomicOp, Effect, Event, EventId, Trace};

/// What the accesses of a run read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reads {
    /// By position in the run: what an access to an atomic variable read, if it reads.
    reads: Vec<Option<Read>>,
    /// By object: the stores to an atomic variable in their order, without the initial one.
    orders: Vec<Vec<EventId>>,
    /// Stores that did not become the newest, by position, with the one right behind them then.
    overtaken: Vec<(usize, EventId)>,
}

/// What one access read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// The store.
    pub source: EventId,
    /// How many stores that had happened already come after the source.
    pub newer: usize,
    /// The last of these; the source if there are none.
    pub newest: EventId,
}

impl Reads {
    /// What the accesses of `trace` read.
    pub fn of(trace: &Trace) -> Reads {
        let mut orders: Vec<Vec<EventId>> = Vec::new();
        orders.resize_with(trace.objects.len(), Vec::new);
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
            // How many stores come before the place behind the one chosen.
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

    /// The store that the one at `position` came to stand right before, if it did not become the newest.
    pub fn overtaken(&self, position: usize) -> Option<EventId> {
        let at = self.overtaken.binary_search_by_key(&position, |store| store.0).ok()?;
        Some(self.overtaken[at].1)
    }

    /// What the event at `position` read, if it reads an atomic variable.
    pub fn at(&self, position: usize) -> Option<Read> {
        self.reads.get(position).copied().flatten()
    }

    /// The stores to each object in their order, by [`ObjectId`](crate::ObjectId), without the initial
    /// one.
    pub fn orders(&self) -> &[Vec<EventId>] {
        &self.orders
    }
}

/// Whether an access to an atomic variable read and wrote.
fn kind(event: &Event) -> Option<(bool, bool)> {
    let Action::Atomic(op) = event.op.action() else { return None };
    Some(match op {
        AtomicOp::Load { .. } => (true, false),
        AtomicOp::Store { .. } => (false, true),
        AtomicOp::Update { .. } => (true, true),
        AtomicOp::CompareExchange { .. } => (true, matches!(event.effect, Effect::Exchanged(_))),
    })
}
