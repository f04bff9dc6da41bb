//! SafeStack: a lock-free stack of indices (published by Dmitry Vyukov as a puzzle for testers). Three
//! threads pop a node, write its value and push it back, twice each.
//!
//! If a node is popped, pushed and popped again while another thread is between its swap and its compare-exchange, two
//! threads own it. This takes five context switches. Or its link is lost, and the last thread searches for a second node
//! forever.
//!
//! The stack holds a pointer to its nodes, which is read whenever a node is used. No thread writes the pointer, but for
//! testers that see every access it is a scheduling point between the load of an index and the use of its node. Without it
//! SURW finds the bug half as often.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::atomic::{AtomicI32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const PROGRAM: Program = Program {
    name: "safestack",
    origin: Origin::SctBench,
    about: "a lock-free stack of indices; ABA lets two threads own one node",
    failure: Failure::Assertion,
    class: Class::Atomicity,
    granularity: Granularity::All,
    space: Space::Cyclic,
    size: Size { counts: "threads", least: 3, usual: 3, most: 8 },
    threads: |threads| threads + 1,
    body,
};

const TIMES: u32 = 2;

/// The next node while a thread pops or pushes a node, and after the last node.
const NONE: i32 = -1;

struct Stack {
    form: Form,
    /// The lock that the fixed form holds while it pops or pushes.
    lock: Mutex<()>,
    nodes: Vec<Node>,
    /// The start of the nodes: a pointer in the original, read whenever a node is used.
    base: Shared<usize>,
    head: AtomicI32,
    count: AtomicI32,
}

struct Node {
    value: Shared<u32>,
    next: AtomicI32,
}

fn body(form: Form, threads: u32) {
    let node = |index: u32| {
        let next = if index + 1 == threads { NONE } else { index as i32 + 1 };
        Node { value: Shared::new(0), next: AtomicI32::new(next) }
    };
    let stack = Arc::new(Stack {
        form,
        lock: Mutex::new(()),
        nodes: (0..threads).map(node).collect(),
        base: Shared::new(0),
        head: AtomicI32::new(0),
        count: AtomicI32::new(threads as i32),
    });
    let handles = (1..=threads).map(|me| {
        let stack = stack.clone();
        thread::spawn(move || {
            for _ in 0..TIMES {
                stack.borrow_node(me);
            }
        })
    });
    join_all(handles.collect());
}

impl Stack {
    /// Pops a node, marks it as owned by the thread, and pushes it back.
    fn borrow_node(&self, me: u32) {
        let node = loop {
            match self.pop() {
                Some(node) => break node,
                None => thread::yield_now(),
            }
        };
        self.node(node).value.set(me);
        let owner = self.node(node).value.get();
        assert_eq!(owner, me, "two threads own node {node}");
        self.push(node);
    }

    fn node(&self, index: i32) -> &Node {
        &self.nodes[self.base.get() + index as usize]
    }

    fn pop(&self) -> Option<i32> {
        let _guard = self.form.guard(&self.lock);
        while self.count.load(SeqCst) > 1 {
            let head = self.head.load(SeqCst);
            let after = self.node(head).next.swap(NONE, SeqCst);
            if after >= 0 {
                if self.head.compare_exchange(head, after, SeqCst, SeqCst).is_ok() {
                    self.count.fetch_sub(1, SeqCst);
                    return Some(head);
                }
                self.node(head).next.swap(after, SeqCst);
            } else {
                thread::yield_now();
            }
        }
        None
    }

    fn push(&self, node: i32) {
        let _guard = self.form.guard(&self.lock);
        let mut head = self.head.load(SeqCst);
        loop {
            self.node(node).next.store(head, SeqCst);
            match self.head.compare_exchange(head, node, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(other) => head = other,
            }
        }
        self.count.fetch_add(1, SeqCst);
    }
}
