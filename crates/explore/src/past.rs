//! The events of a run with their analysis: happens-before, races, and the states of objects before
//! events.
//!
//! The analysis is kept from run to run: a search changes the end of a run, so that only the end is
//! analysed again.

use raddle_core::{
    Access, Action, Effect, Event, EventId, Footprint, ObjectId, ObjectInfo, ObjectKind, Op,
    ThreadId, ThreadOp, Trace,
};
use raddle_engine::Object;
use raddle_engine::objects::Futex;
use raddle_strategy::mix;

mod races;

use races::{Before, Races, is_join};

/// No event, no thread.
const NONE: u32 = u32::MAX;

/// A part of a row of clocks, of a size that processors copy and compare at once.
type Lane = [u32; LANE];
const LANE: usize = 4;

/// The events of a run up to some point.
#[derive(Clone, Debug)]
pub(crate) struct Past {
    steps: Vec<Step>,
    /// By event: a row of `width` lanes with the number of events of each thread that happened before it,
    /// including itself. Rows after the last event are unused.
    clocks: Vec<Lane>,
    width: usize,
    objects: Vec<OfObject>,
    threads: Vec<OfThread>,
    /// The states of objects, in the order of the events that made them. Not of variables, whose values are
    /// in the trace, unless they have waiters, nor of lives, whose states are not needed.
    states: Vec<State>,
    /// The events that started threads.
    spawns: Vec<(u32, ThreadId)>,
    /// The races, in the order of their later events.
    races: Races,
    /// By thread: the minimum over the clocks of each thread's first new event.
    fronts: Vec<Lane>,
    /// Scratch: a reversal.
    sequence: Vec<Planned>,
    /// By event: a hash of the event with all that happened before it, if it was asked for.
    histories: Vec<u64>,
}

/// A planned event, in terms of the run in which it was found.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) event: EventId,
    pub(crate) footprint: Footprint,
    /// The number that it chooses.
    pub(crate) value: Option<u32>,
}

/// An event and its predecessors.
#[derive(Clone, Debug)]
struct Step {
    planned: Planned,
    /// The event before it on its object.
    on_object: u32,
    /// The event before it in its thread; the spawn, for the first.
    in_thread: u32,
    /// The state of its object before it, if that is kept.
    found: u32,
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

/// A state of an object, and the event that made it, or the first event on the object.
#[derive(Clone, Debug)]
struct State {
    since: u32,
    object: Object,
}

impl Default for Past {
    fn default() -> Past {
        Past {
            // Enough for a small test.
            steps: Vec::with_capacity(16),
            clocks: Vec::with_capacity(16),
            objects: Vec::with_capacity(8),
            threads: Vec::with_capacity(4),
            width: 0,
            states: Vec::new(),
            spawns: Vec::new(),
            races: Races::default(),
            fronts: Vec::new(),
            sequence: Vec::new(),
            histories: Vec::new(),
        }
    }
}

impl Past {
    /// Returns the number of events.
    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the event at `position` as a planned event.
    pub(crate) fn planned(&self, position: usize) -> &Planned {
        &self.steps[position].planned
    }

    /// Returns the footprint of the event at `position`.
    pub(crate) fn footprint(&self, position: usize) -> &Footprint {
        &self.planned(position).footprint
    }

    /// Drops all but the first `length` events.
    pub(crate) fn truncate(&mut self, length: usize) {
        let is_over = |since: u32| since as usize >= length;
        while self.states.last().is_some_and(|state| is_over(state.since)) {
            self.states.pop();
        }
        for step in self.steps[length..].iter().rev() {
            let Footprint { thread, object, .. } = step.planned.footprint;
            self.threads[thread.index()].events.pop();
            if object != ObjectId::NONE {
                let is_kept = (step.found as usize) < self.states.len();
                let state = if is_kept { step.found } else { NONE };
                self.objects[object.index()] = OfObject { last: step.on_object, state };
            }
        }
        self.steps.truncate(length);
        self.histories.truncate(length);
        self.races.truncate(length);
        while let Some(&(_, child)) = self.spawns.last().filter(|spawn| is_over(spawn.0)) {
            self.threads[child.index()].spawn = NONE;
            self.spawns.pop();
        }
    }

    /// Adds the new events of `trace`.
    pub(crate) fn extend(&mut self, trace: &Trace) {
        self.make_room(trace);
        for event in &trace.events[self.len()..] {
            self.push(event, trace);
        }
    }

    #[inline(always)]
    fn push(&mut self, event: &Event, trace: &Trace) {
        let footprint = event.footprint();
        let thread = footprint.thread.index();
        let position = self.steps.len() as u32;
        let in_thread = self.threads[thread].last();
        self.threads[thread].events.push(position);
        let (mut on_object, mut found, mut value) = (NONE, NONE, None);
        if footprint.object == ObjectId::NONE {
            value = chosen(event).map(|(_, value)| value);
        } else {
            if let Some(child) = spawned(event) {
                self.spawns.push((position, child));
                self.threads[child.index()].spawn = position;
            }
            let object = &mut self.objects[footprint.object.index()];
            (on_object, found) = (object.last, object.state);
            object.last = position;
            if on_object == NONE {
                found = self.meet(position, footprint.object, &trace.objects);
            }
            if found == NONE && event.op.futex().is_some() {
                found = self.meet_waiters(position, footprint.object);
            }
            if found != NONE && footprint.access.changes() {
                self.change(position, found, event);
            }
        }
        let follows_update = on_object != NONE
            && self.steps[on_object as usize].planned.footprint.access == Access::Update;
        let row = position as usize * self.width;
        if in_thread == NONE {
            self.clocks[row..row + self.width].fill([0; LANE]);
        } else {
            let mine = in_thread as usize * self.width;
            let theirs = if follows_update { on_object as usize * self.width } else { mine };
            for lane in 0..self.width {
                let (mine, theirs) = (self.clocks[mine + lane], self.clocks[theirs + lane]);
                self.clocks[row + lane] = most(mine, theirs);
            }
        }
        self.clocks[row + thread / LANE][thread % LANE] = event.id.index + 1;
        if on_object != NONE {
            if !follows_update || in_thread == NONE {
                self.join_object(row, on_object, footprint.access);
            }
            // The fast path: most events have no conflict to find.
            let is_settled = follows_update && self.is_settled(on_object as usize, in_thread);
            if !is_settled && !is_join(event.op) {
                let before = Before { on_object, in_thread };
                let mut races = std::mem::take(&mut self.races);
                self.rivals((event.op, footprint.thread), before, position, trace, &mut races);
                self.races = races;
            }
        }
        let planned = Planned { event: event.id, footprint, value };
        self.steps.push(Step { planned, on_object, in_thread, found });
    }

    /// Returns the initial state of an object without events, if that is kept.
    ///
    /// The object is looked up again, because another run may have given its id to another object.
    fn meet(&mut self, position: u32, object: ObjectId, objects: &[ObjectInfo]) -> u32 {
        let info = &objects[object.index()];
        let state = match info.kind {
            ObjectKind::Atomic(_) | ObjectKind::Cell | ObjectKind::Thread(_) => NONE,
            ObjectKind::Mutex
            | ObjectKind::RwLock
            | ObjectKind::Condvar
            | ObjectKind::Barrier
            | ObjectKind::Once
            | ObjectKind::Parker(_)
            | ObjectKind::Channel
            | ObjectKind::Semaphore
            | ObjectKind::Notify => {
                self.states.push(State { since: position, object: Object::from(info) });
                self.states.len() as u32 - 1
            }
        };
        self.objects[object.index()].state = state;
        state
    }

    /// Returns the state of the waiters of a variable before its first operation on them.
    #[cold]
    fn meet_waiters(&mut self, position: u32, object: ObjectId) -> u32 {
        self.states.push(State { since: position, object: Object::Futex(Futex::default()) });
        let state = self.states.len() as u32 - 1;
        self.objects[object.index()].state = state;
        state
    }

    /// Records the state after an event that changes its object.
    fn change(&mut self, position: u32, found: u32, event: &Event) {
        let mut object = self.states[found as usize].object.clone();
        object.apply(event.op, event.id.thread);
        self.objects[event.op.object().index()].state = self.states.len() as u32;
        self.states.push(State { since: position, object });
    }

    /// Joins the clocks of the events on an object that conflict with this access into the row at `row`.
    fn join_object(&mut self, row: usize, on_object: u32, access: Access) {
        let (earlier, mine) = self.clocks.split_at_mut(row);
        for position in conflicting(&self.steps, on_object, access) {
            let theirs = &earlier[position * self.width..][..self.width];
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine = most(*mine, *theirs);
            }
        }
    }

    /// Returns a hash of the event at `position` with all that happened before it.
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
            // Independent of their order.
            let others = conflicting(&self.steps, step.on_object, footprint.access)
                .map(|other| self.histories[other])
                .fold(0, u64::wrapping_add);
            self.histories.push(mix(history, others));
        }
        self.histories[position]
    }

    /// Returns a hash of all that happened before the thread of an event announced its operation. `None` if
    /// the thread did not get there.
    pub(crate) fn history_before(&mut self, event: EventId) -> Option<u64> {
        let thread = self.threads.get(event.thread.index())?;
        let position = match event.index.checked_sub(1) {
            Some(before) => *thread.events.get(before as usize)?,
            None if event.thread == ThreadId::MAIN => return Some(0),
            None => thread.spawn,
        };
        (position != NONE).then(|| self.history(position as usize))
    }

    /// Returns whether the operation of an event had been announced when the event at `position` was chosen.
    pub(crate) fn announced_before(&self, event: EventId, position: usize) -> bool {
        let thread = &self.threads[event.thread.index()];
        match event.index.checked_sub(1) {
            Some(before) => {
                thread.events.get(before as usize).is_some_and(|&p| (p as usize) < position)
            }
            None => event.thread == ThreadId::MAIN || (thread.spawn as usize) < position,
        }
    }

    /// Returns the operation of an event, which may be pending at the end of `trace`.
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

    /// Returns the id of the next event of `thread` before the event at `position`.
    pub(crate) fn next_event(&self, thread: ThreadId, position: usize) -> EventId {
        let events = &self.threads[thread.index()].events;
        let index = events.partition_point(|&event| (event as usize) < position);
        EventId { thread, index: index as u32 }
    }

    /// Returns whether the event at `first` happened before the event at `second`, or is that event.
    fn precedes(&self, first: usize, second: usize) -> bool {
        let EventId { thread, index } = self.steps[first].planned.event;
        let (lane, place) = (thread.index() / LANE, thread.index() % LANE);
        self.clocks[second * self.width + lane][place] > index
    }

    /// Makes room for the threads, objects and events of a run.
    fn make_room(&mut self, trace: &Trace) {
        let threads = trace.threads.iter().map(|thread| thread.id.index() + 1).max().unwrap_or(1);
        if self.threads.len() < threads {
            self.threads.resize(threads, OfThread { spawn: NONE, events: Vec::new() });
            self.widen(threads.div_ceil(LANE));
        }
        if self.objects.len() < trace.objects.len() {
            self.objects.resize(trace.objects.len(), OfObject { last: NONE, state: NONE });
        }
        let lanes = trace.events.len() * self.width;
        if self.clocks.len() < lanes {
            self.clocks.resize(lanes, [0; LANE]);
        }
    }

    /// Makes all rows longer.
    fn widen(&mut self, width: usize) {
        if self.width < width {
            let mut clocks = vec![[0; LANE]; self.steps.len() * width];
            for (new, old) in
                clocks.chunks_exact_mut(width).zip(self.clocks.chunks(self.width.max(1)))
            {
                new[..self.width].copy_from_slice(old);
            }
            (self.clocks, self.width) = (clocks, width);
        }
    }
}

/// Returns the larger number of each lane.
fn most(a: Lane, b: Lane) -> Lane {
    std::array::from_fn(|thread| a[thread].max(b[thread]))
}

/// Returns the last events on an object, from the one at `last` back, that conflict with this access after
/// them. All other conflicting events happened before one of these.
fn conflicting(steps: &[Step], last: u32, access: Access) -> impl Iterator<Item = usize> {
    let step = |position: u32| steps.get(position as usize).map(|step| (position as usize, step));
    let access_of = |step: &Step| step.planned.footprint.access;
    // The last event that conflicts, and all before it with the same access and no other between.
    let mut first = step(last);
    while let Some((_, here)) = first.filter(|(_, here)| !access.conflicts(access_of(here))) {
        first = step(here.on_object);
    }
    let before = move |&(_, after): &(usize, &Step)| {
        step(after.on_object).filter(|(_, here)| !access_of(here).conflicts(access_of(after)))
    };
    std::iter::successors(first, before).map(|(position, _)| position)
}

/// Returns the number of values that an event could choose, and the value it took. `None` if it is no choice.
pub(crate) fn chosen(event: &Event) -> Option<(u32, u32)> {
    match event.effect {
        Effect::Value(value) if event.op.object() == ObjectId::NONE => match event.op.action() {
            Action::Choose { bound, .. } => Some((bound, value as u32)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the thread that an event started.
fn spawned(event: &Event) -> Option<ThreadId> {
    match event.effect {
        Effect::Value(child) if event.op.is_thread() && event.op.thread() == ThreadOp::Spawn => {
            Some(ThreadId(child as u32))
        }
        _ => None,
    }
}
