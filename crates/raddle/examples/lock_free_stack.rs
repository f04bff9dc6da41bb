//! A stack of numbered nodes whose top is one atomic variable. Bug (ABA): between reading the top and
//! replacing it, the node can be popped and pushed again, with another node below it; the
//! compare-exchange cannot tell. Fixed with a count of changes beside the number of the node.
//!
//! ```sh
//! cargo run -p raddle --example lock_free_stack
//! ```

mod support;

use raddle::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use raddle::thread;

/// No node.
const NONE: u32 = u32::MAX;

/// Whether the top counts how often it was changed.
#[derive(Copy, Clone)]
enum Top {
    Bare,
    Counted,
}

struct Stack {
    /// The node at the top, and above its 32 bits how often it was changed.
    top: AtomicU64,
    /// The node below each.
    below: [AtomicU32; 3],
    kind: Top,
}

impl Stack {
    /// The nodes 0, 1 and 2, with 0 at the top.
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

/// One thread takes two nodes and puts the first back, while another takes one.
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
        assert!(!taken.contains(&node), "node {node} was taken twice");
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
    support::assert_panic(bugged, "was taken twice");
    support::assert_clean(fixed);
}
