//! The queue of Michael and Scott: a linked list with a node before its first; a node is linked to the
//! last one by a compare-exchange, and the tail is swung after it by whoever finds it behind. Each of two
//! threads enqueues an item and dequeues one. The link of a node that nobody has enqueued is poison.
//!
//! `msqueue`, as in the PCTWM paper: in the bugged form a node is linked by a relaxed store, and the tail is
//! loaded relaxed. A thread that meets the other's node synchronises with nothing: its load of the
//! node's link may read the poison from before the node was made ready, its load of the head's link may be
//! out of date against the tail, and reading the item races with writing it. No communication is needed:
//! a failed compare-exchange shows the thread the new tail.
//!
//! `ms-queue`: only linking is relaxed. Whoever finds the node by its link before the tail is swung has not
//! acquired the item, nor what came before it: reading the item races, and a thread that swings the tail
//! itself and goes on from there may read poison.

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

/// Orderings that differ.
struct Orders {
    /// Linking a node to the last one.
    link: Ordering,
    /// Loading the tail.
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
            self.swing(tail, last);
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
                // Its own item is there until it or the other thread takes one: it is not empty for long.
                if next != NONE {
                    self.swing(tail, next);
                }
                return None;
            }
            assert_ne!(next, NONE, "the queue ends at node {head}, before its tail");
            let item = self.nodes[next].item.get();
            self.head.compare_exchange(head, next, Release, Relaxed).ok().map(|_| item)
        })
    }

    fn swing(&self, tail: usize, last: usize) {
        // If it fails another thread was faster.
        let _ = self.tail.compare_exchange(tail, last, Release, Relaxed);
    }
}
