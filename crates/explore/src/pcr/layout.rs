//! The structure of a run: the order of steps in threads, the accesses of objects, the values of reads.

use raddle_core::{
    Access, Action, CellOp, Effect, EventId, ObjectId, ObjectKind, Op, Scalar, ThreadId, ThreadOp,
    Trace,
};

/// No step.
pub(crate) const NONE: u32 = u32::MAX;

/// The content of a variable before the first write, if values do not count.
const INITIAL: u64 = u64::MAX;

/// The steps of a run. A step is identified by its position; pending operations come after the events.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// By step: the step before it in its thread, or its thread's spawn.
    pub(crate) before: Vec<u32>,
    /// By object: the events that change it in a way that matters.
    pub(crate) updates: Vec<Vec<u32>>,
    /// By event: the number of updates of its object before it.
    pub(crate) version: Vec<u32>,
    /// By event: the content of its variable that it has to find.
    ///
    /// A value where values are known and identify the content, otherwise a number for each write.
    pub(crate) reads: Vec<Option<u64>>,
    /// By event: the content that it leaves in its variable.
    pub(crate) writes: Vec<Option<u64>>,
    /// By object: its initial content.
    pub(crate) initial: Vec<u64>,
    /// Whether the object is a variable whose values count.
    by_value: Vec<bool>,
    /// Whether the object is a variable.
    pub(crate) is_variable: Vec<bool>,
    /// Whether all steps on the object commute: it is a lock that has readers only. Their order has no results.
    commutes: Vec<bool>,
    /// The last step of each thread.
    pub(crate) last: Vec<u32>,
}

impl Layout {
    pub(crate) fn new(trace: &Trace) -> Layout {
        let events = trace.events.len();
        let threads = trace.threads.iter().map(|thread| thread.id.index() + 1).max().unwrap_or(1);
        let is_variable = |kind| matches!(kind, ObjectKind::Atomic(_) | ObjectKind::Cell);
        let by_value: Vec<bool> = trace
            .objects
            .iter()
            .map(|info| {
                // Reading the same value from another write may lead to other plain data. Addresses may differ
                // in the next run.
                matches!(info.kind, ObjectKind::Atomic(scalar) if scalar != Scalar::Pointer)
                    && trace.plain.is_empty()
            })
            .collect();
        let mut layout = Layout {
            before: Vec::with_capacity(events + trace.pending.len()),
            updates: vec![Vec::new(); trace.objects.len()],
            version: Vec::with_capacity(events),
            reads: Vec::with_capacity(events),
            writes: Vec::with_capacity(events),
            initial: trace
                .objects
                .iter()
                .zip(&by_value)
                .map(|(info, by_value)| if *by_value { info.initial } else { INITIAL })
                .collect(),
            is_variable: trace.objects.iter().map(|info| is_variable(info.kind)).collect(),
            last: vec![NONE; threads],
            by_value,
            commutes: commuting(trace),
        };
        let mut newest = layout.initial.clone();
        for (position, event) in trace.events.iter().enumerate() {
            let position = position as u32;
            let thread = event.id.thread.index();
            layout.before.push(layout.last[thread]);
            layout.last[thread] = position;
            if let (true, Effect::Value(child)) = (is_spawn(event.op), event.effect) {
                layout.last[ThreadId(child as u32).index()] = position;
            }
            let object = event.op.object();
            let (mut version, mut reads, mut writes) = (0, None, None);
            if object != ObjectId::NONE {
                let index = object.index();
                version = layout.updates[index].len() as u32;
                if layout.changes(object, event.access()) {
                    layout.updates[index].push(position);
                }
                if layout.is_variable[index] {
                    (reads, writes) = if layout.by_value[index] {
                        by_values(event.op, event.effect)
                    } else {
                        let reads = reads_variable(event.op).then_some(newest[index]);
                        (reads, event.access().changes().then_some(u64::from(position)))
                    };
                    newest[index] = writes.unwrap_or(newest[index]);
                }
            }
            layout.version.push(version);
            layout.reads.push(reads);
            layout.writes.push(writes);
        }
        for pending in &trace.pending {
            layout.before.push(layout.last[pending.thread.index()]);
        }
        layout
    }

    /// Returns whether the content of a variable is identified by its write, not by its value.
    pub(crate) fn is_by_write(&self, object: ObjectId) -> bool {
        !self.by_value[object.index()]
    }

    /// Returns whether the order of this access among those of its object matters to them.
    pub(crate) fn changes(&self, object: ObjectId, access: Access) -> bool {
        access.changes() && !self.commutes[object.index()]
    }

    /// Returns the number of events.
    pub(crate) fn events(&self) -> usize {
        self.version.len()
    }
}

/// Returns which objects are locks that have readers only.
fn commuting(trace: &Trace) -> Vec<bool> {
    let mut commutes = vec![true; trace.objects.len()];
    let events = trace.events.iter().map(|event| (event.op, event.access()));
    let pending = trace.pending.iter().map(|pending| (pending.op, pending.op.access()));
    for (op, access) in events.chain(pending) {
        if op.object() != ObjectId::NONE {
            commutes[op.object().index()] &= access == Access::Share;
        }
    }
    commutes
}

/// Returns the operation of a step, which may be pending.
pub(crate) fn operation(trace: &Trace, step: u32) -> Op {
    match trace.events.get(step as usize) {
        Some(event) => event.op,
        None => trace.pending[step as usize - trace.events.len()].op,
    }
}

/// Returns the event id of a step.
pub(crate) fn name(trace: &Trace, layout: &Layout, step: u32) -> EventId {
    match trace.events.get(step as usize) {
        Some(event) => event.id,
        None => {
            let thread = trace.pending[step as usize - trace.events.len()].thread;
            let before = layout.before[step as usize];
            let index = match trace.events.get(before as usize) {
                Some(event) if event.id.thread == thread => event.id.index + 1,
                _ => 0,
            };
            EventId { thread, index }
        }
    }
}

/// Returns whether the effect of an operation on a variable depends on its content.
pub(crate) fn reads_variable(op: Op) -> bool {
    match op.action() {
        Action::Cell(CellOp::Read) => true,
        Action::Cell(CellOp::Write) => false,
        // A store has the same effect whatever it replaces.
        _ => op.apply_to_atomic(0).1 != Effect::None,
    }
}

fn by_values(op: Op, effect: Effect) -> (Option<u64>, Option<u64>) {
    let old = match effect {
        Effect::Value(old) | Effect::Exchanged(old) | Effect::Kept(old) => Some(old),
        Effect::None
        | Effect::Yes
        | Effect::No
        | Effect::Ticket(_)
        | Effect::LastTicket(_)
        | Effect::Closed => None,
    };
    (old, op.apply_to_atomic(old.unwrap_or(0)).0)
}

fn is_spawn(op: Op) -> bool {
    op.is_thread() && op.thread() == ThreadOp::Spawn
}
