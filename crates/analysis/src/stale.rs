//! Stale reads: loads that did not read the newest store of their variable, and why they could.
//!
//! A load may read any store unless a newer one happens before the load. Synchronisation makes it happen
//! before: a releasing store or fence after the newer store, and an acquiring load or fence that reads what
//! it stored before this load. If the loading thread has read something that the other stored after the
//! newer store, that synchronisation was missed, and the analysis says through which weak ordering.

use std::ops::Range;

use raddle_core::{Action, AtomicOp, Effect, Event, Order, ThreadId, Trace};

use crate::Reads;

/// The maximal number of stale reads explained.
const MAX_EXPLAINED: usize = 10;

/// The stale reads of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaleReads {
    /// The first stale reads, with reasons.
    pub explained: Vec<StaleRead>,
    /// The number of further stale reads.
    pub more: usize,
}

/// A stale read. Steps are positions in the trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StaleRead {
    /// The load.
    pub step: usize,
    /// The store it read; `None` for the initial value.
    pub source: Option<usize>,
    /// The newest store of the variable.
    pub newest: usize,
    /// The synchronisation that would have ruled the old value out, if there was a chance of one.
    pub missed: Option<MissedSync>,
}

/// A read by the loading thread that would have synchronised with the newer store, had the orderings been
/// stronger.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MissedSync {
    /// The read.
    pub read: usize,
    /// The store it read.
    pub store: usize,
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
    /// The store does not release, and the load does not acquire.
    Both,
}

impl StaleReads {
    /// Finds the stale reads of `trace`.
    pub fn of(trace: &Trace) -> StaleReads {
        let reads = Reads::of(trace);
        let is_stale = |step: &usize| reads.at(*step).is_some_and(|read| read.newer > 0);
        let stale: Vec<usize> = (0..trace.events.len()).filter(is_stale).collect();
        let explain = |&step: &usize| explained(trace, &reads, step);
        StaleReads {
            explained: stale.iter().take(MAX_EXPLAINED).filter_map(explain).collect(),
            more: stale.len().saturating_sub(MAX_EXPLAINED),
        }
    }
}

fn explained(trace: &Trace, reads: &Reads, step: usize) -> Option<StaleRead> {
    let read = reads.at(step)?;
    let position = |id| trace.events.iter().position(|event| event.id == id);
    let newest = position(read.newest)?;
    let missed = missed_sync(trace, reads, step, newest);
    Some(StaleRead { step, source: position(read.source), newest, missed })
}

/// Finds the last read before `step`, by the same thread, of something that the thread of `newest` stored
/// by or after `newest`.
fn missed_sync(trace: &Trace, reads: &Reads, step: usize, newest: usize) -> Option<MissedSync> {
    let (reader, writer) = (trace.events[step].id.thread, trace.events[newest].id);
    (0..step).rev().find_map(|read| {
        let event = &trace.events[read];
        let source = reads.at(read)?.source;
        if event.id.thread != reader
            || source.thread != writer.thread
            || source.index < writer.index
        {
            return None;
        }
        let store = trace.events.iter().position(|event| event.id == source)?;
        let releases = order(&trace.events[store])?.releases()
            || has_fence(trace, newest..store, writer.thread, Order::releases);
        let acquires =
            order(event)?.acquires() || has_fence(trace, read..step, reader, Order::acquires);
        let weak = match (releases, acquires) {
            (false, false) => Weak::Both,
            (false, true) => Weak::Store,
            (true, false) => Weak::Load,
            (true, true) => return None,
        };
        Some(MissedSync { read, store, weak })
    })
}

/// Returns whether `thread` performs a fence within `range` that `does` accepts.
fn has_fence(
    trace: &Trace,
    range: Range<usize>,
    thread: ThreadId,
    does: fn(Order) -> bool,
) -> bool {
    trace.events[range].iter().any(|event| {
        event.id.thread == thread
            && matches!(event.op.action(), Action::Fence(order) if does(order))
    })
}

/// Returns the memory ordering with which an atomic access took effect.
fn order(event: &Event) -> Option<Order> {
    let Action::Atomic(op) = event.op.action() else { return None };
    Some(match op {
        AtomicOp::Load { order }
        | AtomicOp::Store { order, .. }
        | AtomicOp::Update { order, .. } => order,
        AtomicOp::CompareExchange { success, failure, .. } => match event.effect {
            Effect::Exchanged(_) => success,
            _ => failure,
        },
    })
}
