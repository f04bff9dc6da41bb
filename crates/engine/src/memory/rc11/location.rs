//! An atomic variable: its stores in modification order, and their readers.

use alloc::boxed::Box;
use alloc::vec::Vec;

use raddle_core::{EventId, ThreadId};

use crate::causality::Clock;

/// An atomic variable in one run.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// The stores in modification order. Invariant: never empty; the initial store is the first.
    pub stores: Vec<Store>,
    /// The number of stores that are neither initial nor read-modify-writes. A store can be inserted only before these.
    gaps: usize,
}

/// A store.
#[derive(Clone, Debug)]
pub struct Store {
    /// The event.
    pub id: EventId,
    /// The value.
    pub value: u64,
    /// Whether this is a read-modify-write. Nothing can be inserted between it and the store before.
    pub is_update: bool,
    /// What an acquiring reader synchronises with.
    pub message: Clock,
    /// The first read of the store. Few stores are read by more than one thread.
    first_reader: Option<EventId>,
    /// The first read by each other thread.
    other_readers: Vec<EventId>,
    /// The name of the event in fingerprints.
    pub name: u64,
    /// The records of the store and its reads, if any. Boxed, because searches scan the stores and a small store is
    /// faster to scan.
    sc_records: Option<Box<ScRecords>>,
}

#[derive(Clone, Debug, Default)]
struct ScRecords {
    /// The record of the store.
    store: ScRecord,
    /// The records of its reads, by thread, in order.
    reads: Vec<Vec<ScRecord>>,
}

/// What the order of sequentially consistent events needs of an access. Kept only after the first such event.
#[derive(Clone, Debug, Default)]
pub struct ScRecord {
    /// The position of the access among the events of its thread.
    pub index: u32,
    /// The number of sequentially consistent events of the thread up to this store, or up to the last sequentially
    /// consistent one of the thread's reads so far. Zero if there is none.
    pub sc: u32,
    /// What happens before the access, itself included.
    pub clock: Clock,
}

/// The record of a store before the first sequentially consistent event.
static NO_RECORD: ScRecord = ScRecord { index: 0, sc: 0, clock: Clock::EMPTY };

impl Location {
    /// Becomes a new variable that holds `value`.
    pub fn reset(&mut self, value: u64) {
        self.stores.truncate(1);
        match self.stores.first_mut() {
            Some(left_over) => left_over.reset(value),
            None => self.stores.push(Store { value, ..Store::INITIAL }),
        }
        self.gaps = 0;
    }

    /// Inserts a store, with an empty message, right after `position`. Returns the store at `position` and the new one.
    #[inline(always)]
    pub fn insert_after(
        &mut self,
        position: usize,
        id: EventId,
        value: u64,
        is_update: bool,
    ) -> (&Store, &mut Store) {
        self.gaps += usize::from(!is_update);
        // Most stores come last. The fields are written in place: a copy would wait for the narrower writes before it.
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

    /// Continues the release sequence of the thread's last store before `position` with the store at `position`, as in
    /// C++11.
    #[cold]
    pub fn continue_release_sequence(&mut self, position: usize) {
        let (before, from) = self.stores.split_at_mut(position);
        let store = &mut from[0];
        let own = before.iter().rfind(|earlier| earlier.id.thread == store.id.thread);
        if let Some(own) = own {
            store.message.join(&own.message);
        }
    }

    /// Returns whether atomicity allows a store anywhere but at the end.
    #[inline]
    pub fn has_gap(&self) -> bool {
        self.gaps > 0
    }

    /// Returns the position of the newest store.
    #[inline]
    pub fn newest(&self) -> usize {
        self.stores.len() - 1
    }

    /// Returns the position of a store. Searches from the newest, the most likely one.
    pub fn position(&self, id: EventId) -> Option<usize> {
        self.stores.iter().rposition(|store| store.id == id)
    }

    /// Returns the oldest position that coherence allows as the source of an access after `clock`. It is the newest
    /// store that `clock` contains or contains a read of.
    #[inline]
    pub fn oldest_source(&self, clock: &Clock) -> usize {
        self.stores.iter().rposition(|store| store.is_observed(clock)).unwrap_or(0)
    }

    /// Returns the position of the newest store that `clock` contains.
    pub fn newest_contained(&self, clock: &Clock) -> usize {
        self.stores.iter().rposition(|store| clock.contains(store.id)).unwrap_or(0)
    }

    /// Returns whether atomicity allows a store right after `position`.
    #[inline]
    pub fn can_insert_after(&self, position: usize) -> bool {
        self.stores.get(position + 1).is_none_or(|next| !next.is_update)
    }
}

impl Store {
    /// An initial store that has not been read.
    const INITIAL: Store = Store {
        id: EventId::INITIAL,
        value: 0,
        is_update: false,
        message: Clock::EMPTY,
        first_reader: None,
        other_readers: Vec::new(),
        name: 0,
        sc_records: None,
    };

    /// Turns an initial store into that of another variable, which holds `value`.
    fn reset(&mut self, value: u64) {
        self.value = value;
        self.first_reader = None;
        self.other_readers.clear();
        self.name = 0;
        self.sc_records = None;
    }

    /// Returns whether `clock` contains the store or a read of it.
    #[inline]
    pub fn is_observed(&self, clock: &Clock) -> bool {
        clock.contains(self.id) || self.readers().any(|reader| clock.contains(reader))
    }

    /// Returns the first read of the store by each thread that has read it.
    #[inline]
    pub fn readers(&self) -> impl Iterator<Item = EventId> + '_ {
        self.first_reader.iter().chain(&self.other_readers).copied()
    }

    /// Adds a read.
    #[inline]
    pub fn add_reader(&mut self, by: EventId) {
        if self.first_reader.is_none() {
            self.first_reader = Some(by);
        } else if self.readers().all(|reader| reader.thread != by.thread) {
            self.other_readers.push(by);
        }
    }

    /// Returns the record of the store.
    #[inline]
    pub fn sc_record(&self) -> &ScRecord {
        self.sc_records.as_ref().map_or(&NO_RECORD, |records| &records.store)
    }

    /// Returns the records of the reads, by thread, in order.
    #[inline]
    pub fn sc_reads(&self) -> &[Vec<ScRecord>] {
        self.sc_records.as_ref().map_or(&[], |records| &records.reads)
    }

    /// Sets the record of the store.
    pub fn set_sc_record(&mut self, record: ScRecord) {
        self.sc_records.get_or_insert_default().store = record;
    }

    /// Adds the record of a read.
    pub fn add_sc_read(&mut self, by: ThreadId, mut record: ScRecord) {
        let reads = &mut self.sc_records.get_or_insert_default().reads;
        if reads.len() <= by.index() {
            reads.resize_with(by.index() + 1, Vec::new);
        }
        let reads = &mut reads[by.index()];
        let last = reads.last().map_or(0, |last| last.sc);
        record.sc = record.sc.max(last);
        reads.push(record);
    }
}
