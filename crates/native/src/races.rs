//! Data races, found while a run is under way.
//!
//! Each word of memory remembers the accesses that a later one could race with: thread, time of the thread, bytes. Only
//! the two accesses of the first race become part of the trace, where the session's analysis finds them again. An
//! atomic access races with plain ones.
//!
//! Under sequential consistency the clocks are computed here, from the events. Under RC11 they are the memory model's,
//! because they depend on which stores were read.
//!
//! Allocating a block writes it: an access of another thread must come after that, and so must freeing it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use raddle_core::{Action, AtomicOp, Effect, Event, PlainAccess, Site, ThreadId, Trace};
use raddle_engine::causality::{Causality, Clock};

use crate::drive::Drive;
use crate::heap::{self, Block, Heap, Moment};

const WORD: usize = 8;

/// What an access does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Access {
    pub(crate) address: usize,
    pub(crate) size: usize,
    pub(crate) writes: bool,
    pub(crate) is_atomic: bool,
    /// Whether it is a scheduling point. Two of them are events, whose race is in the trace anyway.
    pub(crate) is_point: bool,
    pub(crate) site: Site,
}

/// An access to a word that later ones could race with.
#[derive(Copy, Clone, Debug)]
struct Cell {
    thread: ThreadId,
    /// The time of the thread.
    time: u32,
    /// The bytes of the word, one bit for each.
    bytes: u8,
    writes: bool,
    is_atomic: bool,
    is_point: bool,
    site: Site,
    /// The number of events before the access.
    after: usize,
}

/// Two accesses that race, and the first address that both access.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Race {
    pub(crate) address: usize,
    pub(crate) first: Half,
    pub(crate) second: Half,
}

/// One of two accesses that race.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Half {
    thread: ThreadId,
    after: usize,
    writes: bool,
    site: Site,
}

impl Half {
    fn of(moment: Moment, writes: bool) -> Half {
        let Moment { thread, after, site, .. } = moment;
        Half { thread, after, writes, site }
    }

    /// Returns the access to an object.
    pub(crate) fn on(self, object: raddle_core::ObjectId) -> PlainAccess {
        let Half { thread, after, writes, site } = self;
        PlainAccess { thread, after, object, writes, site }
    }
}

/// Returns when the block was allocated that contains an address.
fn allocation(address: usize, heap: &Heap) -> Option<Moment> {
    if !heap::contains(address) {
        return None;
    }
    heap.block(address).map(|block| block.allocated)
}

/// Hashes addresses of words.
#[derive(Default)]
struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_usize(&mut self, word: usize) {
        let mixed = (word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }
}

/// The clocks of the threads, if the memory model does not know them.
#[derive(Default)]
struct Times {
    causality: Causality,
    /// The number of events that the clocks contain.
    seen: usize,
    /// By object: what its newest store carries.
    carried: Vec<Clock>,
}

/// The detector of one run.
#[derive(Default)]
pub(crate) struct Races {
    times: Times,
    words: HashMap<usize, Vec<Cell>, BuildHasherDefault<WordHasher>>,
}

impl Races {
    /// Forgets everything, for a new run.
    pub(crate) fn clear(&mut self) {
        self.times.causality.reset();
        self.times.seen = 0;
        self.times.carried.clear();
        self.words.clear();
    }

    /// Returns the present of a thread: when and where it is.
    pub(crate) fn moment(&mut self, thread: ThreadId, site: Site, engine: &dyn Drive) -> Moment {
        let (clock, after) = self.times.now(thread, engine);
        Moment { thread, time: clock.of(thread), after, site }
    }

    /// Notes an access of `thread`, which is about to happen. Returns the race with an earlier one, if there is one.
    pub(crate) fn access(
        &mut self,
        thread: ThreadId,
        access: Access,
        heap: &Heap,
        engine: &dyn Drive,
    ) -> Option<Race> {
        let (clock, after) = self.times.now(thread, engine);
        let time = clock.of(thread);
        let Access { address, size, writes, is_atomic, is_point, site } = access;
        if let Some(allocated) = allocation(address, heap)
            && allocated.thread != thread
            && clock.of(allocated.thread) < allocated.time
        {
            let first = Half::of(allocated, true);
            return Some(Race { address, first, second: Half { thread, after, writes, site } });
        }
        let end = address + size;
        let mut at = address;
        while at < end {
            let word = at / WORD;
            let stop = end.min((word + 1) * WORD);
            let (from, to) = (at % WORD, (stop - 1) % WORD);
            let bytes = (0xffu8 << from) & (0xff >> (WORD - 1 - to));
            let cells = self.words.entry(word).or_default();
            let is_ordered =
                |cell: &Cell| cell.thread == thread || clock.of(cell.thread) >= cell.time;
            let races = |cell: &&Cell| {
                cell.bytes & bytes != 0
                    && (cell.writes || writes)
                    && !(cell.is_atomic && is_atomic)
                    && !(cell.is_point && is_point)
                    && !is_ordered(cell)
            };
            if let Some(other) = cells.iter().find(races) {
                let shared = (other.bytes & bytes).trailing_zeros() as usize;
                return Some(Race {
                    address: word * WORD + shared,
                    first: Half {
                        thread: other.thread,
                        after: other.after,
                        writes: other.writes,
                        site: other.site,
                    },
                    second: Half { thread, after, writes, site },
                });
            }
            // Whatever races with an access that this one follows races with this one, if this one does as much.
            cells.retain(|cell| {
                let is_weaker = cell.bytes & !bytes == 0
                    && (writes || !cell.writes)
                    && (cell.is_atomic || !is_atomic)
                    && (cell.is_point || !is_point);
                !(is_weaker && is_ordered(cell))
            });
            cells.push(Cell { thread, time, bytes, writes, is_atomic, is_point, site, after });
            at = stop;
        }
        None
    }

    /// Returns the race of freeing a block, which writes all of it, with an earlier access. Later accesses are wrong
    /// anyway.
    pub(crate) fn free(
        &mut self,
        thread: ThreadId,
        block: &Block,
        site: Site,
        engine: &dyn Drive,
    ) -> Option<Race> {
        let (clock, after) = self.times.now(thread, engine);
        let now = Moment { thread, time: clock.of(thread), after, site };
        let is_ordered = |other: ThreadId, time: u32| other == thread || clock.of(other) >= time;
        let (first, end) = (block.first / WORD, (block.first + block.size).div_ceil(WORD));
        let races = |cells: &Vec<Cell>| {
            cells.iter().find(|cell| !is_ordered(cell.thread, cell.time)).copied()
        };
        // Whichever is shorter: the words of the block or the words that were accessed.
        let mut found: Vec<(usize, Cell)> = if end - first <= self.words.len() {
            let words = (first..end).filter_map(|word| Some((word, self.words.get(&word)?)));
            words.filter_map(|(word, cells)| Some((word, races(cells)?))).take(1).collect()
        } else {
            let words = self.words.iter().filter(|(word, _)| (first..end).contains(word));
            words.filter_map(|(&word, cells)| Some((word, races(cells)?))).collect()
        };
        found.sort_by_key(|&(word, _)| word);
        let second = Half::of(now, true);
        if let Some((word, cell)) = found.first() {
            let Cell { thread, after, writes, site, .. } = *cell;
            let first = Half { thread, after, writes, site };
            return Some(Race { address: (word * WORD).max(block.first), first, second });
        }
        let Moment { thread: allocator, time, .. } = block.allocated;
        let first = Half::of(block.allocated, true);
        (!is_ordered(allocator, time)).then_some(Race { address: block.first, first, second })
    }

    /// Forgets a block of memory: what is allocated there next is another object.
    pub(crate) fn forget(&mut self, address: usize, size: usize) {
        let (first, end) = (address / WORD, (address + size).div_ceil(WORD));
        // Whichever is shorter: the words of the block or the words that were accessed.
        if end - first > self.words.len() {
            return self.words.retain(|word, _| !(first..end).contains(word));
        }
        for word in first..end {
            self.words.remove(&word);
        }
    }
}

impl Times {
    /// Returns the clock of a thread, and the number of events so far.
    #[inline]
    fn now<'a>(&'a mut self, thread: ThreadId, engine: &'a dyn Drive) -> (&'a Clock, usize) {
        let trace = engine.trace();
        let after = trace.events.len();
        if let Some(clock) = engine.clock(thread) {
            return (clock, after);
        }
        if self.seen < after {
            self.catch_up(trace);
        }
        (&self.causality.thread(thread).clock, after)
    }

    /// Adds the events since the last call to the clocks.
    fn catch_up(&mut self, trace: &Trace) {
        for event in &trace.events[self.seen..] {
            match event.op.action() {
                Action::Atomic(op) => self.synchronise(op, event),
                Action::Cell(_) => self.causality.advance(event.id.thread),
                Action::Thread(_)
                | Action::Mutex(_)
                | Action::RwLock(_)
                | Action::Condvar(_)
                | Action::Barrier(_)
                | Action::Once(_)
                | Action::Park(_)
                | Action::Channel(_)
                | Action::Semaphore(_)
                | Action::Futex(_)
                | Action::Fence(_)
                | Action::Pause(_)
                | Action::Choose { .. } => self.causality.observe(event),
            }
        }
        self.seen = trace.events.len();
    }

    fn synchronise(&mut self, op: AtomicOp, event: &Event) {
        let (reads, writes) = match (op, event.effect) {
            (AtomicOp::Load { order }, _) => (Some(order), None),
            (AtomicOp::Store { order, .. }, _) => (None, Some(order)),
            (AtomicOp::Update { order, .. }, _) => (Some(order), Some(order)),
            (AtomicOp::CompareExchange { success, .. }, Effect::Exchanged(_)) => {
                (Some(success), Some(success))
            }
            (AtomicOp::CompareExchange { failure, .. }, _) => (Some(failure), None),
        };
        let index = event.op.object().index();
        if self.carried.len() <= index {
            self.carried.resize(index + 1, Clock::EMPTY);
        }
        let (thread, carried) = (self.causality.thread(event.id.thread), &mut self.carried[index]);
        if let Some(order) = reads {
            thread.read(order, carried);
        }
        if let Some(order) = writes {
            // A store starts a new release sequence; a read-modify-write continues the old one.
            if reads.is_none() {
                carried.clear();
            }
            carried.join(thread.message(order));
        }
        self.causality.advance(event.id.thread);
    }
}
