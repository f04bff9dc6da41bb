//! RC11 (Lahav et al., PLDI 2017), with the release sequences of C++20.
//!
//! Promise: the options of a load are exactly the stores that it can read so that the execution stays consistent. Those
//! of a store are exactly the places in modification order that it can take. Every consistent execution without cycles
//! in sb ∪ rf is reachable, whatever linearisation of sb ∪ rf its events run in: prefixes of consistent graphs are
//! consistent. RC11 forbids such cycles (load buffering).
//!
//! The place of a store in modification order is chosen when the store is performed. An execution is then determined by
//! its choices. The newest store and the newest place are always among the options, so a run never gets stuck.
//!
//! [`location`] implements coherence and atomicity, [`sc`] the order of sequentially consistent events, and
//! [`Causality`] happens-before. None of them depends on the engine.

use alloc::vec::Vec;

use raddle_core::{
    Action, AtomicOp, Effect, Event, EventId, ObjectId, Op, Order, ThreadId, fingerprint,
};

use crate::causality::{Causality, Clock};
use crate::memory::Memory;

pub mod location;
pub mod sc;

use location::{Location, ScRecord};
use sc::{Access, Loc, ScOrder, Targets};

/// The memory model RC11.
#[derive(Clone, Debug, Default)]
pub struct Rc11 {
    causality: Causality,
    order: ScOrder,
    /// By variable. Entries from `used` on are left over from earlier runs.
    locations: Vec<Location>,
    used: usize,
    /// The variable of the last access, and the position and role of the store that it read or made.
    last: (usize, usize, LastAccess),
    mistake: Option<Mistake>,
}

/// The relation of the last access to a store.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
enum LastAccess {
    /// The access read the store.
    #[default]
    Read,
    /// The access is the store.
    Store,
}

/// An access with a given source.
#[derive(Copy, Clone, Debug)]
struct Resolved {
    reads: bool,
    /// The value that the access writes, if any.
    writes: Option<u64>,
    order: Order,
    effect: Effect,
}

/// Known mistakes in implementations of RC11, which the tests must detect.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// A store can come between what a read-modify-write reads and what it writes.
    NoAtomicity,
    /// A release sequence continues through stores of the same thread, as in C++11.
    OldReleaseSequences,
    /// Sequentially consistent accesses and fences only acquire and release.
    ScIsAcqRel,
    /// Fences do not synchronise.
    NoFences,
    /// An acquire fence synchronises with what other threads have read.
    GreedyFences,
    /// The modification order is the order in which the stores are performed.
    StoresInOrder,
    /// A failed compare-exchange reads the newest store.
    FreshFailures,
    /// Only this number of newest stores can be read.
    ShortHistory(usize),
}

impl Rc11 {
    /// Returns a model with a mistake.
    pub fn with_mistake(mistake: Mistake) -> Rc11 {
        Rc11 { mistake: Some(mistake), ..Rc11::default() }
    }

    #[inline]
    fn has_mistake(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    /// Returns the access `op` whose source has the value `value`.
    #[inline]
    fn resolve(&self, op: Op, value: u64) -> Resolved {
        let (writes, effect) = op.apply_to_atomic(value);
        let order = match op.atomic_order(writes.is_some()) {
            Order::SeqCst if self.has_mistake(Mistake::ScIsAcqRel) => Order::AcqRel,
            order => order,
        };
        Resolved { reads: op.reads_atomic(), writes, order, effect }
    }

    /// Calls `then` with an access whose source is the store at `position`. Coherence and atomicity must allow it.
    fn with_access<R>(
        &self,
        variable: usize,
        thread: ThreadId,
        resolved: Resolved,
        position: usize,
        then: impl FnOnce(&Access<'_>) -> R,
    ) -> R {
        let location = &self.locations[variable];
        let empty = Clock::EMPTY;
        let before = self.causality.clock(thread).unwrap_or(&empty);
        let joined = (resolved.reads && resolved.order.acquires()).then(|| {
            let mut joined = before.clone();
            joined.join(&location.stores[position].message);
            joined
        });
        let after = joined.as_ref().unwrap_or(before);
        let (writes, is_sc) = (resolved.writes.is_some(), resolved.order == Order::SeqCst);
        then(&Access { thread, variable, location, position, writes, is_sc, before, after })
    }

    /// Returns whether the store at `position`, which coherence allows, can be the source of `op` by `thread`.
    fn allows(
        &self,
        variable: usize,
        thread: ThreadId,
        op: Op,
        position: usize,
        targets: &Targets,
    ) -> bool {
        let location = &self.locations[variable];
        let resolved = self.resolve(op, location.stores[position].value);
        let is_newest = position == location.newest();
        match self.mistake {
            Some(Mistake::NoAtomicity) => {}
            _ if resolved.writes.is_some() && !location.can_insert_after(position) => return false,
            Some(Mistake::StoresInOrder) if resolved.writes.is_some() && !is_newest => {
                return false;
            }
            Some(Mistake::FreshFailures)
                if matches!(resolved.effect, Effect::Kept(_)) && !is_newest =>
            {
                return false;
            }
            Some(Mistake::ShortHistory(most)) if position + most <= location.newest() => {
                return false;
            }
            _ => {}
        }
        if is_newest || !self.order.is_active() {
            return true;
        }
        self.with_access(variable, thread, resolved, position, |access| {
            self.order.allows(access, targets)
        })
    }

    /// Adds the [`sources`](Memory::sources) for a variable with several stores.
    fn add_sources(&self, variable: usize, thread: ThreadId, op: Op, options: &mut Vec<EventId>) {
        let location = &self.locations[variable];
        let newest = location.newest();
        // If the access always writes, atomicity excludes most positions without a look at their values.
        let always_writes = self.mistake.is_none() && op.always_writes_atomic();
        let clock = self.causality.clock(thread);
        // Coherence: a store whose write or read happens before the access is the oldest possible source.
        let is_oldest = |position: usize| {
            clock.is_some_and(|clock| location.stores[position].is_observed(clock))
        };
        if always_writes && !location.has_gap() || is_oldest(newest) {
            return;
        }
        let mut targets = Targets::default();
        for position in (0..=newest).rev() {
            if self.order.is_active() && position < newest {
                targets.add(&self.order, &location.stores[position + 1]);
            }
            if (!always_writes || location.can_insert_after(position))
                && self.allows(variable, thread, op, position, &targets)
            {
                options.push(location.stores[position].id);
            }
            if is_oldest(position) {
                break;
            }
        }
        if options.len() == 1 {
            options.clear();
        }
        options.reverse();
    }

    /// Performs an access that takes part in the order of sequentially consistent events.
    #[cold]
    fn perform_with_sc_order(
        &mut self,
        variable: usize,
        by: EventId,
        op: &Op,
        position: usize,
    ) -> Effect {
        // Computed again by this cold function: passing it would force the fast path to keep it in memory.
        let resolved = self.resolve(*op, self.locations[variable].stores[position].value);
        let sc_record = self.add_to_sc_order(variable, by, resolved, position);
        self.perform(variable, by, resolved, position, Some(sc_record))
    }

    /// Performs an access whose source is the store at `position` of a variable.
    #[inline(always)]
    fn perform(
        &mut self,
        variable: usize,
        by: EventId,
        resolved: Resolved,
        position: usize,
        sc_record: Option<ScRecord>,
    ) -> Effect {
        let continues_sequence = self.has_mistake(Mistake::OldReleaseSequences);
        let location = &mut self.locations[variable];
        let thread = self.causality.thread(by.thread);
        let source = &mut location.stores[position];
        if resolved.reads {
            thread.read(resolved.order, &source.message);
        }
        match resolved.writes {
            None => {
                source.add_reader(by);
                if let Some(sc_record) = sc_record {
                    source.add_sc_read(by.thread, sc_record);
                }
                self.last = (variable, position, LastAccess::Read);
            }
            Some(value) => {
                let (source, store) = location.insert_after(position, by, value, resolved.reads);
                if let Some(sc_record) = sc_record {
                    store.set_sc_record(sc_record);
                }
                // A store releases what its ordering says, and continues the release sequence that it reads from.
                store.message.copy_from(thread.message(resolved.order));
                if resolved.reads {
                    store.message.join(&source.message);
                } else if continues_sequence {
                    location.continue_release_sequence(position + 1);
                }
                self.last = (variable, position + 1, LastAccess::Store);
            }
        }
        thread.clock.advance(by.thread);
        resolved.effect
    }

    /// Adds an access to the order of sequentially consistent events, and returns its record.
    #[cold]
    fn add_to_sc_order(
        &mut self,
        variable: usize,
        by: EventId,
        resolved: Resolved,
        position: usize,
    ) -> ScRecord {
        let mut targets = Targets::default();
        for store in &self.locations[variable].stores[position + 1..] {
            targets.add(&self.order, store);
        }
        let location = &self.locations[variable];
        let empty = Clock::EMPTY;
        let before = self.causality.clock(by.thread).unwrap_or(&empty);
        let mut after = before.clone();
        if resolved.reads && resolved.order.acquires() {
            after.join(&location.stores[position].message);
        }
        let (writes, is_sc) = (resolved.writes.is_some(), resolved.order == Order::SeqCst);
        let thread = by.thread;
        let access =
            Access { thread, variable, location, position, writes, is_sc, before, after: &after };
        let sc = self.order.access(&access, by.index, &targets);
        ScRecord { index: by.index, sc, clock: after }
    }
}

impl Memory for Rc11 {
    /// The number of the variable.
    type Location = usize;

    const WEAK: bool = true;

    fn reset(&mut self) {
        self.causality.reset();
        self.causality.thread(ThreadId::MAIN);
        self.order.reset();
        self.used = 0;
    }

    fn declare(&mut self, location: &mut usize, initial: u64) {
        *location = self.used;
        self.used += 1;
        if self.locations.len() < self.used {
            self.locations.push(Location::default());
        }
        self.locations[*location].reset(initial);
    }

    #[inline(always)]
    fn sources(&self, &variable: &usize, thread: ThreadId, op: Op, options: &mut Vec<EventId>) {
        // With one store there is no choice.
        if self.locations[variable].newest() > 0 {
            self.add_sources(variable, thread, op, options);
        }
    }

    fn taken(&self, &variable: &usize, thread: ThreadId, op: Op, stores: &mut Vec<EventId>) {
        let location = &self.locations[variable];
        let clock = self.causality.clock(thread);
        let mut targets = Targets::default();
        for position in (0..=location.newest()).rev() {
            if self.order.is_active() && position < location.newest() {
                targets.add(&self.order, &location.stores[position + 1]);
            }
            let store = &location.stores[position];
            let resolved = self.resolve(op, store.value);
            let is_taken = resolved.writes.is_some() && !location.can_insert_after(position);
            let as_load = Resolved { writes: None, ..resolved };
            if is_taken
                && (!self.order.is_active()
                    || self.with_access(variable, thread, as_load, position, |access| {
                        self.order.allows(access, &targets)
                    }))
            {
                stores.push(store.id);
            }
            if clock.is_some_and(|clock| store.is_observed(clock)) {
                break;
            }
        }
    }

    fn access(
        &mut self,
        &mut variable: &mut usize,
        by: EventId,
        op: &Op,
        source: Option<EventId>,
    ) -> Effect {
        let location = &self.locations[variable];
        let position = match source {
            None => location.newest(),
            Some(source) => location
                .position(source)
                .expect("raddle invariant broken: the source is no store of the variable"),
        };
        let resolved = self.resolve(*op, location.stores[position].value);
        if self.order.is_active() || resolved.order == Order::SeqCst {
            return self.perform_with_sc_order(variable, by, op, position);
        }
        self.perform(variable, by, resolved, position, None)
    }

    fn hash(&mut self, name: u64) -> u64 {
        let (variable, position, access) = self.last;
        let stores = &mut self.locations[variable].stores;
        match access {
            LastAccess::Read => fingerprint::read_from(name, stores[position].name),
            LastAccess::Store => {
                stores[position].name = name;
                let before = stores[position - 1].name;
                let hash = fingerprint::stored_after(name, before);
                let Some(next) = stores.get(position + 1) else { return hash };
                hash.wrapping_add(fingerprint::stored_after(next.name, name))
                    .wrapping_sub(fingerprint::stored_after(next.name, before))
            }
        }
    }

    fn observe(&mut self, event: &Event) {
        if event.op.is_thread() && !self.order.is_active() {
            return self.causality.observe(event);
        }
        let EventId { thread, index } = event.id;
        let fence = event.op.fence();
        if fence.is_some() && self.has_mistake(Mistake::GreedyFences) {
            let all: Vec<Clock> =
                self.causality.threads().iter().map(|other| other.unacquired().clone()).collect();
            let clock = &mut self.causality.thread(thread).clock;
            all.iter().for_each(|other| clock.join(other));
        }
        if fence.is_some() && self.has_mistake(Mistake::NoFences) {
            self.causality.advance(thread);
        } else {
            self.causality.observe(event);
        }
        let is_sc = fence == Some(Order::SeqCst) && !self.has_mistake(Mistake::ScIsAcqRel);
        if !is_sc && !self.order.is_active() {
            return;
        }
        // What happens before the event, itself included.
        let mut clock = self.causality.clock(thread).cloned().unwrap_or_default();
        clock.lower_to(thread, index + 1);
        if is_sc {
            self.order.fence(thread, index, &clock, &self.locations[..self.used]);
        } else if fence.is_some() || event.op.object() != ObjectId::NONE {
            self.order.add_event(thread, index, Loc::Other, &clock);
        }
    }

    fn look(&mut self, location: &mut usize, by: EventId, object: ObjectId) {
        let load = Action::Atomic(AtomicOp::Load { order: Order::Relaxed });
        self.access(location, by, &Op::new(object, load), None);
        self.causality.acquire(by.thread, object);
    }

    fn newest(&self, &location: &usize) -> u64 {
        let location = &self.locations[location];
        location.stores[location.newest()].value
    }

    fn clock(&self, thread: ThreadId) -> Option<&Clock> {
        self.causality.clock(thread)
    }
}
