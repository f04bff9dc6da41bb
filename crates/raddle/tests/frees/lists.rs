//! Lock-free lists: a stack that frees at once, hazard pointers, and epochs.

use std::ptr;

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*, fence};
use raddle::thread;

use super::{Does, check};

struct Node {
    next: AtomicPtr<Node>,
}

/// How a popped node is freed.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Free {
    /// By the thread that popped it, at once.
    AtOnce,
    /// If the hazard pointers of the other thread do not name it; the thread checks its hazard pointer, or not.
    Hazards { checks: bool },
    /// After all threads were joined.
    AtTheEnd,
}

struct Stack {
    head: AtomicPtr<Node>,
    hazards: [AtomicPtr<Node>; 2],
    left: [AtomicPtr<Node>; 2],
}

impl Stack {
    fn new() -> Stack {
        let second = Box::into_raw(Box::new(Node { next: AtomicPtr::default() }));
        let first = Box::into_raw(Box::new(Node { next: AtomicPtr::new(second) }));
        let none = || [AtomicPtr::default(), AtomicPtr::default()];
        Stack { head: AtomicPtr::new(first), hazards: none(), left: none() }
    }

    fn pop(&self, me: usize, free: Free) {
        let popped = loop {
            let head = self.head.load(SeqCst);
            if head.is_null() {
                return;
            }
            if let Free::Hazards { checks } = free {
                self.hazards[me].store(head, SeqCst);
                fence(SeqCst);
                if checks && self.head.load(SeqCst) != head {
                    continue;
                }
            }
            // SAFETY: the memory is there until the execution ends; whether the node is, raddle checks.
            let next = unsafe { (*head).next.load(Acquire) };
            if self.head.compare_exchange(head, next, SeqCst, SeqCst).is_ok() {
                break head;
            }
        };
        self.hazards[me].store(ptr::null_mut(), SeqCst);
        let is_used = match free {
            Free::AtOnce => false,
            Free::Hazards { .. } => self.hazards[1 - me].load(SeqCst) == popped,
            Free::AtTheEnd => true,
        };
        if is_used {
            self.left[me].store(popped, Relaxed);
        } else {
            // SAFETY: this is what raddle checks.
            drop(unsafe { Box::from_raw(popped) });
        }
    }
}

fn stack(free: Free) {
    let stack = Arc::new(Stack::new());
    let other = thread::spawn({
        let stack = stack.clone();
        move || stack.pop(1, free)
    });
    stack.pop(0, free);
    other.join().unwrap();
    for left in &stack.left {
        let left = left.load(Relaxed);
        if !left.is_null() {
            // SAFETY: all threads have ended, and the node was popped by one of them.
            drop(unsafe { Box::from_raw(left) });
        }
    }
}

#[test]
fn a_stack_that_frees_at_once() {
    check(Does::Wrong, || stack(Free::AtOnce));
    check(Does::Right, || stack(Free::AtTheEnd));
}

#[test]
fn hazard_pointers_have_to_be_checked() {
    check(Does::Wrong, || stack(Free::Hazards { checks: false }));
    check(Does::Right, || stack(Free::Hazards { checks: true }));
}

/// A reader announces that it reads; the writer frees if it has seen no reader, before or after it replaced the node.
fn epoch(is_right: bool) {
    struct Epochs {
        reading: AtomicBool,
        shared: AtomicPtr<AtomicUsize>,
    }
    let new = |value| Box::into_raw(Box::new(AtomicUsize::new(value)));
    let epochs =
        Arc::new(Epochs { reading: AtomicBool::new(false), shared: AtomicPtr::new(new(1)) });
    let reader = thread::spawn({
        let epochs = epochs.clone();
        move || {
            epochs.reading.store(true, SeqCst);
            let node = epochs.shared.load(SeqCst);
            // SAFETY: as in `pop`.
            unsafe { (*node).load(Relaxed) };
            epochs.reading.store(false, SeqCst);
        }
    });
    let was_reading = epochs.reading.load(SeqCst);
    let old = epochs.shared.swap(new(2), SeqCst);
    let is_reading = if is_right { epochs.reading.load(SeqCst) } else { was_reading };
    if !is_reading {
        // SAFETY: this is what raddle checks.
        drop(unsafe { Box::from_raw(old) });
    }
    reader.join().unwrap();
    if is_reading {
        // SAFETY: the reader has ended.
        drop(unsafe { Box::from_raw(old) });
    }
    // SAFETY: the reader has ended.
    drop(unsafe { Box::from_raw(epochs.shared.load(SeqCst)) });
}

#[test]
fn an_epoch_is_read_after_the_node_is_replaced() {
    check(Does::UseAfterFree, || epoch(false));
    check(Does::Right, || epoch(true));
}
