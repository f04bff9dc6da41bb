//! The races of a run, and the sequences that reverse them.

use raddle_core::dependence::conflict;
use raddle_core::{Access, Effect, Event, EventId, Footprint, Op, ThreadId, ThreadOp, Trace};

use super::{LANE, NONE, OfThread, Past, Planned};

/// Two events that could have happened in the other order.
#[derive(Copy, Clone, Debug)]
pub(super) struct Race {
    /// The position of the first.
    at: u32,
    /// The position of the second; `NONE` if it is pending.
    pub(super) by: u32,
    /// The footprint of the second in the place of the first.
    access: Access,
    /// The length of the part of the run that its reversal used when it was last returned; `NONE` if never.
    seen: u32,
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
                    // Everything before it on this object happened before, too.
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

    /// Returns the access of `op` by `by` in the place of the event at `position`, on the same object. `None`
    /// if it would have been disabled.
    fn access_at(&self, position: usize, op: Op, by: ThreadId, trace: &Trace) -> Option<Access> {
        let state = || &self.states[self.steps[position].found as usize].object;
        if op.may_block() && !state().enabled(op, by) {
            return None;
        }
        // Computed only if it depends on the state.
        if op.access() == op.access_with(Effect::No) {
            return Some(op.access());
        }
        Some(op.access_with(if op.is_atomic() {
            op.apply_to_atomic(self.value_at(position, trace)).1
        } else {
            state().clone().apply(op, by)
        }))
    }

    /// Returns the value of the atomic variable before the event at `position`.
    fn value_at(&self, position: usize, trace: &Trace) -> u64 {
        let told = |event: &Event| match event.effect {
            Effect::Value(old) | Effect::Exchanged(old) | Effect::Kept(old) => Some(old),
            _ => None,
        };
        let event = &trace.events[position];
        told(event).unwrap_or_else(|| {
            // A store does not record the value it replaces: the event before it left that value. If that is a
            // store, too, the value it replaced does not matter.
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

    /// Collects the steps to run in the place of the event at `at`: all later events that do not depend on it,
    /// then `last`. Returns the length of the part of the run that they use.
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
