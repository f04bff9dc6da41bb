//! What has happened in a run, made ready for questions: what happened before what, and in which
//! state an event found its object.
//!
//! Kept from run to run: a search changes the end of a run and leaves its beginning, so that only
//! the end is worked out again.

use raddle_core::dependence::conflict;
use raddle_core::{
    Access, Action, Effect, Event, EventId, Footprint, ObjectId, ObjectInfo, Op, ThreadId,
    ThreadOp, Trace,
};
use raddle_engine::Object;
use raddle_strategy::mix;

/// No event.
const NONE: u32 = u32::MAX;

/// The events of a run up to some point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    steps: Vec<Step>,
    /// For each event a row of `width` numbers: how many events of each thread happened before it,
    /// itself included.
    clocks: Vec<u32>,
    width: usize,
    objects: Vec<OfObject>,
    threads: Vec<OfThread>,
}

/// An event, and what it followed.
#[derive(Clone, Debug)]
struct Step {
    id: EventId,
    footprint: Footprint,
    /// The event before it on its object.
    on_object: u32,
    /// The event before it in its thread; the spawn, for the first.
    in_thread: u32,
    /// The thread it started.
    child: Option<ThreadId>,
    /// Identifies it with all that happened before it.
    history: u64,
    /// The state in which it found its object.
    state: State,
}

#[derive(Clone, Debug)]
struct OfObject {
    last: u32,
    state: State,
}

#[derive(Clone, Debug)]
struct OfThread {
    spawn: u32,
    /// The positions of its events.
    events: Vec<u32>,
}

impl OfThread {
    /// Its last event, or its spawn.
    fn last(&self) -> u32 {
        self.events.last().copied().unwrap_or(self.spawn)
    }
}

/// All there is to know of an object.
#[derive(Clone, Debug)]
enum State {
    /// A variable with this value.
    Value(u64),
    /// Anything else.
    Object(Object),
}

impl State {
    fn initial(info: &ObjectInfo) -> State {
        match Object::from(info) {
            Object::Variable => State::Value(info.initial),
            object => State::Object(object),
        }
    }

    fn enables(&self, op: Op, by: ThreadId) -> bool {
        match self {
            State::Value(_) => true,
            State::Object(object) => object.enabled(op, by),
        }
    }

    fn apply(&mut self, op: Op, by: ThreadId) -> Effect {
        match self {
            State::Value(value) if op.is_atomic() => {
                let (new, effect) = op.apply_to_atomic(*value);
                *value = new.unwrap_or(*value);
                effect
            }
            State::Value(_) => Effect::None,
            State::Object(object) => object.apply(op, by),
        }
    }
}

impl Past {
    /// How many events there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// What the event at `position` touched.
    pub(crate) fn footprint(&self, position: usize) -> &Footprint {
        &self.steps[position].footprint
    }

    /// Forgets what came after the first `length` events.
    pub(crate) fn truncate(&mut self, length: usize) {
        while self.steps.len() > length {
            let Some(step) = self.steps.pop() else { return };
            self.threads[step.id.thread.index()].events.pop();
            if let Some(child) = step.child {
                self.threads[child.index()].spawn = NONE;
            }
            if step.footprint.object != ObjectId::NONE {
                let object = &mut self.objects[step.footprint.object.index()];
                object.last = step.on_object;
                object.state = step.state;
            }
        }
        self.clocks.truncate(length * self.width);
    }

    /// Adds the next event; `objects` are those of its trace.
    pub(crate) fn push(&mut self, event: &Event, objects: &[ObjectInfo]) {
        let thread = event.id.thread;
        let child = spawned(event);
        self.know_thread(child.unwrap_or(thread).max(thread));
        let footprint = event.footprint();
        let position = self.steps.len() as u32;
        let in_thread = self.threads[thread.index()].last();
        let row = self.clocks.len();
        let mut history = event_hash(event);
        match in_thread {
            NONE => self.clocks.resize(row + self.width, 0),
            before => {
                let from = before as usize * self.width;
                self.clocks.extend_from_within(from..from + self.width);
                history = mix(history, self.steps[before as usize].history);
            }
        }
        let (mut on_object, mut state) = (NONE, State::Value(0));
        if footprint.object != ObjectId::NONE {
            let object = self.know_object(footprint.object, objects);
            on_object = std::mem::replace(&mut object.last, position);
            state = object.state.clone();
            object.state.apply(event.op, thread);
            history = mix(history, self.join_object(row, on_object, footprint.access));
        }
        self.clocks[row + thread.index()] = event.id.index + 1;
        self.threads[thread.index()].events.push(position);
        if let Some(child) = child {
            self.threads[child.index()].spawn = position;
        }
        self.steps.push(Step {
            id: event.id,
            footprint,
            on_object,
            in_thread,
            child,
            history,
            state,
        });
    }

    /// Takes over what happened before the events on an object that conflict with one that touches
    /// it like this now, and whose row begins at `row`. Returns what identifies them.
    fn join_object(&mut self, row: usize, mut on_object: u32, access: Access) -> u64 {
        let mut histories: u64 = 0;
        while on_object != NONE {
            let step = &self.steps[on_object as usize];
            let is_update = step.footprint.access == Access::Update;
            if is_update || access == Access::Update {
                histories = histories.wrapping_add(step.history);
                let from = on_object as usize * self.width;
                let (before, after) = self.clocks.split_at_mut(row);
                for (mine, theirs) in after.iter_mut().zip(&before[from..from + self.width]) {
                    *mine = (*mine).max(*theirs);
                }
            }
            if is_update {
                break;
            }
            on_object = step.on_object;
        }
        histories
    }

    /// What identifies all that a thread knew when it announced the operation that this event
    /// would perform. `None` if it did not get there.
    pub(crate) fn history_before(&self, event: EventId) -> Option<u64> {
        let thread = self.threads.get(event.thread.index())?;
        let position = match event.index.checked_sub(1) {
            Some(before) => *thread.events.get(before as usize)?,
            None if event.thread == ThreadId::MAIN => return Some(0),
            None => thread.spawn,
        };
        self.steps.get(position as usize).map(|step| step.history)
    }

    /// Whether the operation that this event would perform had been announced when the event at
    /// `position` was chosen.
    pub(crate) fn announced_before(&self, event: EventId, position: usize) -> bool {
        let thread = &self.threads[event.thread.index()];
        match event.index.checked_sub(1) {
            Some(before) => {
                thread.events.get(before as usize).is_some_and(|&p| (p as usize) < position)
            }
            None => event.thread == ThreadId::MAIN || (thread.spawn as usize) < position,
        }
    }

    /// The operation that this event performs, or was about to at the end of `trace`.
    pub(crate) fn operation(&self, event: EventId, trace: &Trace) -> Option<Op> {
        let events = &self.threads.get(event.thread.index())?.events;
        match events.get(event.index as usize) {
            Some(&position) => Some(trace.events[position as usize].op),
            None if events.len() == event.index as usize => {
                let pending = trace.pending.iter().find(|pending| pending.thread == event.thread);
                pending.map(|pending| pending.op)
            }
            None => None,
        }
    }

    /// The name of the event at `position`.
    pub(crate) fn id(&self, position: usize) -> EventId {
        self.steps[position].id
    }

    /// Where the event of this name is, if it has happened.
    pub(crate) fn position(&self, event: EventId) -> Option<usize> {
        let events = &self.threads.get(event.thread.index())?.events;
        events.get(event.index as usize).map(|&position| position as usize)
    }

    /// The name of the event that `thread` has not performed yet.
    fn next_id(&self, thread: ThreadId) -> EventId {
        let events = self.threads.get(thread.index()).map_or(0, |thread| thread.events.len());
        EventId { thread, index: events as u32 }
    }

    /// Whether the event at `first` happened before the one at `second`, which came later.
    pub(crate) fn precedes(&self, first: usize, second: usize) -> bool {
        let EventId { thread, index } = self.steps[first].id;
        self.clocks[second * self.width + thread.index()] > index
    }

    /// Makes room for a thread.
    fn know_thread(&mut self, thread: ThreadId) {
        if self.threads.len() <= thread.index() {
            let absent = OfThread { spawn: NONE, events: Vec::new() };
            self.threads.resize(thread.index() + 1, absent);
        }
        if self.width <= thread.index() {
            let width = (thread.index() + 1).next_power_of_two();
            let mut clocks = vec![0; self.steps.len() * width];
            if self.width > 0 {
                for (new, old) in
                    clocks.chunks_exact_mut(width).zip(self.clocks.chunks_exact(self.width))
                {
                    new[..self.width].copy_from_slice(old);
                }
            }
            (self.clocks, self.width) = (clocks, width);
        }
    }

    /// The record of an object; a new one if nothing has happened to it, because another run may
    /// have given its number to another object.
    fn know_object(&mut self, id: ObjectId, objects: &[ObjectInfo]) -> &mut OfObject {
        let info = &objects[id.index()];
        while self.objects.len() <= id.index() {
            self.objects.push(OfObject { last: NONE, state: State::Value(0) });
        }
        let object = &mut self.objects[id.index()];
        if object.last == NONE {
            object.state = State::initial(info);
        }
        object
    }

    /// Events in whose place `by` could have performed `op`, with another result: the events that
    /// conflict with it, that nothing it did before depends on, and that found the object in a state
    /// in which it could be performed; none that happened before another of them. With what `op`
    /// would do there. `before`: the event before it on its object and in its thread.
    ///
    /// This is where operations that block differ from others. A lock that came after an unlock
    /// could not have come in its place, only in that of the lock before; and one that was never
    /// performed, because the run ended in a deadlock, could have been.
    fn rivals(&self, op: Op, by: ThreadId, before: Before, found: &mut Vec<(usize, Access)>) {
        found.clear();
        let mut position = before.on_object;
        while position != NONE {
            let here = position as usize;
            let step = &self.steps[here];
            let is_update = step.footprint.access == Access::Update;
            position = step.on_object;
            let is_settled = before.in_thread != NONE
                && (before.in_thread as usize == here
                    || before.in_thread as usize > here
                        && self.precedes(here, before.in_thread as usize));
            if is_settled || found.iter().any(|&(later, _)| self.precedes(here, later)) {
                if is_update {
                    // So is everything before it on this object.
                    return;
                }
                continue;
            }
            let Some(access) = access_in(&step.state, op, by) else { continue };
            if is_update || access == Access::Update {
                found.push((here, access));
            }
        }
    }

    /// Shows every way to let a thread go first in a conflict, also with an operation that is still
    /// pending.
    pub(crate) fn reversals(&self, trace: &Trace, mut show: impl FnMut(Reversal<'_>)) {
        let mut found = Vec::new();
        for (event, step) in trace.events.iter().zip(&self.steps) {
            let before = Before { on_object: step.on_object, in_thread: step.in_thread };
            self.rivals(event.op, event.id.thread, before, &mut found);
            for &(at, access) in &found {
                let last = Footprint { access, ..step.footprint };
                show(Reversal { past: self, at, last: (event.id, last) });
            }
        }
        for pending in &trace.pending {
            let (op, thread) = (pending.op, pending.thread);
            let in_thread = self.threads.get(thread.index()).map_or(NONE, OfThread::last);
            let object = self.objects.get(op.object().index());
            let on_object = object.map_or(NONE, |object| object.last);
            self.rivals(op, thread, Before { on_object, in_thread }, &mut found);
            for &(at, access) in &found {
                let last = Footprint { thread, object: op.object(), access };
                let last = (self.next_id(thread), last);
                show(Reversal { past: self, at, last });
            }
        }
    }

    /// In how many ways a search will probably go on from each point: by the event that followed, and
    /// by every thread that could have performed a conflicting operation in its place.
    pub(crate) fn likely_ways(&self, trace: &Trace) -> Vec<u32> {
        let mut ways = vec![1; self.steps.len()];
        // What each thread does next, looking back from the end.
        let mut next = vec![None; self.threads.len()];
        for pending in &trace.pending {
            if let Some(next) = next.get_mut(pending.thread.index()) {
                *next = Some(pending.op);
            }
        }
        for (position, step) in self.steps.iter().enumerate().rev() {
            let op = trace.events[position].op;
            if let Some(child) = step.child {
                next[child.index()] = None;
            }
            next[step.id.thread.index()] = None;
            let could_have = |(thread, op): (usize, &Option<Op>)| {
                let Some(op) = op.filter(|op| op.object() == step.footprint.object) else {
                    return false;
                };
                let access = access_in(&step.state, op, ThreadId(thread as u32));
                let other = (op.object(), step.footprint.access);
                access.is_some_and(|access| conflict((op.object(), access), other))
            };
            ways[position] += next.iter().enumerate().filter(|&it| could_have(it)).count() as u32;
            next[step.id.thread.index()] = Some(op);
        }
        ways
    }
}

/// What an operation comes after.
#[derive(Copy, Clone)]
struct Before {
    on_object: u32,
    in_thread: u32,
}

/// A way to let a thread go before an event that it came after.
pub(crate) struct Reversal<'a> {
    past: &'a Past,
    /// The position of that event.
    pub(crate) at: usize,
    last: (EventId, Footprint),
}

impl Reversal<'_> {
    /// What is to happen in the place of the event: all that came after it, up to the end of the
    /// run, and does not depend on it; then the thread.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (EventId, Footprint)> {
        let later = self.at + 1..self.past.len();
        let independent = later.filter(|&m| !self.past.precedes(self.at, m));
        independent.map(|m| (self.past.id(m), self.past.steps[m].footprint)).chain([self.last])
    }
}

/// The name of an event as a number, and what it chose.
fn event_hash(event: &Event) -> u64 {
    let name = u64::from(event.id.thread.0) << 32 | u64::from(event.id.index);
    chosen(event).map_or(name, |(_, value)| mix(name, u64::from(value)))
}

/// How many numbers an event had to choose from, and which it took.
pub(crate) fn chosen(event: &Event) -> Option<(u32, u32)> {
    match event.effect {
        Effect::Value(value) if event.op.object() == ObjectId::NONE => match event.op.action() {
            Action::Choose { bound } => Some((bound, value as u32)),
            _ => None,
        },
        _ => None,
    }
}

/// The thread that an event started.
fn spawned(event: &Event) -> Option<ThreadId> {
    match event.effect {
        Effect::Value(child) if event.op.is_thread() && event.op.thread() == ThreadOp::Spawn => {
            Some(ThreadId(child as u32))
        }
        _ => None,
    }
}

/// What `op` by `by` does to an object in this state; `None` if it has to wait.
fn access_in(state: &State, op: Op, by: ThreadId) -> Option<Access> {
    if op.may_block() && !state.enables(op, by) {
        return None;
    }
    // Worked out only where it depends on the state.
    if op.access() == op.access_with(Effect::No) {
        return Some(op.access());
    }
    Some(op.access_with(state.clone().apply(op, by)))
}
