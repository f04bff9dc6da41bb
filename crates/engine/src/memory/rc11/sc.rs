//! The partial order psc of RC11 on sequentially consistent events, kept acyclic while the graph grows.
//!
//! With scb = sb ∪ sb≠loc;hb;sb≠loc ∪ hb|loc ∪ mo ∪ rb,
//!
//! `psc = ([SC] ∪ [Fsc];hb?);scb;([SC] ∪ hb?;[Fsc]) ∪ [Fsc];(hb ∪ hb;eco;hb);[Fsc]`.
//!
//! Events are added in an order that contains sb and rf. The edges out of a new event therefore begin with mo or rb,
//! and lead to stores after it in modification order. All other edges lead into it. Only a load of an old store, or a
//! store inserted before others, can close a cycle. New edges between older events go through the new one: from
//! fences that happen before it to the successors of those stores ([`Targets`]).
//!
//! Since sb is part of psc, a clock that counts the sequentially consistent events of each thread represents the
//! predecessors of an event (`ScEvent::predecessors`). It is kept transitively closed. A read-modify-write is one
//! event: its write part has all edges of its read part, except for the edge between them.

use alloc::vec::Vec;

use raddle_core::{EventId, ThreadId};

use super::location::{Location, ScRecord, Store};
use crate::causality::Clock;

/// The location of an event, for sb≠loc.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Loc {
    /// An atomic variable.
    Variable(usize),
    /// No location, or another object. Different from every location, itself included.
    Other,
}

/// The sequentially consistent events of a run and their order.
#[derive(Clone, Debug, Default)]
pub struct ScOrder {
    /// By thread.
    threads: Vec<ThreadEvents>,
    /// Whether there has been a sequentially consistent event.
    is_active: bool,
    /// Whether there has been a sequentially consistent fence.
    has_fences: bool,
}

#[derive(Clone, Debug, Default)]
struct ThreadEvents {
    /// The sequentially consistent events of the thread.
    events: Vec<ScEvent>,
    /// The positions of fences in `events`.
    fences: Vec<usize>,
    /// The location of the thread's last event.
    last: Option<Loc>,
    /// What happens before the thread's last event.
    last_clock: Clock,
    /// What happens before the thread's last event at another location than `last`.
    last_clock_elsewhere: Clock,
}

#[derive(Clone, Debug)]
struct ScEvent {
    /// The position among the events of the thread.
    index: u32,
    loc: Loc,
    /// The first later event of the thread at another location.
    first_elsewhere: Option<u32>,
    /// The predecessors in psc: for each thread, the number of its sequentially consistent events.
    predecessors: Clock,
    /// What happens before the event, itself included, if it is a fence. Otherwise empty.
    clock: Clock,
}

/// The successors in psc of an event placed before newer stores: for each thread, the first of its sequentially
/// consistent events, counted from one.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// The successors of the event itself, by [SC];scb.
    base: Vec<(ThreadId, u32)>,
    /// The successors of fences that happen before the event, which also follow eco.
    fence: Vec<(ThreadId, u32)>,
}

/// An access that is about to be performed.
#[derive(Copy, Clone, Debug)]
pub struct Access<'a> {
    /// The thread.
    pub thread: ThreadId,
    /// The number of the variable.
    pub variable: usize,
    /// The variable.
    pub location: &'a Location,
    /// The position of the store that the access reads or comes right after.
    pub position: usize,
    /// Whether the access writes.
    pub writes: bool,
    /// Whether the access is sequentially consistent.
    pub is_sc: bool,
    /// What happens before the access in its thread.
    pub before: &'a Clock,
    /// What happens before the access, including what it acquires.
    pub after: &'a Clock,
}

impl Targets {
    /// Adds the successors by a store after the event in modification order.
    pub fn add(&mut self, order: &ScOrder, store: &Store) {
        if store.sc_record().sc > 0 {
            lower(&mut self.base, store.id.thread, store.sc_record().sc);
            lower(&mut self.fence, store.id.thread, store.sc_record().sc);
        }
        for (thread, count) in order.first_fences_after(store.id) {
            lower(&mut self.base, thread, count);
            lower(&mut self.fence, thread, count);
        }
        for reader in store.readers() {
            for (thread, count) in order.first_fences_after(reader) {
                lower(&mut self.fence, thread, count);
            }
        }
    }
}

/// Lowers the target in `thread` to `count`.
fn lower(targets: &mut Vec<(ThreadId, u32)>, thread: ThreadId, count: u32) {
    match targets.iter_mut().find(|target| target.0 == thread) {
        Some(target) => target.1 = target.1.min(count),
        None => targets.push((thread, count)),
    }
}

impl ScOrder {
    /// Resets the order for a new run.
    pub fn reset(&mut self) {
        self.threads.clear();
        self.is_active = false;
        self.has_fences = false;
    }

    /// Returns whether there has been a sequentially consistent event.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Returns whether psc stays acyclic if an access with these `targets` is performed.
    pub fn allows(&self, access: &Access<'_>, targets: &Targets) -> bool {
        let contains = |predecessors: &Clock, targets: &[(ThreadId, u32)]| {
            targets.iter().any(|&(thread, count)| predecessors.of(thread) >= count)
        };
        if self.has_fences
            && contains(&self.closure(&self.fences_before(access.after)), &targets.fence)
        {
            return false;
        }
        !access.is_sc
            || targets.base.is_empty()
            || !contains(&self.predecessors_of(access), &targets.base)
    }

    /// Adds an access that [`allows`](ScOrder::allows) has accepted, the event `index` of its thread. Returns its number
    /// among the sequentially consistent events of its thread, counted from one, or zero if it is none.
    pub fn access(&mut self, access: &Access<'_>, index: u32, targets: &Targets) -> u32 {
        if !targets.fence.is_empty() {
            let fences = self.closure(&self.fences_before(access.after));
            for &(thread, count) in &targets.fence {
                self.add_edges(&fences, thread, count);
            }
        }
        let loc = Loc::Variable(access.variable);
        let mut sc = 0;
        if access.is_sc {
            let predecessors = self.predecessors_of(access);
            let closed = (!targets.base.is_empty()).then(|| predecessors.clone());
            sc = self.push_sc_event(access.thread, index, loc, predecessors, Clock::EMPTY);
            if let Some(mut predecessors) = closed {
                predecessors.raise(access.thread, sc);
                for &(thread, count) in &targets.base {
                    self.add_edges(&predecessors, thread, count);
                }
            }
        }
        self.add_event(access.thread, index, loc, access.after);
        sc
    }

    /// Adds a sequentially consistent fence with the clock `clock`.
    pub fn fence(&mut self, thread: ThreadId, index: u32, clock: &Clock, locations: &[Location]) {
        let mut direct = self.fences_before(clock);
        self.add_own_events(thread, &mut direct);
        let last_fence =
            self.thread(thread).and_then(ThreadEvents::last_fence).map(|fence| &fence.clock);
        for (other, steps) in clock.iter() {
            let Some(state) = self.thread(other) else { continue };
            // By sb;hb.
            let earlier = state.events.partition_point(|event| event.index + 1 < steps);
            direct.raise(other, earlier as u32);
            // The last event that happens before the fence, by hb|loc;hb.
            if let Some(event) = state.events.get(earlier).filter(|event| event.index + 1 == steps)
            {
                let id = EventId { thread: other, index: event.index };
                let is_predecessor = match event.loc {
                    Loc::Other => true,
                    Loc::Variable(variable) => {
                        locations[variable].stores.iter().any(|store| store.is_between(id, clock))
                    }
                };
                if is_predecessor {
                    direct.raise(other, earlier as u32 + 1);
                }
            }
        }
        for location in locations {
            self.add_predecessors_of_fence(&mut direct, clock, location, last_fence);
        }
        let predecessors = self.closure(&direct);
        self.push_sc_event(thread, index, Loc::Other, predecessors, clock.clone());
        self.add_event(thread, index, Loc::Other, clock);
    }

    /// Updates the locations and clocks of `thread` by its event `index`.
    #[inline]
    pub fn add_event(&mut self, thread: ThreadId, index: u32, loc: Loc, clock: &Clock) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadEvents::default);
        }
        let state = &mut self.threads[thread.index()];
        let has_moved = loc == Loc::Other || state.last != Some(loc);
        if has_moved {
            for event in state.events.iter_mut().rev() {
                if event.first_elsewhere.is_some() {
                    break;
                }
                if event.index < index {
                    event.first_elsewhere = Some(index);
                }
            }
        }
        if self.is_active {
            if has_moved {
                core::mem::swap(&mut state.last_clock, &mut state.last_clock_elsewhere);
            }
            state.last_clock.copy_from(clock);
        }
        state.last = Some(loc);
    }

    fn thread(&self, thread: ThreadId) -> Option<&ThreadEvents> {
        self.threads.get(thread.index())
    }

    /// Returns the predecessors of an access in psc, transitively closed.
    fn predecessors_of(&self, access: &Access<'_>) -> Clock {
        let Access { thread, location, before, after, .. } = *access;
        let mut is_closed = false;
        // By sb, also after a fence.
        let mut direct = self.fences_before(before);
        if let Some(last) = self.threads.len().checked_sub(1) {
            // Makes room for all threads at once.
            direct.raise(ThreadId(last as u32), 0);
        }
        self.add_own_events(thread, &mut direct);
        // By sb≠loc;hb;sb≠loc.
        if let Some(state) = self.thread(thread) {
            let elsewhere = if state.last == Some(Loc::Variable(access.variable)) {
                &state.last_clock_elsewhere
            } else {
                &state.last_clock
            };
            for (other, steps) in elsewhere.iter().filter(|&(other, _)| other != thread) {
                let Some(state) = self.thread(other) else { continue };
                let is_followed = |event: &ScEvent| {
                    event.first_elsewhere.is_some_and(|first_elsewhere| first_elsewhere < steps)
                };
                // `first_elsewhere` ascends with the events.
                direct.raise(other, state.events.partition_point(is_followed) as u32);
            }
        }
        // By hb|loc.
        let is_incomplete = |direct: &Clock| {
            after.iter().any(|(other, steps)| {
                let Some(state) = self.thread(other) else { return false };
                // Indices ascend with the events.
                let next = state.events.get(direct.of(other) as usize);
                other != thread && next.is_some_and(|event| event.index < steps)
            })
        };
        for store in location.stores.iter().rev() {
            if !is_incomplete(&direct) {
                break;
            }
            if after.contains(store.id) {
                self.add_predecessor(&mut direct, store.id.thread, store.sc_record());
            }
            for (reader, reads) in store.reads_by_thread() {
                let before = reads.partition_point(|record| record.index < after.of(reader));
                if let Some(last) = before.checked_sub(1) {
                    self.add_predecessor(&mut direct, reader, &reads[last]);
                }
            }
            // The closure adds most of the missing predecessors, so that the loop ends early.
            direct = self.closure(&direct);
            is_closed = true;
        }
        // By mo and rb. The closure adds the predecessors of a sequentially consistent store.
        if access.writes {
            for store in location.stores[..=access.position].iter().rev() {
                is_closed &= !self.add_predecessor(&mut direct, store.id.thread, store.sc_record());
                for (reader, reads) in store.reads_by_thread() {
                    if let Some(last) = reads.last() {
                        is_closed &= !self.add_predecessor(&mut direct, reader, last);
                    }
                }
                if store.sc_record().sc > 0 {
                    break;
                }
            }
        }
        if is_closed { direct } else { self.closure(&direct) }
    }

    /// Adds to `direct` the predecessors of a fence with the clock `clock` through the stores of a variable.
    /// `last_fence` is the clock of the thread's last such fence, whose predecessors the closure adds.
    fn add_predecessors_of_fence(
        &self,
        direct: &mut Clock,
        clock: &Clock,
        location: &Location,
        last_fence: Option<&Clock>,
    ) {
        let contained = location.newest_contained(clock);
        for store in location.stores[..contained].iter().rev() {
            self.add_predecessor(direct, store.id.thread, store.sc_record());
            for (reader, reads) in store.reads_by_thread() {
                if let Some(last) = reads.last() {
                    self.add_predecessor(direct, reader, last);
                }
            }
            if store.sc_record().sc > 0 || last_fence.is_some_and(|last| last.contains(store.id)) {
                break;
            }
        }
        // By eco;hb, from fences only: also stores that have been read before the fence.
        let observed = location.oldest_source(clock);
        for (position, store) in location.stores[..=observed].iter().enumerate().skip(contained) {
            direct.join(&self.fences_before(&store.sc_record().clock));
            if position < observed {
                for last in store.reads_by_thread().filter_map(|(_, reads)| reads.last()) {
                    direct.join(&self.fences_before(&last.clock));
                }
            }
        }
    }

    /// Adds an access, from which an scb edge starts, and the fences before it. Returns whether there may be something new.
    fn add_predecessor(&self, direct: &mut Clock, thread: ThreadId, record: &ScRecord) -> bool {
        let is_new = record.sc > direct.of(thread);
        if is_new {
            direct.raise(thread, record.sc);
        }
        if self.has_fences {
            direct.join(&self.fences_before(&record.clock));
        }
        is_new || self.has_fences
    }

    /// Adds all sequentially consistent events of `thread`.
    fn add_own_events(&self, thread: ThreadId, direct: &mut Clock) {
        let own = self.thread(thread).map_or(0, |state| state.events.len());
        direct.raise(thread, own as u32);
    }

    /// Returns for each thread its last fence that `clock` contains.
    fn fences_before(&self, clock: &Clock) -> Clock {
        let mut last = Clock::default();
        if !self.has_fences {
            return last;
        }
        for (thread, steps) in clock.iter() {
            let Some(state) = self.thread(thread) else { continue };
            let before = state.fences.partition_point(|&at| state.events[at].index < steps);
            if let Some(before) = before.checked_sub(1) {
                last.raise(thread, state.fences[before] as u32 + 1);
            }
        }
        last
    }

    /// Returns for each thread its first fence that `event` happens before.
    fn first_fences_after(&self, event: EventId) -> impl Iterator<Item = (ThreadId, u32)> + '_ {
        self.threads.iter().enumerate().filter_map(move |(thread, state)| {
            let first = state.fences.partition_point(|&at| !state.events[at].clock.contains(event));
            let at = *state.fences.get(first)?;
            Some((ThreadId(thread as u32), at as u32 + 1))
        })
    }

    /// Returns `direct` and the predecessors of its events.
    fn closure(&self, direct: &Clock) -> Clock {
        let mut all = direct.clone();
        for (thread, count) in direct.iter() {
            if let Some(state) = self.thread(thread) {
                all.join(&state.events[count as usize - 1].predecessors);
            }
        }
        all
    }

    /// Makes all of `predecessors`, which is closed, predecessors of the event number `count` of `thread`.
    fn add_edges(&mut self, predecessors: &Clock, thread: ThreadId, count: u32) {
        let event = &self.threads[thread.index()].events[count as usize - 1];
        if predecessors.iter().all(|(other, steps)| event.predecessors.of(other) >= steps) {
            return;
        }
        for (other, state) in self.threads.iter_mut().enumerate() {
            for (at, event) in state.events.iter_mut().enumerate() {
                let is_target = other == thread.index() && at + 1 == count as usize;
                if is_target || event.predecessors.of(thread) >= count {
                    event.predecessors.join(predecessors);
                }
            }
        }
    }

    /// Adds a sequentially consistent event, and returns its number in its thread, counted from one.
    fn push_sc_event(
        &mut self,
        thread: ThreadId,
        index: u32,
        loc: Loc,
        predecessors: Clock,
        clock: Clock,
    ) -> u32 {
        self.is_active = true;
        self.has_fences |= loc == Loc::Other;
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, ThreadEvents::default);
        }
        let state = &mut self.threads[thread.index()];
        if loc == Loc::Other {
            state.fences.push(state.events.len());
        }
        state.events.push(ScEvent { index, loc, first_elsewhere: None, predecessors, clock });
        state.events.len() as u32
    }
}

impl ThreadEvents {
    fn last_fence(&self) -> Option<&ScEvent> {
        self.fences.last().map(|&at| &self.events[at])
    }
}

impl Store {
    /// Returns the records of the reads of this store by each thread.
    fn reads_by_thread(&self) -> impl Iterator<Item = (ThreadId, &Vec<ScRecord>)> {
        self.sc_reads().iter().enumerate().map(|(thread, reads)| (ThreadId(thread as u32), reads))
    }

    /// Returns whether `event`, another access to the variable, happens before this store or a read of it that `clock`
    /// contains.
    fn is_between(&self, event: EventId, clock: &Clock) -> bool {
        let between =
            |id: EventId, at: &Clock| id != event && at.contains(event) && clock.contains(id);
        between(self.id, &self.sc_record().clock)
            || self.reads_by_thread().any(|(thread, reads)| {
                reads
                    .iter()
                    .any(|record| between(EventId { thread, index: record.index }, &record.clock))
            })
    }
}
