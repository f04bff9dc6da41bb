//! The races of a run, and the sequences that reverse them.

use raddle_core::dependence::conflict;
use raddle_core::{
    Access, Action, CellOp, Effect, Event, EventId, Footprint, Op, RwLockOp, ThreadId, ThreadOp,
    Trace,
};
use raddle_engine::Object;

use super::{LANE, NONE, OfThread, Past, Planned};

/// Two events that could have happened in the other order.
#[derive(Copy, Clone, Debug)]
struct Race {
    /// The position of the first.
    first: u32,
    /// The position of the second; `NONE` if it is pending.
    by: u32,
    /// The footprint of the second in the place of the first.
    access: Access,
    /// The length of the part of the run that its reversal used when it was last returned; `NONE` if never.
    seen: u32,
    /// The index in [`Races::readers`] of the events that have to come after the second, if there are others
    /// than the first; else `NONE`.
    readers: u32,
}

/// Races, in the order of their second events.
#[derive(Clone, Debug, Default)]
pub(super) struct Races {
    all: Vec<Race>,
    /// Positions, ascending: the first event of a race, and the acquisitions of readers that cannot leave
    /// before it.
    readers: Vec<Vec<u32>>,
}

impl Races {
    /// Drops the races whose second event is at `length` or later.
    pub(super) fn truncate(&mut self, length: usize) {
        while self.all.last().is_some_and(|race| race.by as usize >= length) {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(readers) = self.all.pop().map(|race| race.readers).filter(|&it| it != NONE) {
            self.readers.truncate(readers as usize);
        }
    }

    /// Returns the events that have to come after the second event of a race, by their positions.
    fn delayed<'a>(&'a self, race: &'a Race) -> &'a [u32] {
        match self.readers.get(race.readers as usize) {
            Some(readers) => readers,
            None => std::slice::from_ref(&race.first),
        }
    }
}

/// The predecessors of an operation.
#[derive(Copy, Clone)]
pub(super) struct Before {
    pub(super) on_object: u32,
    pub(super) in_thread: u32,
}

impl Past {
    /// Adds the races of `op` by `by`: the conflicting events that did not happen before the thread's last
    /// event, and in whose place the operation would have been enabled; without those that happened before
    /// another of them. `before` is the event before it on its object and in its thread, `position` its own.
    ///
    /// Operations that block differ from others here. A lock that follows an unlock could not have been in
    /// its place, only in that of the lock before; and a lock that was never performed, because the run ended
    /// in a deadlock, could have been.
    ///
    /// Readers of a lock are independent, so that a writer in the place of one of them comes after those that
    /// can leave before it. Others have to come after the writer too.
    pub(super) fn rivals(
        &self,
        (op, by): (Op, ThreadId),
        before: Before,
        position: u32,
        trace: &Trace,
        found: &mut Races,
    ) {
        if is_join(op) {
            return;
        }
        let known = found.all.len();
        let mut on_object = before.on_object;
        while on_object != NONE {
            let first = on_object;
            let here = first as usize;
            let step = &self.steps[here];
            let footprint = step.planned.footprint;
            on_object = step.on_object;
            let mut others = found.all[known..].iter();
            if self.is_settled(here, before.in_thread)
                || others.any(|later| self.precedes(here, later.first as usize))
            {
                if footprint.access == Access::Update {
                    // Everything before it on this object happened before, too.
                    return;
                }
                continue;
            }
            let (access, readers) = if footprint.access == Access::Share {
                if op.access() == Access::Share {
                    continue;
                }
                let Some(place) = self.access_among_readers(here, (op, by), before, trace) else {
                    continue;
                };
                place
            } else {
                let Some(access) = self.access_at(here, op, by, trace) else { continue };
                (access, Vec::new())
            };
            if footprint.access.conflicts(access) {
                let mut race = Race { first, by: position, access, seen: NONE, readers: NONE };
                if !readers.is_empty() {
                    race.readers = found.readers.len() as u32;
                    found.readers.push(readers);
                }
                found.all.push(race);
            }
        }
    }

    /// Returns the access of `op` by `by` in the place of the reader at `position`, after all readers that do not
    /// depend on it. `None` if it would have been disabled.
    ///
    /// A writer is disabled by readers that have not left then. They are to come after it too, if they can, and
    /// are returned with the reader itself, unless there are none.
    fn access_among_readers(
        &self,
        position: usize,
        (op, by): (Op, ThreadId),
        before: Before,
        trace: &Trace,
    ) -> Option<(Access, Vec<u32>)> {
        // The readers since the last writer.
        let mut readers: Vec<u32> = Vec::new();
        let mut on_object = before.on_object;
        while on_object != NONE {
            let step = &self.steps[on_object as usize];
            match step.planned.footprint.access {
                Access::Share => readers.push(on_object),
                Access::Update if (on_object as usize) < position => break,
                Access::Update | Access::Read => {}
            }
            on_object = step.on_object;
        }
        readers.reverse();
        let found = self.steps[*readers.first()? as usize].found;
        let mut delayed = vec![position as u32];
        loop {
            let mut object = self.states[found as usize].object.clone();
            let mut present: Vec<u32> = Vec::new();
            for &at in &readers {
                if delayed.iter().any(|&first| self.precedes(first as usize, at as usize)) {
                    continue;
                }
                let event = &trace.events[at as usize];
                object.apply(event.op, event.id.thread);
                if event.op.rwlock() == RwLockOp::UnlockRead {
                    let same = |&at: &u32| trace.events[at as usize].id.thread == event.id.thread;
                    if let Some(left) = present.iter().rposition(same) {
                        present.remove(left);
                    }
                } else {
                    present.push(at);
                }
            }
            if !op.may_block() || object.enabled(op, by) {
                let access = op.access_with(object.apply(op, by));
                delayed.sort_unstable();
                return Some((access, if delayed.len() > 1 { delayed } else { Vec::new() }));
            }
            let can_wait = |&at: &u32| !self.is_settled(at as usize, before.in_thread);
            if present.is_empty() || !present.iter().all(can_wait) {
                return None;
            }
            delayed.extend(present);
        }
    }

    /// Returns the access of `op` by `by` in the place of the event at `position`, on the same object. `None`
    /// if it would have been disabled.
    fn access_at(&self, position: usize, op: Op, by: ThreadId, trace: &Trace) -> Option<Access> {
        let no_waiters = Object::Variable;
        let state = || match self.steps[position].found {
            NONE => &no_waiters,
            found => &self.states[found as usize].object,
        };
        if op.may_block() && !state().enabled(op, by) {
            return None;
        }
        // Computed only if it depends on the state.
        if op.access() == op.access_with(Effect::No) {
            return Some(op.access());
        }
        if op.is_atomic() {
            let effect = |value| op.access_with(op.apply_to_atomic(value).1);
            return Some(self.value_at(position, trace).map_or(op.access(), effect));
        }
        Some(op.access_with(state().clone().apply(op, by)))
    }

    /// Returns the value of the atomic variable before the event at `position`. Returns `None` if the trace does not
    /// tell, because the variable was accessed by other means than atomic operations.
    fn value_at(&self, position: usize, trace: &Trace) -> Option<u64> {
        let told = |event: &Event| match event.effect {
            Effect::Value(old) | Effect::Exchanged(old) | Effect::Kept(old) => Some(old),
            _ => None,
        };
        let event = &trace.events[position];
        if let (true, Some(value)) = (event.op.is_atomic(), told(event)) {
            return Some(value);
        }
        // A store does not record the value it replaces: an event before it left that value.
        let mut at = self.steps[position].on_object;
        while at != NONE {
            let before = &trace.events[at as usize];
            if before.op.is_atomic() {
                // If it is a store, the value it replaced does not matter.
                let old = told(before).unwrap_or(0);
                return Some(before.op.apply_to_atomic(old).0.unwrap_or(old));
            }
            if before.op.action() == Action::Cell(CellOp::Write) {
                return None;
            }
            at = self.steps[at as usize].on_object;
        }
        Some(trace.objects[event.op.object().index()].initial)
    }

    /// Calls `each` with every reversal of a race, also of a pending operation: the position, and the steps to
    /// run there. `shared` is the number of events that the run shares with the run before.
    ///
    /// A reversal that is the same as last time is skipped. It is the same if the part of the run that it used
    /// is shared, and all new events depend on the first event of the race. Planning it again would change
    /// nothing: its point is the same, and no other continuation of the point has begun since, so that its
    /// sleep set and its plans are the same. (A reversal that has grown must be planned again: the new steps
    /// may conflict with sleepers, or with the sequence that covered it.)
    pub(crate) fn reversals(
        &mut self,
        trace: &Trace,
        shared: usize,
        mut show: impl FnMut(&mut Past, usize, &mut Vec<Planned>),
    ) {
        self.find_fronts(shared);
        let mut sequence = std::mem::take(&mut self.sequence);
        let mut races = std::mem::take(&mut self.races);
        let performed = races.all.len();
        for index in 0..performed {
            let race = races.all[index];
            if race.seen as usize <= shared && self.is_known_to_fronts(race.first as usize) {
                continue;
            }
            let mut last = self.steps[race.by as usize].planned;
            last.footprint.access = race.access;
            let delayed = races.delayed(&race);
            let at = delayed[0] as usize;
            races.all[index].seen = self.reverse(delayed, last, &mut sequence);
            show(self, at, &mut sequence);
        }
        for pending in &trace.pending {
            let (op, thread) = (pending.op, pending.thread);
            let in_thread = self.threads.get(thread.index()).map_or(NONE, OfThread::last);
            let object = self.objects.get(op.object().index());
            let on_object = object.map_or(NONE, |object| object.last);
            let before = Before { on_object, in_thread };
            self.rivals((op, thread), before, NONE, trace, &mut races);
            for index in performed..races.all.len() {
                let race = races.all[index];
                let footprint = Footprint { thread, object: op.object(), access: race.access };
                let last = Planned { event: self.next_id(thread), footprint, value: None };
                let delayed = races.delayed(&race);
                let at = delayed[0] as usize;
                self.reverse(delayed, last, &mut sequence);
                show(self, at, &mut sequence);
            }
            while races.all.len() > performed {
                races.pop();
            }
        }
        (self.races, self.sequence) = (races, sequence);
    }

    /// Returns an estimate of the number of continuations of each point: the event that followed, and every
    /// thread that could have performed a conflicting operation in its place.
    pub(crate) fn likely_ways(&self, trace: &Trace) -> Vec<u32> {
        let mut ways = vec![1; self.steps.len()];
        // The next operation of each thread, going back from the end.
        let mut next = vec![None; self.threads.len()];
        for pending in &trace.pending {
            if let Some(next) = next.get_mut(pending.thread.index()) {
                *next = Some(pending.op);
            }
        }
        let mut spawns = self.spawns.iter().rev().peekable();
        for (position, step) in self.steps.iter().enumerate().rev() {
            let footprint = step.planned.footprint;
            if let Some((_, child)) = spawns.next_if(|spawn| spawn.0 as usize == position) {
                next[child.index()] = None;
            }
            next[footprint.thread.index()] = None;
            let could_have = |(thread, op): (usize, &Option<Op>)| {
                let Some(op) = op.filter(|op| op.object() == footprint.object && !is_join(*op))
                else {
                    return false;
                };
                let access = self.access_at(position, op, ThreadId(thread as u32), trace);
                let other = (op.object(), footprint.access);
                access.is_some_and(|access| conflict((op.object(), access), other))
            };
            ways[position] += next.iter().enumerate().filter(|&it| could_have(it)).count() as u32;
            next[footprint.thread.index()] = Some(trace.events[position].op);
        }
        ways
    }

    /// Collects the steps to run in the place of the first of the events at `delayed`: all later events that
    /// do not depend on these, then `last`. Returns the length of the part of the run that they use.
    fn reverse(&self, delayed: &[u32], last: Planned, sequence: &mut Vec<Planned>) -> u32 {
        sequence.clear();
        let [at, readers @ ..] = delayed else { return 0 };
        let at = *at as usize;
        let mut end = at;
        let EventId { thread, index } = self.steps[at].planned.event;
        let (lane, place) = (thread.index() / LANE, thread.index() % LANE);
        let later = at + 1..self.len();
        for position in later {
            if self.clocks[position * self.width + lane][place] <= index
                && !readers.iter().any(|&reader| self.precedes(reader as usize, position))
            {
                sequence.push(self.steps[position].planned);
                end = position;
            }
        }
        sequence.push(last);
        end as u32 + 1
    }

    /// Computes the minimum clocks of the new events. Each thread's first new event has the smallest clock.
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

    /// Returns whether all new events happened after the event at `position`.
    fn is_known_to_fronts(&self, position: usize) -> bool {
        let EventId { thread, index } = self.steps[position].planned.event;
        self.fronts[thread.index() / LANE][thread.index() % LANE] > index
    }

    /// Returns whether the event at `position` happened before the event at `in_thread`, or is that event.
    pub(super) fn is_settled(&self, position: usize, in_thread: u32) -> bool {
        in_thread != NONE && self.precedes(position, in_thread as usize)
    }

    /// Returns the id of the next event of `thread`.
    fn next_id(&self, thread: ThreadId) -> EventId {
        let events = self.threads.get(thread.index()).map_or(0, |thread| thread.events.len());
        EventId { thread, index: events as u32 }
    }
}

/// Returns whether this waits for the end of a thread, which is possible after the end, never in its place.
pub(super) fn is_join(op: Op) -> bool {
    op.is_thread() && op.thread() == ThreadOp::Join
}
