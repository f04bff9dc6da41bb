//! A ticket lock: threads draw numbers and are served in their order.
//!
//! In the bugged form the lock is passed on by a relaxed store. The next thread reads it without synchronising with the
//! previous section, so the accesses in both race.

use raddle::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, Origin, Program, Space, WAITING, exclude};

pub(super) const PROGRAM: Program = Program {
    name: "ticket-lock",
    origin: Origin::Classic,
    about: "threads are served in the order of their tickets; unlocking does not release",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 4,
    tries: WAITING,
    body,
};

fn body(instance: Instance) {
    let (next, serving) = (AtomicU32::new(0), AtomicU32::new(0));
    exclude(instance, 3, move |_, section| {
        // The modification order alone makes tickets unique.
        let ticket = next.fetch_add(1, Relaxed);
        if instance.wait(|| serving.load(Acquire) == ticket) {
            section();
            serving.store(ticket + 1, instance.order(Relaxed, Release));
        }
    });
}
