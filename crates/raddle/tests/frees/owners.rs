//! Pointers to nodes whose owner frees them.

use std::ptr;

use raddle::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering::*};
use raddle::sync::{Arc, Mutex};
use raddle::{cell, thread};

use super::{Does, check};

struct Node {
    value: AtomicU32,
}

fn node(value: u32) -> *mut Node {
    Box::into_raw(Box::new(Node { value: AtomicU32::new(value) }))
}

/// Frees a node.
///
/// # Safety
/// The programs that are wrong break the rule: no other thread uses the node.
unsafe fn free(node: *mut Node) {
    // SAFETY: the nodes are boxes; the rest is what raddle checks.
    drop(unsafe { Box::from_raw(node) });
}

fn value(node: *mut Node) -> u32 {
    // SAFETY: the memory is there until the execution ends; whether the node is, raddle checks.
    unsafe { (*node).value.load(Acquire) }
}

/// A reader may still use the node that was replaced.
fn replaced(is_right: bool) {
    let shared = Arc::new(AtomicPtr::new(node(7)));
    let reader = thread::spawn({
        let shared = shared.clone();
        move || value(shared.load(Acquire))
    });
    let old = shared.swap(node(8), AcqRel);
    if !is_right {
        // SAFETY: broken.
        unsafe { free(old) };
    }
    let seen = reader.join().unwrap();
    assert!(seen == 7 || seen == 8, "read {seen}");
    if is_right {
        // SAFETY: the reader has ended.
        unsafe { free(old) };
    }
    // SAFETY: the reader has ended.
    unsafe { free(shared.load(Acquire)) };
}

#[test]
fn a_replaced_node_is_freed_at_once() {
    check(Does::UseAfterFree, || replaced(false));
    check(Does::Right, || replaced(true));
}

/// Two threads take the node: one load and one store each, or one swap.
fn taken(is_right: bool) {
    let shared = Arc::new(AtomicPtr::new(node(7)));
    let take = move |shared: &AtomicPtr<Node>| {
        let taken = if is_right {
            shared.swap(ptr::null_mut(), AcqRel)
        } else {
            let taken = shared.load(Acquire);
            shared.store(ptr::null_mut(), Release);
            taken
        };
        if !taken.is_null() {
            // SAFETY: broken if `is_right` is false.
            unsafe { free(taken) };
        }
    };
    let other = thread::spawn({
        let shared = shared.clone();
        move || take(&shared)
    });
    take(&shared);
    other.join().unwrap();
}

#[test]
fn two_threads_free_one_node() {
    check(Does::FreesTwice, || taken(false));
    check(Does::Right, || taken(true));
}

/// The owner frees the mutex that another thread has unlocked, or may still hold.
fn locked(is_right: bool) {
    let lock = Box::into_raw(Box::new(Mutex::new(0)));
    let address = lock as usize;
    let done = Arc::new(AtomicBool::new(false));
    let other = thread::spawn({
        let done = done.clone();
        move || {
            // SAFETY: as in `value`.
            let lock = unsafe { &*(address as *const Mutex<u32>) };
            if is_right {
                *lock.lock().unwrap() += 1;
                done.store(true, Release);
            } else {
                done.store(true, Release);
                *lock.lock().unwrap() += 1;
            }
        }
    });
    if done.load(Acquire) {
        // SAFETY: broken if `is_right` is false.
        drop(unsafe { Box::from_raw(lock) });
        other.join().unwrap();
    } else {
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        drop(unsafe { Box::from_raw(lock) });
    }
}

#[test]
fn a_mutex_is_freed_while_it_is_used() {
    check(Does::UseAfterFree, || locked(false));
    check(Does::Right, || locked(true));
}

/// A cell, whose accesses are no steps.
fn cell(order: std::sync::atomic::Ordering) {
    let cell = Box::into_raw(Box::new(cell::Shared::new(7)));
    let address = cell as usize;
    let done = Arc::new(AtomicBool::new(false));
    let other = thread::spawn({
        let done = done.clone();
        move || {
            // SAFETY: as in `value`.
            let _ = unsafe { &*(address as *const cell::Shared<u32>) }.get();
            done.store(true, order);
        }
    });
    let is_done = done.load(Acquire);
    if !is_done {
        other.join().unwrap();
        // SAFETY: the other thread has ended.
        return drop(unsafe { Box::from_raw(cell) });
    }
    // SAFETY: broken if `order` does not release.
    drop(unsafe { Box::from_raw(cell) });
    other.join().unwrap();
}

#[test]
fn a_cell_is_freed_after_a_relaxed_store() {
    check(Does::UseAfterFree, || cell(Relaxed));
    check(Does::Right, || cell(Release));
}

/// An object that the execution did not use before it was freed.
#[test]
fn an_unused_object_is_used_after_its_end() {
    check(Does::UseAfterFree, || {
        let number = node(7);
        let address = number as usize;
        let other = thread::spawn(move || value(address as *mut Node));
        // SAFETY: broken.
        unsafe { free(number) };
        other.join().unwrap();
    });
}

/// One thread frees and uses, after all others were joined.
#[test]
fn one_thread_is_enough() {
    check(Does::UseAfterFree, || {
        let number = node(7);
        let other = thread::spawn(thread::yield_now);
        value(number);
        other.join().unwrap();
        // SAFETY: the node is used again, which is wrong.
        unsafe { free(number) };
        value(number);
    });
}
