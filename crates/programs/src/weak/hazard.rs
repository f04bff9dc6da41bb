//! A hazard pointer: a reader announces which node it is at, so that a writer that has replaced the node
//! does not free it.
//!
//! The reader announces a node and looks again whether it is still there; the writer replaces it and
//! looks whether it is announced. A sequentially consistent fence in each forbids that both read what was
//! before (store buffering). In the bugged form the reader's fence only acquires and releases: the
//! reader may read the old head and the writer no announcement, so that the node is freed while it is
//! read.

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
    /// The node that is in use.
    head: AtomicUsize,
    /// The node that the reader is at; zero is none.
    hazard: AtomicUsize,
    /// Number zero is nobody's.
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
        // Whoever reads this comes after the read of the node.
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
