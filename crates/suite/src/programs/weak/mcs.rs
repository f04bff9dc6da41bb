//! The lock of Mellor-Crummey and Scott: threads stand in a queue, each waiting at a gate of its own that
//! the one before it opens.
//!
//! `mcslock`, as in the PCTWM paper: two threads with two sections each. In the bugged form the load that
//! waits at the gate and the one with which unlocking waits for a successor are relaxed. Whoever comes
//! through the gate does not synchronise with the section before: it has acquired from its
//! predecessor's place in the queue only, which was taken before that section. The sections race.
//!
//! `mcs-unlock`: one section each; the gate is opened by a relaxed store, with the same result.

use raddle::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{self, AcqRel, Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, Origin, Program, Published, Space, WAITING, exclude};

pub(super) const GATE: Program = Program {
    name: "mcslock",
    origin: Origin::Pctwm(Published {
        events: 26,
        communication: 16,
        depth: 1,
        by_depth: [(100.0, 1), (100.0, 1), (100.0, 1)],
        by_history: (1, [100.0; 4]),
    }),
    about: "a queue of threads, each at its gate; coming through the gate does not acquire",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: WAITING,
    body: |instance| {
        let wait = instance.order(Relaxed, Acquire);
        run(instance, 2, Orders { gate: wait, successor: wait, open: Release });
    },
};

pub(super) const UNLOCK: Program = Program {
    name: "mcs-unlock",
    origin: Origin::Classic,
    about: "a queue of threads, each at its gate; opening the gate does not release",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: WAITING,
    body: |instance| {
        let open = instance.order(Relaxed, Release);
        run(instance, 1, Orders { gate: Acquire, successor: Acquire, open });
    },
};

/// Orderings that differ.
#[derive(Clone, Copy)]
struct Orders {
    /// Waiting at the gate.
    gate: Ordering,
    /// Waiting for a successor that is known to come.
    successor: Ordering,
    /// Opening the gate of the successor.
    open: Ordering,
}

fn run(instance: Instance, sections: u32, orders: Orders) {
    let lock = Lock { instance, orders, tail: AtomicUsize::new(0), nodes: Default::default() };
    exclude(instance, 2, move |me, section| {
        for _ in 0..sections {
            // A thread that has given up still stands in the queue.
            if !lock.lock(me + 1) {
                return;
            }
            section();
            if !lock.unlock(me + 1) {
                return;
            }
        }
    });
}

struct Lock {
    instance: Instance,
    orders: Orders,
    /// The last in the queue; zero is nobody.
    tail: AtomicUsize,
    /// The threads' own, the first of them nobody's.
    nodes: [Node; 3],
}

#[derive(Default)]
struct Node {
    next: AtomicUsize,
    closed: AtomicBool,
}

impl Lock {
    fn lock(&self, me: usize) -> bool {
        let node = &self.nodes[me];
        node.next.store(0, Relaxed);
        node.closed.store(true, Relaxed);
        let before = self.tail.swap(me, AcqRel);
        if before == 0 {
            return true;
        }
        // Releases the closing of the gate: it must not come after its opening.
        self.nodes[before].next.store(me, Release);
        self.instance.wait(|| !node.closed.load(self.orders.gate))
    }

    fn unlock(&self, me: usize) -> bool {
        let next = &self.nodes[me].next;
        let mut successor = next.load(Acquire);
        if successor == 0 {
            if self.tail.compare_exchange(me, 0, AcqRel, Acquire).is_ok() {
                return true;
            }
            let waited = self.instance.retry(|| {
                let successor = next.load(self.orders.successor);
                (successor != 0).then_some(successor)
            });
            let Some(waited) = waited else { return false };
            successor = waited;
        }
        self.nodes[successor].closed.store(false, self.orders.open);
        true
    }
}
