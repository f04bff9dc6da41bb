//! SafeStack: a lock-free stack of indices (published by Dmitry Vyukov as a puzzle for testers). Three
//! threads pop a node, write its value and push it back, twice each.
//!
//! A node that is popped, pushed and popped again while another thread is between its swap and its
//! compare-exchange ends up owned by two: five switches at the right places.

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

/// What the next node is while a thread is at work on a node, and after the last one.
const NONE: i32 = -1;

struct Stack {
    form: Form,
    /// What the fixed form holds on to while it pops or pushes.
    lock: Mutex<()>,
    nodes: Vec<Node>,
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
    /// Pops a node, marks it as mine for a while, and pushes it back.
    fn borrow_node(&self, me: u32) {
        let node = loop {
            match self.pop() {
                Some(node) => break node,
                None => thread::yield_now(),
            }
        };
        let value = &self.nodes[node as usize].value;
        value.set(me);
        assert_eq!(value.get(), me, "two threads own node {node}");
        self.push(node);
    }

    fn pop(&self) -> Option<i32> {
        let _guard = self.form.guard(&self.lock);
        while self.count.load(SeqCst) > 1 {
            let head = self.head.load(SeqCst);
            let next = &self.nodes[head as usize].next;
            let after = next.swap(NONE, SeqCst);
            if after >= 0 {
                if self.head.compare_exchange(head, after, SeqCst, SeqCst).is_ok() {
                    self.count.fetch_sub(1, SeqCst);
                    return Some(head);
                }
                next.swap(after, SeqCst);
            }
            thread::yield_now();
        }
        None
    }

    fn push(&self, node: i32) {
        let _guard = self.form.guard(&self.lock);
        let mut head = self.head.load(SeqCst);
        loop {
            self.nodes[node as usize].next.store(head, SeqCst);
            match self.head.compare_exchange(head, node, SeqCst, SeqCst) {
                Ok(_) => break,
                Err(other) => head = other,
            }
            thread::yield_now();
        }
        self.count.fetch_add(1, SeqCst);
    }
}
