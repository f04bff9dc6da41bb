//! Which events of a run could have come the other way round, and what is to be run for that.

use raddle_core::dependence::conflict;
use raddle_core::{Access, Effect, Event, EventId, Footprint, Op, ThreadId, ThreadOp, Trace};

use super::{LANE, NONE, OfThread, Past, Planned};

/// Two events that could have come the other way round.
#[derive(Copy, Clone, Debug)]
pub(super) struct Race {
    /// The position of the first.
    at: u32,
    /// The position of the second; `NONE` if it has not happened.
    pub(super) by: u32,
    /// What the second would do in the place of the first.
    access: Access,
    /// How much of the run its reversal was made of when it was last shown; `NONE` if it never was.
    seen: u32,
}

/// What an operation comes after.
#[derive(Copy, Clone)]
pub(super) struct Before {
    pub(super) on_object: u32,
    pub(super) in_thread: u32,
}

impl Past {
    /// Finds the events in whose place `by` could have performed `op`, with another result: the
    /// events that conflict with it, that nothing it did before depends on, and that found the object
    /// in a state in which it could be performed; none that happened before another of them.
    /// `before`: the event before it on its object and in its thread; `position`: its own.
    ///
    /// This is where operations that block differ from others. A lock that came after an unlock
    /// could not have come in its place, only in that of the lock before; and one that was never
    /// performed, because the run ended in a deadlock, could have been.
    pub(super) fn rivals(
        &self,
        (op, by): (Op, ThreadId),
        before: Before,
        position: u32,
        trace: &Trace,
        found: &mut Vec<Race>,
    ) {
        if is_join(op) {
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
            if self.is_settled(here, before.in_thread)
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
        let state = || &self.states[self.steps[position].found as usize].object;
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
    /// One that is the same as when it was last shown is not shown again. It is, if all that it was
    /// made of is shared, and all that is new depends on the first event of the race. It would make
    /// no difference, because its point is the same too, and no other way on from there has been
    /// begun since: what slept there then still does, and what was planned there still is. (One that
    /// has grown must be shown, even if it was planned: what it has grown by may conflict with what
    /// slept, or with what stood for it among the plans.)
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

    /// What is to happen in the place of the event at `at`: all that came after it, up to the end of
    /// the run, and does not depend on it; then `last`. Returns how much of the run that is made of.
    fn reverse(&self, at: usize, last: Planned, sequence: &mut Vec<Planned>) -> u32 {
        sequence.clear();
        let mut end = at;
        let EventId { thread, index } = self.steps[at].planned.event;
        let (lane, place) = (thread.index() / LANE, thread.index() % LANE);
        let later = at + 1..self.len();
        for position in later {
            if self.clocks[position * self.width + lane][place] <= index {
                sequence.push(self.steps[position].planned);
                end = position;
            }
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

    /// Whether the event at `position` happened before the event at `in_thread`, or is that.
    pub(super) fn is_settled(&self, position: usize, in_thread: u32) -> bool {
        in_thread != NONE && self.precedes(position, in_thread as usize)
    }

    /// The name of the event that `thread` has not performed yet.
    fn next_id(&self, thread: ThreadId) -> EventId {
        let events = self.threads.get(thread.index()).map_or(0, |thread| thread.events.len());
        EventId { thread, index: events as u32 }
    }
}

/// Whether this waits for the end of a thread. That is possible after the end, never in its place.
pub(super) fn is_join(op: Op) -> bool {
    op.is_thread() && op.thread() == ThreadOp::Join
}
