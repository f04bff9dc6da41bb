//! What has happened in a run, made ready for questions: what happened before what, which events
//! race, and in which state an event found its object.
//!
//! Kept from run to run: a search changes the end of a run and leaves its beginning, so that only
//! the end is worked out again.

use raddle_core::{
    Access, Action, Effect, Event, EventId, Footprint, ObjectId, ObjectInfo, ObjectKind, Op,
    ThreadId, ThreadOp, Trace,
};
use raddle_engine::Object;
use raddle_strategy::mix;

/// No event, no thread.
const NONE: u32 = u32::MAX;

/// A part of a row of clocks, of a size that processors copy and compare at once.
type Lane = [u32; LANE];
const LANE: usize = 4;

/// The events of a run up to some point.
#[derive(Clone, Debug, Default)]
pub(crate) struct Past {
    steps: Vec<Step>,
    /// For each event a row of `width` lanes: how many events of each thread happened before it,
    /// itself included.
    clocks: Vec<Lane>,
    width: usize,
    objects: Vec<OfObject>,
    threads: Vec<OfThread>,
    /// The states that objects were in, in the order in which they came to be. Not of variables,
    /// whose values stand in the trace, nor of lives, which nobody asks for.
    states: Vec<Object>,
    /// In the order of their later events.
    races: Vec<Race>,
    /// Of each thread's first event that the last run did not share with the one before: the least
    /// that any of them knows of each thread.
    fronts: Vec<Lane>,
    /// The reversal being shown.
    sequence: Vec<Planned>,
    /// What identifies an event with all that happened before it, as far as anybody asked.
    histories: Vec<u64>,
}

/// An event to come, in terms of the run it was found in.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) event: EventId,
    pub(crate) footprint: Footprint,
    /// The number it is to choose.
    pub(crate) value: Option<u32>,
}

/// An event, and what it followed.
#[derive(Clone, Debug)]
struct Step {
    planned: Planned,
    /// The event before it on its object.
    on_object: u32,
    /// The event before it in its thread; the spawn, for the first.
    in_thread: u32,
    /// The thread it started.
    child: u32,
    /// The state in which it found its object, if that is kept.
    found: u32,
    /// How many states and races there were before it.
    states: u32,
    races: u32,
}

#[derive(Clone, Debug)]
struct OfObject {
    last: u32,
    state: u32,
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

/// Two events that could have come the other way round.
#[derive(Copy, Clone, Debug)]
struct Race {
    /// The position of the first.
    at: u32,
    /// The position of the second; `NONE` if it has not happened.
    by: u32,
    /// What the second would do in the place of the first.
    access: Access,
    /// How much of the run its reversal was made of when it was last shown; `NONE` if it never was.
    seen: u32,
}

impl Past {
    /// How many events there are.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// The event at `position`, as something to do again.
    pub(crate) fn planned(&self, position: usize) -> &Planned {
        &self.steps[position].planned
    }

    /// What the event at `position` touched.
    pub(crate) fn footprint(&self, position: usize) -> &Footprint {
        &self.planned(position).footprint
    }

    /// Forgets what came after the first `length` events.
    pub(crate) fn truncate(&mut self, length: usize) {
        while self.steps.len() > length {
            let Some(step) = self.steps.pop() else { return };
            let Footprint { thread, object, .. } = step.planned.footprint;
            self.threads[thread.index()].events.pop();
            if step.child != NONE {
                self.threads[step.child as usize].spawn = NONE;
            }
            if object != ObjectId::NONE {
                self.objects[object.index()] = OfObject { last: step.on_object, state: step.found };
            }
            self.states.truncate(step.states as usize);
            self.races.truncate(step.races as usize);
        }
        self.clocks.truncate(length * self.width);
        self.histories.truncate(length);
    }

    /// Adds the next event of `trace`.
    #[inline]
    pub(crate) fn push(&mut self, event: &Event, trace: &Trace) {
        let footprint = event.footprint();
        let thread = footprint.thread;
        let has_object = footprint.object != ObjectId::NONE;
        let value = if has_object { None } else { chosen(event).map(|(_, value)| value) };
        let child = if has_object { spawned(event) } else { NONE };
        self.know_thread(if child == NONE { thread.index() } else { child as usize });
        let position = self.steps.len() as u32;
        let in_thread = self.threads[thread.index()].last();
        self.threads[thread.index()].events.push(position);
        if child != NONE {
            self.threads[child as usize].spawn = position;
        }
        let row = self.clocks.len();
        if in_thread == NONE {
            self.clocks.resize(row + self.width, [0; LANE]);
        } else {
            let from = in_thread as usize * self.width;
            for lane in from..from + self.width {
                self.clocks.push(self.clocks[lane]);
            }
        }
        let (states, races) = (self.states.len() as u32, self.races.len() as u32);
        let (mut on_object, mut found) = (NONE, NONE);
        if has_object {
            OfObject { last: on_object, state: found } =
                self.know_object(footprint.object, &trace.objects);
            let mut state = found;
            if found != NONE && footprint.access == Access::Update {
                state = self.states.len() as u32;
                self.states.push(self.states[found as usize].clone());
                self.states[state as usize].apply(event.op, thread);
            }
            self.objects[footprint.object.index()] = OfObject { last: position, state };
            if on_object != NONE {
                self.join_object(row, on_object, footprint.access);
                let before = Before { on_object, in_thread };
                let mut races = std::mem::take(&mut self.races);
                self.rivals((event.op, thread), before, position, trace, &mut races);
                self.races = races;
            }
        }
        self.clocks[row + thread.index() / LANE][thread.index() % LANE] = event.id.index + 1;
        let planned = Planned { event: event.id, footprint, value };
        self.steps.push(Step { planned, on_object, in_thread, child, found, states, races });
    }

    /// Takes over what happened before the events on an object that conflict with one that touches
    /// it like this now, and whose row begins at `row`.
    fn join_object(&mut self, row: usize, on_object: u32, access: Access) {
        let (earlier, mine) = self.clocks.split_at_mut(row);
        for position in conflicting(&self.steps, on_object, access) {
            let theirs = &earlier[position * self.width..][..self.width];
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine = std::array::from_fn(|thread| mine[thread].max(theirs[thread]));
            }
        }
    }

    /// What identifies the event at `position` with all that happened before it.
    fn history(&mut self, position: usize) -> u64 {
        while self.histories.len() <= position {
            let step = &self.steps[self.histories.len()];
            let Planned { event, footprint, value } = step.planned;
            let mut history = u64::from(event.thread.0) << 32 | u64::from(event.index);
            if let Some(value) = value {
                history = mix(history, u64::from(value));
            }
            if step.in_thread != NONE {
                history = mix(history, self.histories[step.in_thread as usize]);
            }
            // In whatever order they came.
            let others = conflicting(&self.steps, step.on_object, footprint.access)
                .map(|other| self.histories[other])
                .fold(0, u64::wrapping_add);
            self.histories.push(mix(history, others));
        }
        self.histories[position]
    }

    /// What identifies all that a thread knew when it announced the operation that this event
    /// would perform. `None` if it did not get there.
    pub(crate) fn history_before(&mut self, event: EventId) -> Option<u64> {
        let thread = self.threads.get(event.thread.index())?;
        let position = match event.index.checked_sub(1) {
            Some(before) => *thread.events.get(before as usize)?,
            None if event.thread == ThreadId::MAIN => return Some(0),
            None => thread.spawn,
        };
        (position != NONE).then(|| self.history(position as usize))
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

    /// The name of the event that `thread` was about to perform before the event at `position`.
    pub(crate) fn next_event(&self, thread: ThreadId, position: usize) -> EventId {
        let events = &self.threads[thread.index()].events;
        let index = events.partition_point(|&event| (event as usize) < position);
        EventId { thread, index: index as u32 }
    }

    /// The name of the event that `thread` has not performed yet.
    fn next_id(&self, thread: ThreadId) -> EventId {
        let events = self.threads.get(thread.index()).map_or(0, |thread| thread.events.len());
        EventId { thread, index: events as u32 }
    }

    /// Whether the event at `first` happened before the one at `second`, which came later.
    fn precedes(&self, first: usize, second: usize) -> bool {
        let EventId { thread, index } = self.steps[first].planned.event;
        let (lane, place) = (thread.index() / LANE, thread.index() % LANE);
        self.clocks[second * self.width + lane][place] > index
    }

    /// Makes room for a thread.
    #[inline(always)]
    fn know_thread(&mut self, thread: usize) {
        if self.threads.len() <= thread {
            self.know_new_thread(thread);
        }
    }

    #[cold]
    fn know_new_thread(&mut self, thread: usize) {
        self.threads.resize(thread + 1, OfThread { spawn: NONE, events: Vec::new() });
        let width = (thread / LANE + 1).next_power_of_two();
        if self.width < width {
            let mut clocks = vec![[0; LANE]; self.steps.len() * width];
            if self.width > 0 {
                let rows = self.clocks.chunks_exact(self.width);
                for (new, old) in clocks.chunks_exact_mut(width).zip(rows) {
                    new[..self.width].copy_from_slice(old);
                }
            }
            (self.clocks, self.width) = (clocks, width);
        }
    }

    /// The record of an object; a new one if nothing has happened to it, because another run may
    /// have given its number to another object.
    fn know_object(&mut self, id: ObjectId, objects: &[ObjectInfo]) -> OfObject {
        if self.objects.len() <= id.index() {
            self.objects.resize(id.index() + 1, OfObject { last: NONE, state: NONE });
        }
        let OfObject { last, state } = self.objects[id.index()];
        if last != NONE {
            return OfObject { last, state };
        }
        let info = &objects[id.index()];
        match info.kind {
            ObjectKind::Atomic(_) | ObjectKind::Cell | ObjectKind::Thread(_) => {
                OfObject { last, state: NONE }
            }
            ObjectKind::Mutex
            | ObjectKind::RwLock
            | ObjectKind::Condvar
            | ObjectKind::Barrier
            | ObjectKind::Once
            | ObjectKind::Parker(_)
            | ObjectKind::Channel => {
                self.states.push(Object::from(info));
                OfObject { last, state: self.states.len() as u32 - 1 }
            }
        }
    }

    /// Finds the events in whose place `by` could have performed `op`, with another result: the
    /// events that conflict with it, that nothing it did before depends on, and that found the object
    /// in a state in which it could be performed; none that happened before another of them.
    /// `before`: the event before it on its object and in its thread; `position`: its own.
    ///
    /// This is where operations that block differ from others. A lock that came after an unlock
    /// could not have come in its place, only in that of the lock before; and one that was never
    /// performed, because the run ended in a deadlock, could have been.
    fn rivals(
        &self,
        (op, by): (Op, ThreadId),
        before: Before,
        position: u32,
        trace: &Trace,
        found: &mut Vec<Race>,
    ) {
        if op.is_thread() && op.thread() == ThreadOp::Join {
            // Possible after the thread's end, never in its place.
            return;
        }
        let known = found.len();
        let mut on_object = before.on_object;
        while on_object != NONE {
            let at = on_object;
            let here = at as usize;
            let step = &self.steps[here];
            let is_update = step.planned.footprint.access == Access::Update;
            on_object = step.on_object;
            let is_settled = before.in_thread != NONE
                && (before.in_thread == at
                    || before.in_thread > at && self.precedes(here, before.in_thread as usize));
            if is_settled
                || found[known..].iter().any(|later| self.precedes(here, later.at as usize))
            {
                if is_update {
                    // So is everything before it on this object.
                    return;
                }
                continue;
            }
            let Some(access) = self.access_at(here, op, by, trace) else { continue };
            if is_update || access == Access::Update {
                found.push(Race { at, by: position, access, seen: NONE });
            }
        }
    }

    /// What `op` by `by` would have done in the place of the event at `position`, on the same object;
    /// `None` if it would have had to wait.
    fn access_at(&self, position: usize, op: Op, by: ThreadId, trace: &Trace) -> Option<Access> {
        let state = || &self.states[self.steps[position].found as usize];
        if op.may_block() && !state().enabled(op, by) {
            return None;
        }
        // Worked out only where it depends on the state.
        if op.access() == op.access_with(Effect::No) {
            return Some(op.access());
        }
        Some(op.access_with(if op.is_atomic() {
            op.apply_to_atomic(self.value_at(position, trace)).1
        } else {
            state().clone().apply(op, by)
        }))
    }

    /// The value of the atomic variable that the event at `position` touched, before it.
    fn value_at(&self, position: usize, trace: &Trace) -> u64 {
        let told = |event: &Event| match event.effect {
            Effect::Value(old) | Effect::Exchanged(old) | Effect::Kept(old) => Some(old),
            _ => None,
        };
        let event = &trace.events[position];
        told(event).unwrap_or_else(|| {
            // A store is not told what it replaces; after one before it, nor need that be known.
            match self.steps[position].on_object {
                NONE => trace.objects[event.op.object().index()].initial,
                before => {
                    let before = &trace.events[before as usize];
                    let old = told(before).unwrap_or(0);
                    before.op.apply_to_atomic(old).0.unwrap_or(old)
                }
            }
        })
    }

    /// Shows every way to let a thread go first in a conflict, also with an operation that is still
    /// pending: where, and what is to happen there. `shared`: how many events the run has in common
    /// with the one before.
    ///
    /// A reversal that is the same as when it was last shown is not shown again. That was at the same
    /// point, from which nothing else has been run since: what slept there still sleeps, and what was
    /// planned there still is.
    pub(crate) fn reversals(
        &mut self,
        trace: &Trace,
        shared: usize,
        mut show: impl FnMut(&mut Past, usize, &mut Vec<Planned>),
    ) {
        self.find_fronts(shared);
        let mut sequence = std::mem::take(&mut self.sequence);
        let mut races = std::mem::take(&mut self.races);
        for race in &mut races {
            if race.seen as usize <= shared && self.is_known_to_fronts(race.at as usize) {
                continue;
            }
            let mut last = self.steps[race.by as usize].planned;
            last.footprint.access = race.access;
            race.seen = self.reverse(race.at as usize, last, &mut sequence);
            show(self, race.at as usize, &mut sequence);
        }
        let performed = races.len();
        for pending in &trace.pending {
            let (op, thread) = (pending.op, pending.thread);
            let in_thread = self.threads.get(thread.index()).map_or(NONE, OfThread::last);
            let object = self.objects.get(op.object().index());
            let on_object = object.map_or(NONE, |object| object.last);
            let before = Before { on_object, in_thread };
            self.rivals((op, thread), before, NONE, trace, &mut races);
            for race in races.drain(performed..) {
                let footprint = Footprint { thread, object: op.object(), access: race.access };
                let last = Planned { event: self.next_id(thread), footprint, value: None };
                self.reverse(race.at as usize, last, &mut sequence);
                show(self, race.at as usize, &mut sequence);
            }
        }
        (self.races, self.sequence) = (races, sequence);
    }

    /// What is to happen in the place of the event at `at`: all that came after it, up to the end of
    /// the run, and does not depend on it; then `last`. Returns how much of the run that is made of.
    fn reverse(&self, at: usize, last: Planned, sequence: &mut Vec<Planned>) -> u32 {
        sequence.clear();
        let mut end = at;
        let later = at + 1..self.len();
        for position in later.filter(|&position| !self.precedes(at, position)) {
            sequence.push(self.steps[position].planned);
            end = position;
        }
        sequence.push(last);
        end as u32 + 1
    }

    /// Looks at what is new in a run. An event that does not follow another one of these in its
    /// thread, or its thread's spawn, knows the least.
    fn find_fronts(&mut self, shared: usize) {
        self.fronts.clear();
        self.fronts.resize(self.width, [u32::MAX; LANE]);
        for (position, step) in self.steps.iter().enumerate().skip(shared) {
            if step.in_thread == NONE || (step.in_thread as usize) < shared {
                let row = &self.clocks[position * self.width..][..self.width];
                for (least, known) in self.fronts.iter_mut().zip(row) {
                    *least = std::array::from_fn(|thread| least[thread].min(known[thread]));
                }
            }
        }
    }

    /// Whether everything new happened after the event at `position`.
    fn is_known_to_fronts(&self, position: usize) -> bool {
        let EventId { thread, index } = self.steps[position].planned.event;
        self.fronts[thread.index() / LANE][thread.index() % LANE] > index
    }
}

/// What an operation comes after.
#[derive(Copy, Clone)]
struct Before {
    on_object: u32,
    in_thread: u32,
}

/// The last events on an object, from the one at `last` on, that conflict with one that touches it
/// like this after them. All others that do happened before one of these.
fn conflicting(steps: &[Step], last: u32, access: Access) -> impl Iterator<Item = usize> {
    let step = |position: u32| steps.get(position as usize).map(|step| (position as usize, step));
    let is_update = |step: &Step| step.planned.footprint.access == Access::Update;
    let before = move |(_, after): &(usize, &Step)| match is_update(after) {
        true => None,
        false => step(after.on_object),
    };
    std::iter::successors(step(last), before)
        .filter(move |(_, step)| is_update(step) || access == Access::Update)
        .map(|(position, _)| position)
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
fn spawned(event: &Event) -> u32 {
    match event.effect {
        Effect::Value(child) if event.op.is_thread() && event.op.thread() == ThreadOp::Spawn => {
            child as u32
        }
        _ => NONE,
    }
}
