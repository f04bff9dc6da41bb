//! A hazard pointer: a reader announces the node that it reads, so that a writer that has replaced the node does not free
//! it.
//!
//! The reader announces a node and tests again whether it is current. The writer replaces the node and tests whether it is
//! announced. A sequentially consistent fence in each forbids that both read the old value (store buffering). In the bugged
//! form the reader's fence is only acquire-release. The reader may read the old head and the writer no announcement, so the
//! node is freed while it is read.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicUsize,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};

use super::{Failure, Instance, Model, Origin, Program, RETRYING, Space, join};

pub(super) const PROGRAM: Program = Program {
    name: "hazard",
    origin: Origin::Classic,
    about: "hazard pointer; the reader's fence after announcing it is not sequentially consistent",
    failure: Failure::Either,
    model: Model::Rc11,
    space: Space::Small,
    threads: 3,
    tries: RETRYING,
    body,
};

const FREED: u32 = 0;

struct List {
    /// The current node.
    head: AtomicUsize,
    /// The node that the reader announces, or zero.
    hazard: AtomicUsize,
    /// The nodes. Number zero is unused.
    nodes: [Shared<u32>; 3],
}

fn body(instance: Instance) {
    let list = Arc::new(List {
        head: AtomicUsize::new(1),
        hazard: AtomicUsize::new(0),
        nodes: [Shared::new(FREED), Shared::new(1), Shared::new(FREED)],
    });
    let reader = {
        let list = list.clone();
        instance.spawn(move || list.read(instance))
    };
    let writer = instance.spawn(move || list.replace());
    join(vec![reader, writer]);
}

impl List {
    fn read(&self, instance: Instance) {
        let protected = instance.retry(|| {
            let node = self.head.load(Relaxed);
            self.hazard.store(node, Relaxed);
            fence(instance.order(AcqRel, SeqCst));
            (self.head.load(Acquire) == node).then_some(node)
        });
        if let Some(node) = protected {
            assert_ne!(self.nodes[node].get(), FREED, "node {node} is read after it was freed");
        }
        // A thread that reads this store is ordered after the read of the node.
        self.hazard.store(0, Release);
    }

    fn replace(&self) {
        self.nodes[2].set(2);
        let old = self.head.swap(2, AcqRel);
        fence(SeqCst);
        if self.hazard.load(Acquire) != old {
            self.nodes[old].set(FREED);
        }
    }
}
