//! Bounded queues for several producers and several consumers.
//!
//! `mpmcqueue`, as in the PCTWM paper: slots are claimed by a compare-exchange of a word that packs the numbers of slots
//! claimed for reading and for writing, and published by incrementing a count. Main adds one item, two threads write one
//! each, and two read until the queue is empty. In the bugged form publishing is a relaxed increment, and claiming for
//! reading does not release. A reader sees that its slot is written without synchronising with the writer, and races with
//! it. (Slots are published in order here. Otherwise a later slot can increment the count, and the program fails under
//! sequential consistency too.)
//!
//! `mpmc-ring`: Vyukov's ring, in which every slot has a sequence number. In the bugged form a producer publishes its slot
//! by a relaxed store of the number. A consumer that reads the right number has not acquired the item, and races with the
//! producer.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, Origin, Program, Published, RETRYING, Space, WAITING, join};

pub(super) const PACKED: Program = Program {
    name: "mpmcqueue",
    origin: Origin::Pctwm(Published {
        events: 19,
        communication: 17,
        depth: 2,
        by_depth: [(100.0, 1), (100.0, 1), (100.0, 1)],
        by_history: (2, [100.0; 4]),
    }),
    about: "slots are claimed in a packed word and published by a count, which does not release",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 5,
    tries: WAITING,
    body: packed,
};

pub(super) const RING: Program = Program {
    name: "mpmc-ring",
    origin: Origin::Classic,
    about: "every slot has a sequence number; a producer's store of it does not release",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: RETRYING,
    body: ring,
};

fn packed(instance: Instance) {
    let queue = Arc::new(Packed {
        instance,
        claimed: AtomicU32::new(0),
        read: AtomicU32::new(0),
        written: AtomicU32::new(0),
        slots: Default::default(),
    });
    queue.write(1);
    let mut threads = Vec::new();
    for item in 2..4 {
        let queue = queue.clone();
        threads.push(instance.spawn(move || {
            queue.write(item);
            Vec::new()
        }));
    }
    for _ in 0..2 {
        let queue = queue.clone();
        threads.push(instance.spawn(move || std::iter::from_fn(|| queue.read()).collect()));
    }
    assert_different(join(threads).concat());
}

/// Asserts that the items are different and that none is the initial 0.
fn assert_different(mut items: Vec<u32>) {
    let number = items.len();
    items.sort_unstable();
    items.dedup();
    assert!(
        items.len() == number && !items.contains(&0),
        "{number} items were read, of which {items:?} are different"
    );
}

struct Packed {
    instance: Instance,
    /// The number of slots claimed for reading in the upper half, and for writing in the lower.
    claimed: AtomicU32,
    /// The number of slots read.
    read: AtomicU32,
    /// The number of slots published.
    written: AtomicU32,
    slots: [Shared<u32>; 4],
}

const READ: u32 = 1 << 16;
const WRITTEN: u32 = READ - 1;

impl Packed {
    fn write(&self, item: u32) {
        let mut claimed = self.claimed.load(Acquire);
        let slot = self.instance.retry(|| {
            let (read, written) = (claimed / READ, claimed & WRITTEN);
            if written - read == self.slots.len() as u32 {
                claimed = self.claimed.load(Acquire);
                return None;
            }
            match self.claimed.compare_exchange(claimed, claimed + 1, AcqRel, Acquire) {
                Ok(_) => Some(written),
                Err(now) => {
                    claimed = now;
                    None
                }
            }
        });
        let Some(slot) = slot else { return };
        let free = || self.read.load(Acquire) + self.slots.len() as u32 > slot;
        if !self.instance.wait(free) {
            return;
        }
        self.slot(slot).set(item);
        if self.instance.wait(|| self.written.load(Relaxed) == slot) {
            self.written.fetch_add(1, self.instance.order(Relaxed, Release));
        }
    }

    /// Returns `None` if the queue is empty or the thread gives up.
    fn read(&self) -> Option<u32> {
        let claim = self.instance.order(Acquire, AcqRel);
        let mut claimed = self.claimed.load(Acquire);
        let slot = self.instance.retry(|| {
            let (read, written) = (claimed / READ, claimed & WRITTEN);
            if read == written {
                return Some(None);
            }
            match self.claimed.compare_exchange(claimed, claimed + READ, claim, Acquire) {
                Ok(_) => Some(Some(read)),
                Err(now) => {
                    claimed = now;
                    None
                }
            }
        })??;
        if !self.instance.wait(|| self.written.load(Acquire) > slot) {
            return None;
        }
        let item = self.slot(slot).get();
        if self.instance.wait(|| self.read.load(Relaxed) == slot) {
            self.read.fetch_add(1, Release);
        }
        Some(item)
    }

    fn slot(&self, number: u32) -> &Shared<u32> {
        &self.slots[number as usize % self.slots.len()]
    }
}

fn ring(instance: Instance) {
    let ring = Arc::new(Ring {
        instance,
        produced: AtomicU32::new(0),
        consumed: AtomicU32::new(0),
        slots: [0, 1].map(|number| Slot { number: AtomicU32::new(number), item: Shared::new(0) }),
    });
    let threads = [1, 2]
        .map(|item| {
            let ring = ring.clone();
            instance.spawn(move || {
                ring.produce(item);
                ring.consume()
            })
        })
        .into();
    assert_different(join(threads).into_iter().flatten().collect());
}

struct Ring {
    instance: Instance,
    produced: AtomicU32,
    consumed: AtomicU32,
    slots: [Slot; 2],
}

struct Slot {
    /// The position of the next producer of the slot, or one more if the slot can be consumed.
    number: AtomicU32,
    item: Shared<u32>,
}

impl Ring {
    fn produce(&self, item: u32) {
        if let Some(at) = self.claim(&self.produced, 0) {
            let slot = self.slot(at);
            slot.item.set(item);
            slot.number.store(at + 1, self.instance.order(Relaxed, Release));
        }
    }

    fn consume(&self) -> Option<u32> {
        let at = self.claim(&self.consumed, 1)?;
        let slot = self.slot(at);
        let item = slot.item.get();
        slot.number.store(at + self.slots.len() as u32, Release);
        Some(item)
    }

    /// Claims the next position, once the number of its slot is ahead of it by `ahead`.
    fn claim(&self, next: &AtomicU32, ahead: u32) -> Option<u32> {
        self.instance.retry(|| {
            let at = next.load(Relaxed);
            if self.slot(at).number.load(Acquire) != at + ahead {
                return None;
            }
            next.compare_exchange(at, at + 1, Relaxed, Relaxed).ok()
        })
    }

    fn slot(&self, at: u32) -> &Slot {
        &self.slots[at as usize % self.slots.len()]
    }
}
