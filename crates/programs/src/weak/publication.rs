//! Publication by pointer: a thread initialises a node and stores a pointer to it. Another loads the pointer and reads the
//! node.
//!
//! `publication`: the node is plain memory, and in the bugged form the pointer is stored relaxed. A thread that reads the
//! pointer does not synchronise, so its read of the node races with the write.
//!
//! `publication-atomic`: the node is a relaxed atomic, and in the bugged form the pointer is loaded relaxed. There is no
//! race, but nothing synchronises, so the load of the node may return the initial 0.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicU32, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, ONCE, Origin, Program, Space, join};

pub(super) const PLAIN: Program = Program {
    name: "publication",
    origin: Origin::Classic,
    about: "a plain node is published by a store of its pointer that does not release",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: ONCE,
    body: plain,
};

pub(super) const ATOMIC: Program = Program {
    name: "publication-atomic",
    origin: Origin::Classic,
    about: "a relaxed atomic is published; the load of its pointer does not acquire",
    failure: Failure::Assertion,
    model: Model::Rc11,
    space: Space::Small,
    threads: 3,
    tries: ONCE,
    body: atomic,
};

/// The number of the node.
const PLACE: usize = 1;
const READY: u32 = 42;

fn plain(instance: Instance) {
    let shared = Arc::new((AtomicUsize::new(0), [Shared::new(0), Shared::new(0)]));
    let writer = {
        let shared = shared.clone();
        instance.spawn(move || {
            let (pointer, nodes) = &*shared;
            nodes[PLACE].set(READY);
            pointer.store(PLACE, instance.order(Relaxed, Release));
        })
    };
    let reader = instance.spawn(move || {
        let (pointer, nodes) = &*shared;
        match pointer.load(Acquire) {
            0 => {}
            place => assert_eq!(nodes[place].get(), READY, "published before it was ready"),
        }
    });
    join(vec![writer, reader]);
}

fn atomic(instance: Instance) {
    let shared = Arc::new((AtomicUsize::new(0), [AtomicU32::new(0), AtomicU32::new(0)]));
    let writer = {
        let shared = shared.clone();
        instance.spawn(move || {
            let (pointer, nodes) = &*shared;
            nodes[PLACE].store(READY, Relaxed);
            pointer.store(PLACE, Release);
        })
    };
    let reader = instance.spawn(move || {
        let (pointer, nodes) = &*shared;
        match pointer.load(instance.order(Relaxed, Acquire)) {
            0 => {}
            place => assert_eq!(nodes[place].load(Relaxed), READY, "published before it was ready"),
        }
    });
    join(vec![writer, reader]);
}
