//! Data races: two accesses to a plain variable, at least one of them a write, that nothing orders.
//!
//! Synchronisation orders events, not their position in the trace: see [`raddle_engine::causality`]. An
//! atomic access synchronises with the store it read, which is not always the newest.
//!
//! Creating an object writes its memory, for objects of any kind, if an allocator reports who did.
//!
//! Atomic accesses do not race with each other, but with accesses to the same variable that are not atomic.
//!
//! Clocks are computed after a run, and only if the run accesses plain variables.

use std::collections::HashMap;

use raddle_core::{
    Action, AtomicOp, CellOp, Effect, Event, EventId, ObjectId, ObjectKind, PlainAccess, Site,
    ThreadId, Trace,
};
use raddle_engine::causality::{Causality, Clock};
use raddle_results::Finding;

use crate::Reads;

/// Returns the first race of a run, if it has one.
pub fn race(trace: &Trace) -> Option<Finding> {
    let (first, second) = race_except(trace, |_| false)?;
    Some(Finding::Race { first, second })
}

/// Returns the first race of a run without those for which `is_cleared` returns true.
pub fn race_except(trace: &Trace, is_cleared: impl Fn(&Racing) -> bool) -> Option<Racing> {
    let announced = |event: &Event| matches!(event.op.action(), Action::Cell(_));
    if trace.plain.is_empty() && !trace.events.iter().any(announced) {
        return None;
    }
    for_each_race(trace, |race| if is_cleared(&race) { Ok(()) } else { Err(race) }).err()
}

/// Two accesses that race, in the order of the run.
pub type Racing = (PlainAccess, PlainAccess);

/// Calls `found` for every race of a run, until it returns an error. Returns that error.
pub fn for_each_race(
    trace: &Trace,
    mut found: impl FnMut(Racing) -> Result<(), Racing>,
) -> Result<(), Racing> {
    let mut detector = Detector::new(trace);
    let reads = detector.carried.is_some().then(|| Reads::of(trace));
    let mut look = |detector: &mut Detector, access: PlainAccess, how: How| {
        detector.other(access, how).map_or(Ok(()), |other| found((other, access)))?;
        detector.access(access, how);
        Ok(())
    };
    let mut plain = trace.plain.iter().peekable();
    for (position, event) in trace.events.iter().enumerate() {
        while let Some(access) = plain.next_if(|access| access.after <= position) {
            look(&mut detector, *access, How::Plain)?;
        }
        if let Action::Cell(op) = event.op.action() {
            let access = plain_access(position, event, op == CellOp::Write);
            look(&mut detector, access, How::Plain)?;
            detector.causality.advance(event.id.thread);
        } else {
            if detector.is_mixed(event.op.object()) {
                let access = plain_access(position, event, event.access().changes());
                look(&mut detector, access, How::Atomic)?;
            } else if detector.is_created(event.op.object()) {
                // Using an object reads what its creator wrote.
                look(&mut detector, plain_access(position, event, false), How::Plain)?;
            }
            if let Action::Atomic(op) = event.op.action() {
                let source = reads.as_ref().and_then(|reads| reads.at(position));
                detector.atomic(op, event, source.map(|read| read.source));
            } else {
                detector.causality.observe(event);
            }
        }
    }
    plain.try_for_each(|access| look(&mut detector, *access, How::Plain))
}

/// Returns the event at `position` as an access to plain memory.
fn plain_access(position: usize, event: &Event, writes: bool) -> PlainAccess {
    let (thread, object) = (event.id.thread, event.op.object());
    PlainAccess { thread, after: position, object, writes, site: event.site }
}

/// How a variable is accessed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum How {
    Plain,
    Atomic,
}

/// The accesses to a variable that a later access could race with.
#[derive(Clone, Debug, Default)]
struct OfVariable {
    write: Option<Stamped>,
    /// The plain reads since the write; one per thread.
    reads: Vec<Stamped>,
    /// The atomic accesses since the write, of a variable that is mixed; a read and a write per thread.
    atomics: Vec<Stamped>,
    /// Whether the variable is atomic, and accessed by other than atomic operations too.
    is_mixed: bool,
}

/// An access, with the time of its thread.
#[derive(Copy, Clone, Debug)]
struct Stamped {
    access: PlainAccess,
    time: u32,
}

pub(crate) struct Detector {
    causality: Causality,
    variables: Vec<OfVariable>,
    /// By object: the clock that its newest store carries.
    newest: Vec<Clock>,
    /// The clock that every store carries, if the run read others than the newest.
    carried: Option<HashMap<EventId, Clock>>,
}

impl Detector {
    pub(crate) fn new(trace: &Trace) -> Detector {
        let mut causality = Causality::default();
        for info in &trace.threads {
            causality.thread(info.id);
        }
        let mut variables = vec![OfVariable::default(); trace.objects.len()];
        // The write by which an object is created has no place.
        for access in trace.plain.iter().filter(|access| access.site != Site::UNKNOWN) {
            let kind = trace.objects[access.object.index()].kind;
            variables[access.object.index()].is_mixed |= matches!(kind, ObjectKind::Atomic(_));
        }
        let newest = vec![Clock::default(); trace.objects.len()];
        // Without choices, every access reads the newest store.
        let carried = (!trace.sources.is_empty()).then(HashMap::new);
        Detector { causality, variables, newest, carried }
    }

    /// Returns whether the run read other stores than the newest, so that the reads have to be given to
    /// [`atomic`](Detector::atomic).
    pub(crate) fn carries_all(&self) -> bool {
        self.carried.is_some()
    }

    /// Returns the time of a thread: the number of its next event.
    pub(crate) fn time(&self, thread: ThreadId) -> u32 {
        self.clock(thread).of(thread)
    }

    /// Returns whether what `other` did at `time` happens before the next event of `thread`.
    pub(crate) fn has_seen(&self, thread: ThreadId, other: ThreadId, time: u32) -> bool {
        self.clock(thread).of(other) >= time
    }

    /// Advances the time of a thread by an access to plain memory.
    pub(crate) fn advance(&mut self, thread: ThreadId) {
        self.causality.advance(thread);
    }

    /// Synchronises by an event that is no access to memory.
    pub(crate) fn observe(&mut self, event: &Event) {
        self.causality.observe(event);
    }

    /// The clock of a thread of the run.
    pub(crate) fn clock(&self, thread: ThreadId) -> &Clock {
        self.causality
            .clock(thread)
            .expect("raddle invariant broken: a thread that is not in its run")
    }

    /// Returns whether the creation of the object was recorded as a write of its memory.
    fn is_created(&self, object: ObjectId) -> bool {
        self.variables.get(object.index()).is_some_and(|variable| variable.write.is_some())
    }

    /// Returns whether the variable is atomic and accessed by other than atomic operations too.
    fn is_mixed(&self, object: ObjectId) -> bool {
        self.variables.get(object.index()).is_some_and(|variable| variable.is_mixed)
    }

    /// Returns an earlier access that `access` races with, if there is one.
    fn other(&self, access: PlainAccess, how: How) -> Option<PlainAccess> {
        let PlainAccess { thread, object, writes, .. } = access;
        let clock = self.clock(thread);
        let variable = &self.variables[object.index()];
        let unordered = |other: &&Stamped| {
            other.access.thread != thread && clock.of(other.access.thread) < other.time
        };
        let write = variable.write.iter().find(unordered);
        let read = || variable.reads.iter().filter(|_| writes).find(unordered);
        let atomic = || {
            let conflicting = |other: &&Stamped| writes || other.access.writes;
            let mut atomics = variable.atomics.iter().filter(|_| how == How::Plain);
            atomics.find(|other| conflicting(other) && unordered(other))
        };
        write.or_else(read).or_else(atomic).map(|other| other.access)
    }

    /// Records an access that later ones could race with.
    fn access(&mut self, access: PlainAccess, how: How) {
        let PlainAccess { thread, object, writes, .. } = access;
        let time = self.clock(thread).of(thread);
        let variable = &mut self.variables[object.index()];
        let stamped = Stamped { access, time };
        if how == How::Atomic {
            let is_same = |other: &&mut Stamped| {
                (other.access.thread, other.access.writes) == (thread, writes)
            };
            match variable.atomics.iter_mut().find(is_same) {
                Some(atomic) => *atomic = stamped,
                None => variable.atomics.push(stamped),
            }
        } else if writes {
            variable.reads.clear();
            variable.atomics.clear();
            variable.write = Some(stamped);
        } else {
            match variable.reads.iter_mut().find(|read| read.access.thread == thread) {
                Some(read) => *read = stamped,
                None => variable.reads.push(stamped),
            }
        }
    }

    /// Synchronises by an access to an atomic variable that read `source`, or the newest store if that is
    /// `None`.
    pub(crate) fn atomic(&mut self, op: AtomicOp, event: &Event, source: Option<EventId>) {
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
                Some(carried) => newest.copy_from(carried),
                None => newest.clear(),
            }
        }
        if let Some(order) = reads {
            thread.read(order, newest);
        }
        if let Some(order) = writes {
            // A store starts a new release sequence; a read-modify-write continues the old one.
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
