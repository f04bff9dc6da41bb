//! A variable: its stores in their order, and who has read them.

use alloc::boxed::Box;
use alloc::vec::Vec;

use raddle_core::{EventId, ThreadId};

use crate::causality::Clock;

/// An atomic variable in one run.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// In modification order. Invariant: never empty; the initial store is the first.
    pub stores: Vec<Store>,
    /// How many of them are neither initial nor read-modify-writes: there is room right before these only.
    gaps: usize,
}

/// A store.
#[derive(Clone, Debug)]
pub struct Store {
    /// Who.
    pub id: EventId,
    /// The value.
    pub value: u64,
    /// Whether this is a read-modify-write, so that nothing can come between it and the store before.
    pub is_update: bool,
    /// What those who read it come after, if they acquire.
    pub message: Clock,
    /// The first read of it by whoever read it first. Few stores are read by others as well.
    first_reader: Option<EventId>,
    /// The first read of it by each other thread that has read it.
    other_readers: Vec<EventId>,
    /// Its name in fingerprints.
    pub name: u64,
    /// What sequential consistency has to know about it, if there is anything: stores are looked through
    /// a lot, and smaller without.
    notes: Option<Box<Notes>>,
}

#[derive(Clone, Debug, Default)]
struct Notes {
    /// About the store.
    trail: Trail,
    /// About the reads of it; by thread, in order.
    reads: Vec<Vec<Trail>>,
}

/// What an access has to do with the order of sequentially consistent events. Kept only from the first
/// of these on.
#[derive(Clone, Debug, Default)]
pub struct Trail {
    /// The access.
    pub index: u32,
    /// How many sequentially consistent events its thread had with the last of these reads or with this
    /// store, that one included; zero if none of them is one.
    pub sc: u32,
    /// What it comes after, itself included.
    pub clock: Clock,
}

/// Of what there is nothing to know.
static NO_TRAIL: Trail = Trail { index: 0, sc: 0, clock: Clock::NOTHING };

impl Location {
    /// A variable that holds `value`.
    pub fn begin(&mut self, value: u64) {
        self.stores.truncate(1);
        match self.stores.first_mut() {
            Some(left_over) => left_over.begin(value),
            None => self.stores.push(Store { value, ..Store::INITIAL }),
        }
        self.gaps = 0;
    }

    /// Puts a store that carries no message yet right behind `position`, and returns both.
    #[inline(always)]
    pub fn put_behind(
        &mut self,
        position: usize,
        id: EventId,
        value: u64,
        is_update: bool,
    ) -> (&Store, &mut Store) {
        self.gaps += usize::from(!is_update);
        // Most come last. Written where they stay: a copy by wider moves than those before would wait for them.
        if position == self.newest() {
            self.stores.push(Store::INITIAL);
        } else {
            self.stores.insert(position + 1, Store::INITIAL);
        }
        let (before, from) = self.stores.split_at_mut(position + 1);
        let store = &mut from[0];
        (store.id, store.value, store.is_update) = (id, value, is_update);
        (&before[position], store)
    }

    /// The store at `position` carries on what the last one of its thread before it carries, as in C++11.
    #[cold]
    pub fn continue_sequence(&mut self, position: usize) {
        let (before, from) = self.stores.split_at_mut(position);
        let store = &mut from[0];
        let own = before.iter().rfind(|earlier| earlier.id.thread == store.id.thread);
        if let Some(own) = own {
            store.message.join(&own.message);
        }
    }

    /// Whether a store can be put anywhere but at the end (atomicity).
    #[inline]
    pub fn has_gaps(&self) -> bool {
        self.gaps > 0
    }

    /// The position of the newest store.
    #[inline]
    pub fn newest(&self) -> usize {
        self.stores.len() - 1
    }

    /// The position of a store; most likely a new one.
    pub fn position(&self, id: EventId) -> Option<usize> {
        self.stores.iter().rposition(|store| store.id == id)
    }

    /// The oldest position that whoever comes after `clock` can still read, or put a store behind:
    /// the newest store that it comes after, or that it comes after a read of (coherence).
    #[inline]
    pub fn floor(&self, clock: &Clock) -> usize {
        self.stores.iter().rposition(|store| store.is_seen(clock)).unwrap_or(0)
    }

    /// The newest store that `clock` comes after.
    pub fn last_known(&self, clock: &Clock) -> usize {
        self.stores.iter().rposition(|store| clock.knows(store.id)).unwrap_or(0)
    }

    /// Whether a store can be put right behind `position` (atomicity).
    #[inline]
    pub fn has_room_behind(&self, position: usize) -> bool {
        self.stores.get(position + 1).is_none_or(|next| !next.is_update)
    }
}

impl Store {
    /// The first store of a variable, that nobody has read and that carries no message.
    const INITIAL: Store = Store {
        id: EventId::INITIAL,
        value: 0,
        is_update: false,
        message: Clock::NOTHING,
        first_reader: None,
        other_readers: Vec::new(),
        name: 0,
        notes: None,
    };

    /// The initial store of a variable becomes that of another, which holds `value`.
    fn begin(&mut self, value: u64) {
        self.value = value;
        self.first_reader = None;
        self.other_readers.clear();
        self.name = 0;
        self.notes = None;
    }

    /// Whether `clock` comes after it or after a read of it.
    #[inline]
    pub fn is_seen(&self, clock: &Clock) -> bool {
        clock.knows(self.id) || self.readers().any(|reader| clock.knows(reader))
    }

    /// The first read of it by each thread that has read it.
    #[inline]
    pub fn readers(&self) -> impl Iterator<Item = EventId> + '_ {
        self.first_reader.iter().chain(&self.other_readers).copied()
    }

    /// Notes a read.
    #[inline]
    pub fn note_reader(&mut self, by: EventId) {
        if self.first_reader.is_none() {
            self.first_reader = Some(by);
        } else if self.readers().all(|reader| reader.thread != by.thread) {
            self.other_readers.push(by);
        }
    }

    /// What sequential consistency has to know about it.
    #[inline]
    pub fn trail(&self) -> &Trail {
        self.notes.as_ref().map_or(&NO_TRAIL, |notes| &notes.trail)
    }

    /// Likewise about the reads of it; by thread, in order.
    #[inline]
    pub fn reads(&self) -> &[Vec<Trail>] {
        self.notes.as_ref().map_or(&[], |notes| &notes.reads)
    }

    /// Notes what sequential consistency has to know of it.
    pub fn set_trail(&mut self, trail: Trail) {
        self.notes.get_or_insert_default().trail = trail;
    }

    /// Notes what sequential consistency has to know of a read.
    pub fn note_trail(&mut self, by: ThreadId, mut trail: Trail) {
        let reads = &mut self.notes.get_or_insert_default().reads;
        if reads.len() <= by.index() {
            reads.resize_with(by.index() + 1, Vec::new);
        }
        let reads = &mut reads[by.index()];
        let before = reads.last().map_or(0, |last| last.sc);
        trail.sc = trail.sc.max(before);
        reads.push(trail);
    }
}
