//! Data races: two accesses to a plain variable, at least one of them a write, that nothing orders.
//!
//! What orders events is synchronisation, not the order in which they happened to come: see
//! [`raddle_engine::causality`]. What an atomic access learns is what the store that it read carries,
//! which is not always the newest.
//!
//! To make an object is to write its memory, for any kind of object, where an allocator tells who did.
//!
//! Clocks are worked out after a run, and only if the run has accesses to plain variables.

use std::collections::HashMap;

use raddle_core::{
    Action, AtomicOp, CellOp, Effect, Event, EventId, ObjectId, PlainAccess, Reads, Site, ThreadId,
    Trace,
};
use raddle_engine::causality::{Causality, Clock};
use raddle_engine::{Engine, Sc, Substrate};
use raddle_results::Finding;
use raddle_strategy::Random;

use crate::{Explorer, Repeat};

/// The first race of a run, if it has one.
pub fn race(trace: &Trace) -> Option<Finding> {
    let announced = |event: &Event| matches!(event.op.action(), Action::Cell(_));
    if trace.plain.is_empty() && !trace.events.iter().any(announced) {
        return None;
    }
    let (first, second) = go_through(trace, Err).err()?;
    Some(Finding::Race { first, second })
}

/// How many runs are made to see which lines race.
const TRIALS: u64 = 50;

/// The lines of `program` that race in one of a few runs, each once. The same whenever it is asked.
pub fn racing_lines<S: Substrate>(
    substrate: &mut S,
    program: &S::Program,
    max_steps: usize,
) -> Vec<Site> {
    let mut lines = Vec::new();
    let mut trials = Repeat::new(Random::default(), 0);
    let mut engine = Engine::new(Sc, trials.family(), trials.chooser(), max_steps);
    for trial in 0..TRIALS {
        trials.next(engine.plan_mut());
        if substrate.execute(&mut engine, program).is_err() {
            break;
        }
        let (trace, plan) = engine.trace_and_plan_mut();
        trials.learn(trial, trace, plan);
        let _ = go_through(trace, |(first, second)| {
            for line in [first.site, second.site] {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
            Ok(())
        });
    }
    lines
}

/// Two accesses that race.
type Racing = (PlainAccess, PlainAccess);

/// Tells `found` of every race of a run, until it has enough.
fn go_through(
    trace: &Trace,
    mut found: impl FnMut(Racing) -> Result<(), Racing>,
) -> Result<(), Racing> {
    let mut detector = Detector::new(trace);
    let reads = detector.carried.is_some().then(|| Reads::of(trace));
    let mut look = |detector: &mut Detector, access: PlainAccess| {
        detector.other(access).map_or(Ok(()), |other| found((other, access)))?;
        detector.access(access);
        Ok(())
    };
    let mut plain = trace.plain.iter().peekable();
    for (position, event) in trace.events.iter().enumerate() {
        while let Some(access) = plain.next_if(|access| access.after <= position) {
            look(&mut detector, *access)?;
        }
        if let Action::Cell(op) = event.op.action() {
            let access = plain_access(position, event, op == CellOp::Write);
            look(&mut detector, access)?;
            detector.causality.advance(event.id.thread);
        } else {
            if detector.is_created(event.op.object()) {
                // Whoever uses an object reads what its creator wrote.
                look(&mut detector, plain_access(position, event, false))?;
            }
            if let Action::Atomic(op) = event.op.action() {
                let source = reads.as_ref().and_then(|reads| reads.at(position));
                detector.atomic(op, event, source.map(|read| read.source));
            } else {
                detector.causality.happen(event);
            }
        }
    }
    plain.try_for_each(|access| look(&mut detector, *access))
}

/// The event at `position` as an access to plain memory.
fn plain_access(position: usize, event: &Event, writes: bool) -> PlainAccess {
    let (thread, object) = (event.id.thread, event.op.object());
    PlainAccess { thread, after: position, object, writes, site: event.site }
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

    /// What a thread of the run comes after.
    fn clock(&self, thread: ThreadId) -> &Clock {
        self.causality
            .clock(thread)
            .expect("raddle invariant broken: a thread that is not in its run")
    }

    /// Whether somebody wrote the memory of an object that is used by other means.
    fn is_created(&self, object: ObjectId) -> bool {
        self.variables.get(object.index()).is_some_and(|variable| variable.write.is_some())
    }

    /// What an access races with, if with anything.
    fn other(&self, access: PlainAccess) -> Option<PlainAccess> {
        let PlainAccess { thread, object, writes, .. } = access;
        let clock = self.clock(thread);
        let variable = &self.variables[object.index()];
        let unordered = |other: &&Stamped| {
            other.access.thread != thread && clock.of(other.access.thread) < other.time
        };
        let write = variable.write.iter().find(unordered);
        let read = || variable.reads.iter().filter(|_| writes).find(unordered);
        write.or_else(read).map(|other| other.access)
    }

    /// An access that later ones could race with.
    fn access(&mut self, access: PlainAccess) {
        let PlainAccess { thread, object, writes, .. } = access;
        let time = self.clock(thread).of(thread);
        let variable = &mut self.variables[object.index()];
        let stamped = Stamped { access, time };
        if writes {
            variable.reads.clear();
            variable.write = Some(stamped);
        } else {
            match variable.reads.iter_mut().find(|read| read.access.thread == thread) {
                Some(read) => *read = stamped,
                None => variable.reads.push(stamped),
            }
        }
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
