//! Treiber's stack: a linked list whose head is changed by compare-exchange. Each of two threads pushes an item and pops
//! one. Nodes are not reused.
//!
//! Pushing releases the node, and popping acquires it by loading the head. (Popping itself need not release: as a
//! read-modify-write it continues the release sequences of earlier pushes.) In the bugged form pushing is relaxed. The
//! other thread pops a node without synchronising with the writes of its link and item, and its reads race with them.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, Origin, Program, RETRYING, Space, join};

pub(super) const PROGRAM: Program = Program {
    name: "treiber",
    origin: Origin::Classic,
    about: "two threads push and pop; pushing does not release",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: RETRYING,
    body,
};

struct Stack {
    instance: Instance,
    head: AtomicUsize,
    /// The nodes. Number zero is the end of the list.
    nodes: [Node; 3],
}

#[derive(Default)]
struct Node {
    item: Shared<u32>,
    next: Shared<usize>,
}

fn body(instance: Instance) {
    let stack = Arc::new(Stack { instance, head: AtomicUsize::new(0), nodes: Default::default() });
    let threads = [1, 2]
        .map(|mine| {
            let stack = stack.clone();
            instance.spawn(move || {
                stack.push(mine, mine as u32);
                stack.pop()
            })
        })
        .into();
    let items: Vec<_> = join(threads).into_iter().flatten().collect();
    assert!(!items.contains(&0), "{items:?} were never pushed");
    assert!(items.len() < 2 || items[0] != items[1], "{items:?}: an item was popped twice");
}

impl Stack {
    fn push(&self, node: usize, item: u32) {
        self.nodes[node].item.set(item);
        let mut head = self.head.load(Relaxed);
        self.instance.wait(|| {
            self.nodes[node].next.set(head);
            let order = self.instance.order(Relaxed, Release);
            match self.head.compare_exchange(head, node, order, Relaxed) {
                Ok(_) => true,
                Err(now) => {
                    head = now;
                    false
                }
            }
        });
    }

    fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(Acquire);
        self.instance.retry(|| {
            if head == 0 {
                return None;
            }
            let next = self.nodes[head].next.get();
            match self.head.compare_exchange(head, next, Relaxed, Acquire) {
                Ok(_) => Some(self.nodes[head].item.get()),
                Err(now) => {
                    head = now;
                    None
                }
            }
        })
    }
}
