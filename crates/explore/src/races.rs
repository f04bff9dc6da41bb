//! Data races: two accesses to a plain variable, at least one of them a write, that nothing orders.
//!
//! What orders events is synchronisation, not the order in which they happened to come: see
//! [`raddle_engine::causality`]. What an atomic access learns is what the store that it read carries,
//! which is not always the newest.
//!
//! Clocks are worked out after a run, and only if the run has accesses to plain variables.

use std::collections::HashMap;

use raddle_core::{
    Action, AtomicOp, CellOp, Effect, Event, EventId, Finding, PlainAccess, Reads, Trace,
};
use raddle_engine::causality::{Causality, Clock};

/// The first race of a run, if it has one.
pub fn race(trace: &Trace) -> Option<Finding> {
    let announced = |event: &Event| matches!(event.op.action(), Action::Cell(_));
    if trace.plain.is_empty() && !trace.events.iter().any(announced) {
        return None;
    }
    let (first, second) = go_through(trace).err()?;
    Some(Finding::Race { first, second })
}

/// Two accesses that race.
type Racing = (PlainAccess, PlainAccess);

fn go_through(trace: &Trace) -> Result<(), Racing> {
    let mut detector = Detector::new(trace);
    let reads = detector.carried.is_some().then(|| Reads::of(trace));
    let mut plain = trace.plain.iter().peekable();
    for (position, event) in trace.events.iter().enumerate() {
        while let Some(access) = plain.next_if(|access| access.after <= position) {
            detector.access(*access)?;
        }
        if let Action::Cell(op) = event.op.action() {
            detector.access(PlainAccess {
                thread: event.id.thread,
                after: position,
                object: event.op.object(),
                writes: op == CellOp::Write,
                site: event.site,
            })?;
            detector.causality.advance(event.id.thread);
        } else if let Action::Atomic(op) = event.op.action() {
            let source = reads.as_ref().and_then(|reads| reads.at(position));
            detector.atomic(op, event, source.map(|read| read.source));
        } else {
            detector.causality.happen(event);
        }
    }
    plain.try_for_each(|access| detector.access(*access))
}

/// The accesses to a plain variable that a later one could race with.
#[derive(Clone, Debug, Default)]
struct OfVariable {
    write: Option<Stamped>,
    /// Since the write; one for each thread.
    reads: Vec<Stamped>,
}

/// An access, and the time at which its thread made it.
#[derive(Copy, Clone, Debug)]
struct Stamped {
    access: PlainAccess,
    time: u32,
}

struct Detector {
    causality: Causality,
    variables: Vec<OfVariable>,
    /// By object: what its newest store carries.
    newest: Vec<Clock>,
    /// What every store carries, in runs in which others than the newest were read.
    carried: Option<HashMap<EventId, Clock>>,
}

impl Detector {
    fn new(trace: &Trace) -> Detector {
        let mut causality = Causality::default();
        for info in &trace.threads {
            causality.thread(info.id);
        }
        let variables = vec![OfVariable::default(); trace.objects.len()];
        let newest = vec![Clock::default(); trace.objects.len()];
        // Without choices every access reads the newest store.
        let carried = (!trace.sources.is_empty()).then(HashMap::new);
        Detector { causality, variables, newest, carried }
    }

    fn access(&mut self, access: PlainAccess) -> Result<(), Racing> {
        let PlainAccess { thread, object, writes, .. } = access;
        let clock = &self.causality.thread(thread).clock;
        let variable = &mut self.variables[object.index()];
        let unordered = |other: &&Stamped| {
            other.access.thread != thread && clock.of(other.access.thread) < other.time
        };
        if let Some(other) = variable.write.iter().find(unordered) {
            return Err((other.access, access));
        }
        let stamped = Stamped { access, time: clock.of(thread) };
        if writes {
            if let Some(other) = variable.reads.iter().find(unordered) {
                return Err((other.access, access));
            }
            variable.reads.clear();
            variable.write = Some(stamped);
        } else {
            match variable.reads.iter_mut().find(|read| read.access.thread == thread) {
                Some(read) => *read = stamped,
                None => variable.reads.push(stamped),
            }
        }
        Ok(())
    }

    /// Lets a thread learn and teach by an access to an atomic variable that read `source`, or else the
    /// newest store.
    fn atomic(&mut self, op: AtomicOp, event: &Event, source: Option<EventId>) {
        let (reads, writes) = match (op, event.effect) {
            (AtomicOp::Load { order }, _) => (Some(order), None),
            (AtomicOp::Store { order, .. }, _) => (None, Some(order)),
            (AtomicOp::Update { order, .. }, _) => (Some(order), Some(order)),
            (AtomicOp::CompareExchange { success, .. }, Effect::Exchanged(_)) => {
                (Some(success), Some(success))
            }
            (AtomicOp::CompareExchange { failure, .. }, _) => (Some(failure), None),
        };
        let thread = self.causality.thread(event.id.thread);
        let newest = &mut self.newest[event.op.object().index()];
        if let (Some(source), Some(carried)) = (source, &self.carried) {
            match carried.get(&source) {
                Some(carried) => newest.copy(carried),
                None => newest.clear(),
            }
        }
        if let Some(order) = reads {
            thread.read(order, newest);
        }
        if let Some(order) = writes {
            // A store begins anew; a read-modify-write goes on with what was released before.
            if reads.is_none() {
                newest.clear();
            }
            newest.join(thread.message(order));
            if let Some(carried) = &mut self.carried {
                carried.insert(event.id, newest.clone());
            }
        }
        self.causality.advance(event.id.thread);
    }
}
