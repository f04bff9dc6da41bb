//! The order of sequentially consistent events: psc of RC11, kept acyclic while the graph grows.
//!
//! With scb = sb ∪ sb≠loc;hb;sb≠loc ∪ hb|loc ∪ mo ∪ rb,
//!
//! `psc = ([SC] ∪ [Fsc];hb?);scb;([SC] ∪ hb?;[Fsc]) ∪ [Fsc];(hb ∪ hb;eco;hb);[Fsc]`.
//!
//! Events are added in an order that contains sb and rf. A new event then has no successors but the
//! stores that come after it in modification order: edges out of it begin with mo or rb. Everything
//! else leads into it. So there is something to be checked only if a load reads an old store or a store
//! is put before others, and the only new edges between older events go *through* the new one, from
//! fences that it comes after to what those stores lead to ([`Targets`]).
//!
//! Since sb is part of psc, what leads to an event is told by a clock that counts sequentially consistent
//! events of each thread (`ScEvent::known`); it is kept transitively closed. A read-modify-write is one
//! event here: its write part has all edges that its read part has, but for the one between them.

use alloc::vec::Vec;

use raddle_core::{EventId, ThreadId};

use super::location::{Location, Store, Trail};
use crate::causality::Clock;

/// Where an event takes place, as far as sb≠loc can tell.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Where {
    /// At a variable.
    Variable(usize),
    /// At no variable, or at an object.
    Elsewhere,
}

/// The sequentially consistent events of a run and their order.
#[derive(Clone, Debug, Default)]
pub struct ScOrder {
    /// By thread.
    threads: Vec<OfThread>,
    is_active: bool,
}

#[derive(Clone, Debug, Default)]
struct OfThread {
    events: Vec<ScEvent>,
    /// Which of `events` are fences.
    fences: Vec<usize>,
    /// Where its last event took place.
    last: Option<Where>,
    /// What its last event comes after.
    at_last: Clock,
    /// What its last event at another place than `last` comes after.
    at_last_elsewhere: Clock,
}

#[derive(Clone, Debug)]
struct ScEvent {
    index: u32,
    place: Where,
    /// The first later event of its thread at another place.
    left: Option<u32>,
    /// How many sequentially consistent events of each thread lead to it.
    known: Clock,
    /// What it comes after, itself included.
    clock: Clock,
}

/// Whom an event that is put before newer stores would lead to: for each thread the first of its
/// sequentially consistent events, counted from one.
#[derive(Clone, Debug, Default)]
pub struct Targets {
    /// By [SC];scb or a fence before it.
    base: Vec<(ThreadId, u32)>,
    /// By a fence before it, through eco too.
    fence: Vec<(ThreadId, u32)>,
}

/// An access that is about to happen.
#[derive(Copy, Clone, Debug)]
pub struct Access<'a> {
    /// Who.
    pub thread: ThreadId,
    /// The number of the variable.
    pub variable: usize,
    /// The variable.
    pub location: &'a Location,
    /// The store that it reads or is put behind.
    pub position: usize,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is sequentially consistent.
    pub is_sc: bool,
    /// What its thread comes after before it.
    pub before: &'a Clock,
    /// What it comes after, having read.
    pub after: &'a Clock,
}

impl Targets {
    /// Takes in a store that would come after the event.
    pub fn add(&mut self, order: &ScOrder, store: &Store) {
        if store.trail().sc > 0 {
            lower(&mut self.base, store.id.thread, store.trail().sc);
            lower(&mut self.fence, store.id.thread, store.trail().sc);
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

fn lower(targets: &mut Vec<(ThreadId, u32)>, thread: ThreadId, count: u32) {
    match targets.iter_mut().find(|target| target.0 == thread) {
        Some(target) => target.1 = target.1.min(count),
        None => targets.push((thread, count)),
    }
}

impl ScOrder {
    /// Forgets everything; a new run begins.
    pub fn reset(&mut self) {
        self.threads.clear();
        self.is_active = false;
    }

    /// Whether there has been a sequentially consistent event.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.is_active
    }

    /// Whether an access that leads to `targets` keeps the order acyclic.
    pub fn allows(&self, access: &Access<'_>, targets: &Targets) -> bool {
        let leads_to = |known: &Clock, targets: &[(ThreadId, u32)]| {
            targets.iter().any(|&(thread, count)| known.of(thread) >= count)
        };
        if leads_to(&self.closure(&self.fences_before(access.after)), &targets.fence) {
            return false;
        }
        !access.is_sc || !leads_to(&self.known_to(access), &targets.base)
    }

    /// An access that [`allows`](ScOrder::allows) has let pass takes place as `index`; returns what is to
    /// be kept of it.
    pub fn access(&mut self, access: &Access<'_>, index: u32, targets: &Targets) -> Trail {
        let fences = self.closure(&self.fences_before(access.after));
        for &(thread, count) in &targets.fence {
            self.add_edges(&fences, thread, count);
        }
        let place = Where::Variable(access.variable);
        let mut sc = 0;
        if access.is_sc {
            let known = self.known_to(access);
            sc = self.push(access.thread, index, place, known.clone(), access.after);
            let mut known = known;
            known.raise(access.thread, sc);
            for &(thread, count) in &targets.base {
                self.add_edges(&known, thread, count);
            }
        }
        self.pass(access.thread, index, place, access.after);
        Trail { index, sc, clock: access.after.clone() }
    }

    /// A sequentially consistent fence takes place, after `clock`.
    pub fn fence(&mut self, thread: ThreadId, index: u32, clock: &Clock, locations: &[Location]) {
        let mut direct = self.fences_before(clock);
        self.raise_own(thread, &mut direct);
        let last_fence =
            self.thread(thread).and_then(OfThread::last_fence).map(|fence| &fence.clock);
        for (other, steps) in clock.iter() {
            let Some(state) = self.thread(other) else { continue };
            // By sb;hb.
            let earlier = state.events.partition_point(|event| event.index + 1 < steps);
            direct.raise(other, earlier as u32);
            // The last event that the fence comes after, by hb|loc;hb.
            if let Some(event) = state.events.get(earlier).filter(|event| event.index + 1 == steps)
            {
                let id = EventId { thread: other, index: event.index };
                let leads = match event.place {
                    Where::Elsewhere => true,
                    Where::Variable(variable) => {
                        locations[variable].stores.iter().any(|store| store.passes_on(id, clock))
                    }
                };
                if leads {
                    direct.raise(other, earlier as u32 + 1);
                }
            }
        }
        for location in locations {
            self.lead_to_fence(&mut direct, clock, location, last_fence);
        }
        let known = self.closure(&direct);
        self.push(thread, index, Where::Elsewhere, known, clock);
        self.pass(thread, index, Where::Elsewhere, clock);
    }

    /// An event takes place that is not sequentially consistent.
    #[inline]
    pub fn pass(&mut self, thread: ThreadId, index: u32, place: Where, clock: &Clock) {
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, OfThread::default);
        }
        let state = &mut self.threads[thread.index()];
        let has_moved = place == Where::Elsewhere || state.last != Some(place);
        if has_moved {
            for event in state.events.iter_mut().rev() {
                if event.left.is_some() {
                    break;
                }
                if event.index < index {
                    event.left = Some(index);
                }
            }
        }
        if self.is_active {
            if has_moved {
                core::mem::swap(&mut state.at_last, &mut state.at_last_elsewhere);
            }
            state.at_last.copy(clock);
        }
        state.last = Some(place);
    }

    fn thread(&self, thread: ThreadId) -> Option<&OfThread> {
        self.threads.get(thread.index())
    }

    /// What leads to an access directly, and all that leads there.
    fn known_to(&self, access: &Access<'_>) -> Clock {
        let Access { thread, location, before, after, .. } = *access;
        // By sb, also after a fence.
        let mut direct = self.fences_before(before);
        self.raise_own(thread, &mut direct);
        // By sb≠loc;hb;sb≠loc.
        if let Some(state) = self.thread(thread) {
            let elsewhere = if state.last == Some(Where::Variable(access.variable)) {
                &state.at_last_elsewhere
            } else {
                &state.at_last
            };
            for (other, steps) in elsewhere.iter().filter(|&(other, _)| other != thread) {
                let Some(state) = self.thread(other) else { continue };
                let has_left = |event: &ScEvent| event.left.is_some_and(|left| left < steps);
                // Whoever came earlier left no later.
                direct.raise(other, state.events.partition_point(has_left) as u32);
            }
        }
        // By hb|loc.
        let is_missing = |direct: &Clock| {
            after.iter().any(|(other, steps)| {
                let Some(state) = self.thread(other) else { return false };
                let known = state.events.partition_point(|event| event.index < steps) as u32;
                other != thread && direct.of(other) < known
            })
        };
        for store in location.stores.iter().rev() {
            if !is_missing(&direct) {
                break;
            }
            if after.knows(store.id) {
                self.lead(&mut direct, store.id.thread, store.trail());
            }
            for (reader, trails) in store.trails() {
                let known = trails.partition_point(|trail| trail.index < after.of(reader));
                if let Some(last) = known.checked_sub(1) {
                    self.lead(&mut direct, reader, &trails[last]);
                }
            }
            // What leads there is most of what is missing.
            direct = self.closure(&direct);
        }
        // By mo and rb. What leads to a sequentially consistent store is known to it.
        if access.writes {
            for store in location.stores[..=access.position].iter().rev() {
                self.lead(&mut direct, store.id.thread, store.trail());
                for (reader, trails) in store.trails() {
                    if let Some(last) = trails.last() {
                        self.lead(&mut direct, reader, last);
                    }
                }
                if store.trail().sc > 0 {
                    break;
                }
            }
        }
        self.closure(&direct)
    }

    /// What leads to a fence that comes after `clock` through the stores of a variable. `last_fence` is
    /// what the thread's last such fence comes after: what leads to that one is known.
    fn lead_to_fence(
        &self,
        direct: &mut Clock,
        clock: &Clock,
        location: &Location,
        last_fence: Option<&Clock>,
    ) {
        let known = location.last_known(clock);
        for store in location.stores[..known].iter().rev() {
            self.lead(direct, store.id.thread, store.trail());
            for (reader, trails) in store.trails() {
                if let Some(last) = trails.last() {
                    self.lead(direct, reader, last);
                }
            }
            if store.trail().sc > 0 || last_fence.is_some_and(|last| last.knows(store.id)) {
                break;
            }
        }
        // By eco;hb, after fences only: also what is known to have been read.
        let seen = location.floor(clock);
        for (position, store) in location.stores[..=seen].iter().enumerate().skip(known) {
            direct.join(&self.fences_before(&store.trail().clock));
            if position < seen {
                for last in store.trails().filter_map(|(_, trails)| trails.last()) {
                    direct.join(&self.fences_before(&last.clock));
                }
            }
        }
    }

    /// Takes in an access as one from which scb leads on: itself, and the fences before it.
    fn lead(&self, direct: &mut Clock, thread: ThreadId, trail: &Trail) {
        if trail.sc > 0 {
            direct.raise(thread, trail.sc);
        }
        direct.join(&self.fences_before(&trail.clock));
    }

    fn raise_own(&self, thread: ThreadId, direct: &mut Clock) {
        let own = self.thread(thread).map_or(0, |state| state.events.len());
        direct.raise(thread, own as u32);
    }

    /// For each thread its last fence that `clock` comes after.
    fn fences_before(&self, clock: &Clock) -> Clock {
        let mut last = Clock::default();
        for (thread, steps) in clock.iter() {
            let Some(state) = self.thread(thread) else { continue };
            let before = state.fences.partition_point(|&at| state.events[at].index < steps);
            if let Some(before) = before.checked_sub(1) {
                last.raise(thread, state.fences[before] as u32 + 1);
            }
        }
        last
    }

    /// For each thread its first fence that comes after `event`.
    fn first_fences_after(&self, event: EventId) -> impl Iterator<Item = (ThreadId, u32)> + '_ {
        self.threads.iter().enumerate().filter_map(move |(thread, state)| {
            let first = state.fences.partition_point(|&at| !state.events[at].clock.knows(event));
            let at = *state.fences.get(first)?;
            Some((ThreadId(thread as u32), at as u32 + 1))
        })
    }

    /// `direct` and all that leads there.
    fn closure(&self, direct: &Clock) -> Clock {
        let mut all = direct.clone();
        for (thread, count) in direct.iter() {
            if let Some(state) = self.thread(thread) {
                all.join(&state.events[count as usize - 1].known);
            }
        }
        all
    }

    /// All of `known`, which is closed, leads to an event from now on.
    fn add_edges(&mut self, known: &Clock, thread: ThreadId, count: u32) {
        let event = &self.threads[thread.index()].events[count as usize - 1];
        if known.iter().all(|(other, steps)| event.known.of(other) >= steps) {
            return;
        }
        for (other, state) in self.threads.iter_mut().enumerate() {
            for (at, event) in state.events.iter_mut().enumerate() {
                let is_it = other == thread.index() && at + 1 == count as usize;
                if is_it || event.known.of(thread) >= count {
                    event.known.join(known);
                }
            }
        }
    }

    fn push(
        &mut self,
        thread: ThreadId,
        index: u32,
        place: Where,
        known: Clock,
        clock: &Clock,
    ) -> u32 {
        self.is_active = true;
        if self.threads.len() <= thread.index() {
            self.threads.resize_with(thread.index() + 1, OfThread::default);
        }
        let state = &mut self.threads[thread.index()];
        if place == Where::Elsewhere {
            state.fences.push(state.events.len());
        }
        state.events.push(ScEvent { index, place, left: None, known, clock: clock.clone() });
        state.events.len() as u32
    }
}

impl OfThread {
    fn last_fence(&self) -> Option<&ScEvent> {
        self.fences.last().map(|&at| &self.events[at])
    }
}

impl Store {
    /// The reads of it by each thread.
    fn trails(&self) -> impl Iterator<Item = (ThreadId, &Vec<Trail>)> {
        self.reads().iter().enumerate().map(|(thread, trails)| (ThreadId(thread as u32), trails))
    }

    /// Whether this store or a read of it comes after `event`, another access to the variable, and
    /// before `clock`.
    fn passes_on(&self, event: EventId, clock: &Clock) -> bool {
        let between = |id: EventId, at: &Clock| id != event && at.knows(event) && clock.knows(id);
        between(self.id, &self.trail().clock)
            || self.trails().any(|(thread, trails)| {
                trails
                    .iter()
                    .any(|trail| between(EventId { thread, index: trail.index }, &trail.clock))
            })
    }
}
