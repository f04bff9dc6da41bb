//! A stack of numbered nodes whose top is one atomic variable. Bug (ABA): between a load of the top and the
//! compare-exchange, the node can be popped and pushed again, with another node below it. The compare-exchange does not
//! detect this. Fixed with a version number next to the number of the node.
//!
//! ```sh
//! cargo run -p raddle --example lock_free_stack
//! ```

mod support;

use raddle::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use raddle::thread;

/// No node.
const NONE: u32 = u32::MAX;

/// Whether the top has a version number.
#[derive(Copy, Clone)]
enum Top {
    Bare,
    Counted,
}

struct Stack {
    /// The number of the node at the top in the lower 32 bits, and the version above.
    top: AtomicU64,
    /// The node below each node.
    below: [AtomicU32; 3],
    kind: Top,
}

impl Stack {
    /// Returns a stack of the nodes 0, 1 and 2, with 0 at the top.
    fn new(kind: Top) -> Stack {
        Stack { top: AtomicU64::new(0), below: [1, 2, NONE].map(AtomicU32::new), kind }
    }

    fn changed(&self, seen: u64, node: u32) -> u64 {
        let count = match self.kind {
            Top::Bare => 0,
            Top::Counted => (seen >> 32) + 1,
        };
        count << 32 | u64::from(node)
    }

    fn pop(&self) -> Option<u32> {
        let mut seen = self.top.load(SeqCst);
        loop {
            let node = seen as u32;
            if node == NONE {
                return None;
            }
            let below = self.below[node as usize].load(SeqCst);
            let new = self.changed(seen, below);
            match self.top.compare_exchange(seen, new, SeqCst, SeqCst) {
                Ok(_) => return Some(node),
                Err(now) => seen = now,
            }
        }
    }

    fn push(&self, node: u32) {
        let mut seen = self.top.load(SeqCst);
        loop {
            self.below[node as usize].store(seen as u32, SeqCst);
            let new = self.changed(seen, node);
            match self.top.compare_exchange(seen, new, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}

/// One thread pops two nodes and pushes the first again, while another thread pops one.
fn pops_and_pushes(kind: Top) {
    let stack = Stack::new(kind);
    let mut taken = thread::scope(|scope| {
        let other = scope.spawn(|| stack.pop());
        let first = stack.pop();
        let second = stack.pop();
        if let Some(first) = first {
            stack.push(first);
        }
        [second, other.join().unwrap()].into_iter().flatten().collect::<Vec<_>>()
    });
    while let Some(node) = stack.pop() {
        assert!(!taken.contains(&node), "node {node} was popped twice");
        taken.push(node);
    }
    taken.sort_unstable();
    assert_eq!(taken, [0, 1, 2]);
}

fn bugged() {
    pops_and_pushes(Top::Bare);
}

fn fixed() {
    pops_and_pushes(Top::Counted);
}

fn main() {
    support::show("lock-free stack", bugged, fixed);
}

#[test]
fn the_bug_is_found_and_fixed() {
    support::assert_panic(bugged, "was popped twice");
    support::assert_clean(fixed);
}
