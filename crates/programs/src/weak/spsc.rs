//! A ring buffer for one producer and one consumer: each has a counter that the other only reads.
//!
//! In the bugged form the consumer increments its counter by a relaxed store. A producer that finds a free slot by this
//! counter does not synchronise with the consumer's read of the slot. Its write races with that read, and the consumer may
//! read a later item.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, Origin, Program, Space, WAITING, join};

pub(super) const PROGRAM: Program = Program {
    name: "spsc-ring",
    origin: Origin::Classic,
    about: "three items go through two slots; the consumer frees slots without releasing",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: WAITING,
    body,
};

const ITEMS: usize = 3;

#[derive(Default)]
struct Ring {
    produced: AtomicUsize,
    consumed: AtomicUsize,
    slots: [Shared<usize>; 2],
}

fn body(instance: Instance) {
    let ring = Arc::new(Ring::default());
    let producer = {
        let ring = ring.clone();
        instance.spawn(move || {
            for item in 0..ITEMS {
                let room = || item - ring.consumed.load(Acquire) < ring.slots.len();
                if !instance.wait(room) {
                    return;
                }
                ring.slot(item).set(item);
                ring.produced.store(item + 1, Release);
            }
        })
    };
    let consumer = instance.spawn(move || {
        for item in 0..ITEMS {
            if !instance.wait(|| ring.produced.load(Acquire) > item) {
                return;
            }
            assert_eq!(ring.slot(item).get(), item, "an item is lost or out of order");
            ring.consumed.store(item + 1, instance.order(Relaxed, Release));
        }
    });
    join(vec![producer, consumer]);
}

impl Ring {
    fn slot(&self, item: usize) -> &Shared<usize> {
        &self.slots[item % self.slots.len()]
    }
}
