//! How a step is tied to an earlier one, derived from the trace.

use raddle_core::{
    Access, Action, AtomicOp, Effect, Event, EventId, MutexOp, ObjectId, RwLockOp, Trace,
};

/// The tie of a step to an earlier one; steps are positions in the trace.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Link {
    /// It read what this step wrote.
    Reads(usize),
    /// It read the value the variable was made with.
    ReadsInitial,
    /// It wrote over what another thread wrote in this step, without having looked.
    Overwrites(usize),
    /// It gives back what this step took.
    TakenIn(usize),
}

/// The tie of the step at `position`, if it has one.
pub(crate) fn link(trace: &Trace, position: usize) -> Option<Link> {
    let event = &trace.events[position];
    match event.op.action() {
        Action::Atomic(op) => match op {
            AtomicOp::Load { .. } | AtomicOp::Update { .. } | AtomicOp::CompareExchange { .. } => {
                Some(source(trace, position).map_or(Link::ReadsInitial, Link::Reads))
            }
            AtomicOp::Store { .. } => {
                let before = last_update(trace, position)?;
                let foreign = trace.events[before].id.thread != event.id.thread;
                foreign.then_some(Link::Overwrites(before))
            }
        },
        Action::Mutex(op) => match op {
            MutexOp::Unlock => taken_in(trace, position).map(Link::TakenIn),
            MutexOp::Lock | MutexOp::TryLock => None,
        },
        Action::RwLock(op) => match op {
            RwLockOp::UnlockRead | RwLockOp::UnlockWrite => {
                taken_in(trace, position).map(Link::TakenIn)
            }
            RwLockOp::Read | RwLockOp::Write | RwLockOp::TryRead | RwLockOp::TryWrite => None,
        },
        Action::Thread(_)
        | Action::Cell(_)
        | Action::Condvar(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. } => None,
    }
}

/// The step whose value the step at `position` read; `None` for the initial value.
fn source(trace: &Trace, position: usize) -> Option<usize> {
    match trace.sources.iter().find(|source| source.0 == position) {
        Some(&(_, chosen)) => {
            let object = trace.events[position].op.object();
            let initial = trace.objects.get(object.index()).map(|object| object.name);
            if initial == Some(chosen) { None } else { step_of(trace, chosen) }
        }
        None => last_update(trace, position),
    }
}

fn step_of(trace: &Trace, id: EventId) -> Option<usize> {
    trace.events.iter().position(|event| event.id == id)
}

fn last_update(trace: &Trace, position: usize) -> Option<usize> {
    let object = trace.events[position].op.object();
    last(trace, position, |event| event.op.object() == object && event.access() == Access::Update)
}

/// The step in which the thread that gives a lock back at `position` took it.
fn taken_in(trace: &Trace, position: usize) -> Option<usize> {
    let unlock = &trace.events[position];
    last(trace, position, |event| {
        event.id.thread == unlock.id.thread && takes(event, unlock.op.object())
    })
}

/// Whether the event took the lock `object`.
fn takes(event: &Event, object: ObjectId) -> bool {
    event.op.object() == object
        && event.effect != Effect::No
        && match event.op.action() {
            Action::Mutex(op) => match op {
                MutexOp::Lock | MutexOp::TryLock => true,
                MutexOp::Unlock => false,
            },
            Action::RwLock(op) => match op {
                RwLockOp::Read | RwLockOp::Write | RwLockOp::TryRead | RwLockOp::TryWrite => true,
                RwLockOp::UnlockRead | RwLockOp::UnlockWrite => false,
            },
            Action::Thread(_)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => false,
        }
}

fn last(trace: &Trace, before: usize, wanted: impl Fn(&Event) -> bool) -> Option<usize> {
    trace.events[..before].iter().rposition(wanted)
}
