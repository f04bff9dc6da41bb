//! The lock of Mellor-Crummey and Scott: threads form a queue, and each waits at a gate of its own, which its predecessor
//! opens.
//!
//! `mcslock`, as in the PCTWM paper, with the critical sections of the benchmark in C++: one thread writes in its first
//! section and reads in its second, and the other reads and then writes. Nodes are initialised by sequentially consistent
//! stores, as by the constructors in C++. Together this gives the 16 communication events of the paper if no thread waits.
//! In the bugged form two loads are relaxed: the one that waits at the gate, and the one by which unlocking waits for a
//! successor. A thread that passes the gate does not synchronise with the previous section. It has only acquired its
//! predecessor's enqueueing, which is before that section. The sections race.
//!
//! `mcs-unlock`: each thread increments a counter in one section. In the bugged form the gate is opened by a relaxed store,
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
    about: "a queue of threads, each at its gate; passing the gate does not acquire",
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
            lock.with_lock(me + 1, section);
        });
    },
};

/// The orderings that differ between the forms.
#[derive(Clone, Copy)]
struct Orders {
    /// The load that waits at the gate.
    gate: Ordering,
    /// The load that waits for a known successor.
    successor: Ordering,
    /// The store that opens the gate of the successor.
    open: Ordering,
}

/// Runs two threads with two sections each.
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
                let holds = lock.with_lock(me, &|| {
                    if section == me {
                        data.set(17);
                    } else {
                        data.get();
                    }
                });
                // A thread that has given up is still in the queue.
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
    /// The last node in the queue, or zero.
    tail: AtomicUsize,
    /// The nodes of the threads. The first one is unused.
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

    /// Calls `section` under the lock. Returns false if the thread gives up.
    fn with_lock(&self, me: usize, section: &dyn Fn()) -> bool {
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
        // Releases the store that closes the gate, which must be ordered before the store that opens it.
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
