//! RC11 (Lahav et al., PLDI 2017), with the release sequences of C++20.
//!
//! Promise: a load is offered exactly the stores that it can read, and a store exactly the places in
//! its variable's modification order that it can take, so that the execution so far stays consistent.
//! Every consistent execution without cycles in sb ∪ rf can be reached that way, whatever order of
//! sb ∪ rf its events are run in, because consistency of a graph carries over to its beginnings. Load
//! buffering, which has such a cycle, is forbidden by RC11.
//!
//! Places are chosen when the store happens, not left open: what a place is good for shows only later,
//! but then every question has a plain answer, and an execution is its choices. The newest store and
//! the newest place are always among the options, so nothing ever gets stuck.
//!
//! [`location`] is coherence and atomicity, [`sc`] the order of sequentially consistent events,
//! [`Causality`] happens-before. None of it knows about engines.

use alloc::vec::Vec;

use raddle_core::{Effect, Event, EventId, ObjectId, Op, Order, ThreadId, fingerprint};

use crate::causality::{Causality, Clock};
use crate::memory::Memory;

pub mod location;
pub mod sc;

use location::{Location, Trail};
use sc::{Access, ScOrder, Targets, Where};

/// The memory model RC11.
#[derive(Clone, Debug, Default)]
pub struct Rc11 {
    causality: Causality,
    order: ScOrder,
    /// The variables of this run come first, `used` of them.
    locations: Vec<Location>,
    used: usize,
    /// Where the last access left its mark: variable, position, and what it did there.
    last: (usize, usize, Mark),
    mistake: Option<Mistake>,
}

/// What an access did to a store.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
enum Mark {
    /// Read it.
    #[default]
    Read,
    /// Made it.
    Made,
}

/// What an access can do: read, write, and in which order.
#[derive(Copy, Clone, Debug)]
struct Kind {
    reads: bool,
    /// The value that it would write.
    writes: Option<u64>,
    order: Order,
    effect: Effect,
}

/// Ways to get RC11 wrong, for tests of the tests.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// A store can come between what a read-modify-write reads and what it writes.
    NoAtomicity,
    /// A release sequence goes on through stores of the same thread, as in C++11.
    OldReleaseSequences,
    /// Sequentially consistent accesses and fences are taken for acquire and release.
    ScIsAcqRel,
    /// Fences do not synchronise.
    NoFences,
    /// An acquire fence synchronises with what other threads have read.
    GreedyFences,
    /// The order of the stores is that in which they happened.
    StoresInOrder,
    /// A failed compare-exchange reads the newest store.
    FreshFailures,
    /// Only so many of the newest stores can be read.
    ShortHistory(usize),
}

impl Rc11 {
    /// A model that makes a mistake.
    pub fn with_mistake(mistake: Mistake) -> Rc11 {
        Rc11 { mistake: Some(mistake), ..Rc11::default() }
    }

    #[inline]
    fn makes(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    /// What `op` does if it reads `value`, or comes to stand behind it.
    #[inline]
    fn kind(&self, op: Op, value: u64) -> Kind {
        let (writes, effect) = op.apply_to_atomic(value);
        let order = match op.atomic_order(writes.is_some()) {
            Order::SeqCst if self.makes(Mistake::ScIsAcqRel) => Order::AcqRel,
            order => order,
        };
        Kind { reads: op.reads_atomic(), writes, order, effect }
    }

    /// What is to be asked and written down about an access at `position` of a variable, which
    /// coherence and atomicity allow.
    fn with_access<R>(
        &self,
        variable: usize,
        thread: ThreadId,
        kind: Kind,
        position: usize,
        then: impl FnOnce(&Access<'_>) -> R,
    ) -> R {
        let location = &self.locations[variable];
        let nothing = Clock::NOTHING;
        let before = self.causality.clock(thread).unwrap_or(&nothing);
        let joined = (kind.reads && kind.order.acquires()).then(|| {
            let mut joined = before.clone();
            joined.join(&location.stores[position].message);
            joined
        });
        let after = joined.as_ref().unwrap_or(before);
        let (writes, is_sc) = (kind.writes.is_some(), kind.order == Order::SeqCst);
        then(&Access { thread, variable, location, position, writes, is_sc, before, after })
    }

    /// Whether `op` by `thread` can be at `position`, which coherence allows.
    fn allows(
        &self,
        variable: usize,
        thread: ThreadId,
        op: Op,
        position: usize,
        targets: &Targets,
    ) -> bool {
        let location = &self.locations[variable];
        let kind = self.kind(op, location.stores[position].value);
        let is_newest = position == location.newest();
        match self.mistake {
            Some(Mistake::NoAtomicity) => {}
            _ if kind.writes.is_some() && !location.has_room_behind(position) => return false,
            Some(Mistake::StoresInOrder) if kind.writes.is_some() && !is_newest => return false,
            Some(Mistake::FreshFailures)
                if matches!(kind.effect, Effect::Kept(_)) && !is_newest =>
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
        self.with_access(variable, thread, kind, position, |access| {
            self.order.allows(access, targets)
        })
    }

    /// As [`sources`](Memory::sources), for a variable with several stores.
    fn all_sources(&self, variable: usize, thread: ThreadId, op: Op, options: &mut Vec<EventId>) {
        let location = &self.locations[variable];
        let newest = location.newest();
        // Most positions are told off by atomicity, where that can be said without a look at values.
        let always_writes = self.mistake.is_none() && op.always_writes_atomic();
        let clock = self.causality.clock(thread);
        // Coherence: nothing older than what it comes after, or comes after a read of.
        let is_floor =
            |position: usize| clock.is_some_and(|clock| location.stores[position].is_seen(clock));
        if always_writes && !location.has_gaps() || is_floor(newest) {
            return;
        }
        let mut targets = Targets::default();
        for position in (0..=newest).rev() {
            if self.order.is_active() && position < newest {
                targets.add(&self.order, &location.stores[position + 1]);
            }
            if (!always_writes || location.has_room_behind(position))
                && self.allows(variable, thread, op, position, &targets)
            {
                options.push(location.stores[position].id);
            }
            if is_floor(position) {
                break;
            }
        }
        if options.len() == 1 {
            options.clear();
        }
        options.reverse();
    }

    /// Performs an access that sequential consistency has to know of.
    #[cold]
    fn perform_in_order(
        &mut self,
        variable: usize,
        by: EventId,
        op: &Op,
        position: usize,
    ) -> Effect {
        // Once more: to hand it over would put it into memory wherever somebody might.
        let kind = self.kind(*op, self.locations[variable].stores[position].value);
        let trail = self.trail(variable, by, kind, position);
        self.perform(variable, by, kind, position, Some(trail))
    }

    /// Performs an access at `position` of a variable.
    #[inline(always)]
    fn perform(
        &mut self,
        variable: usize,
        by: EventId,
        kind: Kind,
        position: usize,
        trail: Option<Trail>,
    ) -> Effect {
        let continues = self.makes(Mistake::OldReleaseSequences);
        let location = &mut self.locations[variable];
        let thread = self.causality.thread(by.thread);
        let source = &mut location.stores[position];
        if kind.reads {
            thread.read(kind.order, &source.message);
        }
        match kind.writes {
            None => {
                source.note_reader(by);
                if let Some(trail) = trail {
                    source.note_trail(by.thread, trail);
                }
                self.last = (variable, position, Mark::Read);
            }
            Some(value) => {
                let (source, store) = location.put_behind(position, by, value, kind.reads);
                if let Some(trail) = trail {
                    store.set_trail(trail);
                }
                // It begins with what its order releases.
                store.message.copy(thread.message(kind.order));
                if kind.reads {
                    store.message.join(&source.message);
                } else if continues {
                    location.continue_sequence(position + 1);
                }
                self.last = (variable, position + 1, Mark::Made);
            }
        }
        thread.clock.advance(by.thread);
        kind.effect
    }

    /// What sequential consistency has to know of an access, now that it happens.
    #[cold]
    fn trail(&mut self, variable: usize, by: EventId, kind: Kind, position: usize) -> Trail {
        let mut targets = Targets::default();
        for store in &self.locations[variable].stores[position + 1..] {
            targets.add(&self.order, store);
        }
        let mut order = core::mem::take(&mut self.order);
        let trail = self.with_access(variable, by.thread, kind, position, |access| {
            order.access(access, by.index, &targets)
        });
        self.order = order;
        trail
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
        self.locations[*location].begin(initial);
    }

    #[inline(always)]
    fn sources(&self, &variable: &usize, thread: ThreadId, op: Op, options: &mut Vec<EventId>) {
        // Where there is only one store, there is no choice.
        if self.locations[variable].newest() > 0 {
            self.all_sources(variable, thread, op, options);
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
                .expect("raddle invariant broken: a source that is no store of the variable"),
        };
        let kind = self.kind(*op, location.stores[position].value);
        if self.order.is_active() || kind.order == Order::SeqCst {
            return self.perform_in_order(variable, by, op, position);
        }
        self.perform(variable, by, kind, position, None)
    }

    fn hash(&mut self, name: u64) -> u64 {
        let (variable, position, mark) = self.last;
        let stores = &mut self.locations[variable].stores;
        match mark {
            Mark::Read => fingerprint::read_from(name, stores[position].name),
            Mark::Made => {
                stores[position].name = name;
                let before = stores[position - 1].name;
                let hash = fingerprint::stored_after(name, before);
                let Some(next) = stores.get(position + 1) else { return hash };
                hash.wrapping_add(fingerprint::stored_after(next.name, name))
                    .wrapping_sub(fingerprint::stored_after(next.name, before))
            }
        }
    }

    fn happen(&mut self, event: &Event) {
        if event.op.is_thread() && !self.order.is_active() {
            return self.causality.happen(event);
        }
        let EventId { thread, index } = event.id;
        let fence = event.op.fence();
        if fence.is_some() && self.makes(Mistake::GreedyFences) {
            let all: Vec<Clock> =
                self.causality.threads().iter().map(|other| other.unacquired().clone()).collect();
            let clock = &mut self.causality.thread(thread).clock;
            all.iter().for_each(|other| clock.join(other));
        }
        if fence.is_some() && self.makes(Mistake::NoFences) {
            self.causality.advance(thread);
        } else {
            self.causality.happen(event);
        }
        let is_sc = fence == Some(Order::SeqCst) && !self.makes(Mistake::ScIsAcqRel);
        if !is_sc && !self.order.is_active() {
            return;
        }
        // What the event comes after, itself included.
        let mut clock = self.causality.clock(thread).cloned().unwrap_or_default();
        clock.lower_to(thread, index + 1);
        if is_sc {
            self.order.fence(thread, index, &clock, &self.locations[..self.used]);
        } else if fence.is_some() || event.op.object() != ObjectId::NONE {
            self.order.pass(thread, index, Where::Elsewhere, &clock);
        }
    }

    fn newest(&self, &location: &usize) -> u64 {
        let location = &self.locations[location];
        location.stores[location.newest()].value
    }
}
