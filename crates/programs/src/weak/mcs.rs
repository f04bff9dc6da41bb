//! The lock of Mellor-Crummey and Scott: threads stand in a queue, each waiting at a gate of its own that
//! the one before it opens.
//!
//! `mcslock`, as in the PCTWM paper, with the sections of the benchmark in C++: one thread writes in its first
//! section and reads in its second, the other reads and then writes. Nodes are made by sequentially
//! consistent stores, as constructors there do it; together that makes the 16 communication events of
//! the paper when nobody waits. In the bugged form the load that
//! waits at the gate and the one with which unlocking waits for a successor are relaxed. Whoever comes
//! through the gate does not synchronise with the section before: it has acquired from its
//! predecessor's place in the queue only, which was taken before that section. The sections race.
//!
//! `mcs-unlock`: one section each, in which a counter is counted up; the gate is opened by a relaxed store,
//! with the same result.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use super::{Failure, Instance, Model, Origin, Program, Published, Space, WAITING, exclude, join};

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
        write_and_read(Lock::new(instance, Orders { gate: wait, successor: wait, open: Release }));
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
        let lock = Lock::new(instance, Orders { gate: Acquire, successor: Acquire, open });
        exclude(instance, 2, move |me, section| {
            lock.hold(me + 1, section);
        });
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

/// Two threads with two sections each.
fn write_and_read(lock: Lock) {
    let instance = lock.instance;
    let shared = Arc::new((lock, Shared::new(0)));
    let threads = [1, 2].map(|me| {
        let shared = shared.clone();
        instance.spawn(move || {
            let (lock, data) = &*shared;
            lock.nodes[me].next.store(0, SeqCst);
            lock.nodes[me].closed.store(false, SeqCst);
            for section in [1, 2] {
                let holds = lock.hold(me, &|| {
                    if section == me {
                        data.set(17);
                    } else {
                        data.get();
                    }
                });
                // A thread that has given up still stands in the queue.
                if !holds {
                    return;
                }
            }
        })
    });
    join(threads.into());
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
    fn new(instance: Instance, orders: Orders) -> Lock {
        Lock { instance, orders, tail: AtomicUsize::new(0), nodes: Default::default() }
    }

    /// Does what is to be done under the lock; false if it gives up.
    fn hold(&self, me: usize, section: &dyn Fn()) -> bool {
        if !self.lock(me) {
            return false;
        }
        section();
        self.unlock(me)
    }

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
