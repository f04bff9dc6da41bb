//! A run taken apart: what follows what in a thread, what touches which object, what a read needs.

use raddle_core::{
    Access, Action, CellOp, Effect, EventId, ObjectId, ObjectKind, Op, Scalar, ThreadId, ThreadOp,
    Trace,
};

/// No step.
pub(crate) const NONE: u32 = u32::MAX;

/// What is found in a variable before anybody writes it, where values do not count.
const INITIAL: u64 = u64::MAX;

/// The steps of a run. An event is named by its position; what is still pending comes after the events.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// For each step the one before it in its thread, or its thread's spawn.
    pub(crate) before: Vec<u32>,
    /// For each object the events on it that change it.
    pub(crate) updates: Vec<Vec<u32>>,
    /// For each event how many updates of its object came before it.
    pub(crate) version: Vec<u32>,
    /// For each event what it has to find in its variable.
    ///
    /// Values where they are known and say all, otherwise a number for each write.
    pub(crate) reads: Vec<Option<u64>>,
    /// For each event what it leaves in its variable.
    pub(crate) writes: Vec<Option<u64>>,
    /// For each object what it begins with, in the same terms.
    pub(crate) initial: Vec<u64>,
    /// Whether the object is a variable whose values count.
    by_value: Vec<bool>,
    /// Whether the object is a variable.
    pub(crate) is_variable: Vec<bool>,
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
                // Who reads the same from another may find other plain data behind it. Addresses may be
                // others in the next run.
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
                if event.access() == Access::Update {
                    layout.updates[index].push(position);
                }
                if layout.is_variable[index] {
                    (reads, writes) = if layout.by_value[index] {
                        by_values(event.op, event.effect)
                    } else {
                        let reads = reads_variable(event.op).then_some(newest[index]);
                        (reads, (event.access() == Access::Update).then_some(u64::from(position)))
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

    /// Whether what is read from a variable is told by who wrote it, not by its value.
    pub(crate) fn is_by_write(&self, object: ObjectId) -> bool {
        !self.by_value[object.index()]
    }

    /// How many events there are.
    pub(crate) fn events(&self) -> usize {
        self.version.len()
    }
}

/// What a step does; the pending ones are not events yet.
pub(crate) fn operation(trace: &Trace, step: u32) -> Op {
    match trace.events.get(step as usize) {
        Some(event) => event.op,
        None => trace.pending[step as usize - trace.events.len()].op,
    }
}

/// The name of a step.
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

/// Whether what an operation on a variable does depends on what it finds there.
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
