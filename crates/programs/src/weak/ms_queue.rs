//! The queue of Michael and Scott: a linked list with a dummy node. A node is linked to the last one by a compare-exchange,
//! and a thread that finds the tail behind advances it. Each of two threads enqueues an item and dequeues one. The link of a
//! node that has not been enqueued is poison.
//!
//! `msqueue`, as in the PCTWM paper: in the bugged form a node is linked by a relaxed store, and the tail is loaded relaxed.
//! A thread that reads the other's node synchronises with nothing. Its load of the node's link may return the initial
//! poison, its load of the head's link may be older than the tail, and its read of the item races with the write. No
//! communication is needed: a failed compare-exchange returns the new tail.
//!
//! `ms-queue`: only linking is relaxed. A thread that finds the node by its link before the tail is advanced has not
//! acquired the item, nor earlier writes. Its read of the item races, and if it advances the tail itself and continues from
//! there, it may read poison.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicUsize,
    Ordering::{self, Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, Origin, Program, Published, RETRYING, Space, join};

pub(super) const PCTWM: Program = Program {
    name: "msqueue",
    origin: Origin::Pctwm(Published {
        events: 49,
        communication: 31,
        depth: 0,
        by_depth: [(100.0, 1), (100.0, 1), (100.0, 1)],
        by_history: (0, [100.0; 4]),
    }),
    about: "two threads enqueue and dequeue; nodes are linked and the tail is loaded relaxed",
    failure: Failure::Either,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: RETRYING,
    body: |instance| {
        let (link, tail) = (instance.order(Relaxed, Release), instance.order(Relaxed, Acquire));
        run(instance, Orders { link, tail });
    },
};

pub(super) const LINK: Program = Program {
    name: "ms-queue",
    origin: Origin::Classic,
    about: "two threads enqueue and dequeue; linking a node does not release",
    failure: Failure::Either,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: RETRYING,
    body: |instance| {
        let link = instance.order(Relaxed, Release);
        run(instance, Orders { link, tail: Acquire });
    },
};

const NONE: usize = 0;
const FIRST: usize = 1;
const POISON: usize = usize::MAX;

/// The orderings that differ between the forms.
struct Orders {
    /// The compare-exchange that links a node to the last one.
    link: Ordering,
    /// The load of the tail.
    tail: Ordering,
}

struct Queue {
    instance: Instance,
    orders: Orders,
    /// The node before the first item.
    head: AtomicUsize,
    /// The last node, or one before it.
    tail: AtomicUsize,
    nodes: [Node; 4],
}

struct Node {
    item: Shared<u32>,
    next: AtomicUsize,
}

fn run(instance: Instance, orders: Orders) {
    let node = |next| Node { item: Shared::new(0), next: AtomicUsize::new(next) };
    let queue = Arc::new(Queue {
        instance,
        orders,
        head: AtomicUsize::new(FIRST),
        tail: AtomicUsize::new(FIRST),
        nodes: [node(POISON), node(NONE), node(POISON), node(POISON)],
    });
    let threads = [2, 3]
        .map(|mine| {
            let queue = queue.clone();
            instance.spawn(move || {
                queue.enqueue(mine, mine as u32);
                queue.dequeue()
            })
        })
        .into();
    let items: Vec<_> = join(threads).into_iter().flatten().collect();
    assert!(items.iter().all(|item| [2, 3].contains(item)), "{items:?} were never enqueued");
    assert!(items.len() < 2 || items[0] != items[1], "{items:?}: an item was dequeued twice");
}

impl Queue {
    fn enqueue(&self, node: usize, item: u32) {
        self.nodes[node].item.set(item);
        self.nodes[node].next.store(NONE, Relaxed);
        self.instance.wait(|| {
            let tail = self.tail.load(self.orders.tail);
            let next = &self.nodes[tail].next;
            let last = match next.load(Acquire) {
                NONE => match next.compare_exchange(NONE, node, self.orders.link, Acquire) {
                    Ok(_) => node,
                    Err(other) => other,
                },
                other => other,
            };
            assert_ne!(last, POISON, "node {tail} is not ready");
            self.advance_tail(tail, last);
            last == node
        });
    }

    fn dequeue(&self) -> Option<u32> {
        self.instance.retry(|| {
            let head = self.head.load(Acquire);
            let tail = self.tail.load(self.orders.tail);
            let next = self.nodes[head].next.load(Acquire);
            assert_ne!(next, POISON, "node {head} is not ready");
            if head == tail {
                // The thread's own item is in the queue until one of the threads takes it, so the queue is not empty.
                if next != NONE {
                    self.advance_tail(tail, next);
                }
                return None;
            }
            assert_ne!(next, NONE, "the queue ends at node {head}, before its tail");
            let item = self.nodes[next].item.get();
            self.head.compare_exchange(head, next, Release, Relaxed).ok().map(|_| item)
        })
    }

    fn advance_tail(&self, tail: usize, last: usize) {
        // If this fails, another thread was faster.
        let _ = self.tail.compare_exchange(tail, last, Release, Relaxed);
    }
}
