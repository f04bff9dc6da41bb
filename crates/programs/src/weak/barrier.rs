//! A spinning barrier, as in the PCTWM paper: one thread writes before the barrier, three read after it.
//!
//! The last thread to arrive starts a new step, for which the others wait. In the bugged form it does so by a relaxed
//! increment. A reader that arrived before the writer reads only the step, which synchronises with nothing. Its read races
//! with the write, and under RC11 may return 0.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicU32,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, Origin, Program, Published, Space, WAITING, join};

pub(super) const PROGRAM: Program = Program {
    name: "barrier",
    origin: Origin::Pctwm(Published {
        events: 15,
        communication: 10,
        depth: 1,
        by_depth: [(77.8, 2), (78.7, 3), (75.9, 2)],
        by_history: (2, [74.8, 75.1, 76.7, 78.7]),
    }),
    about: "one thread writes, three read after a spinning barrier; the last thread to arrive does not release",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 5,
    tries: WAITING,
    body,
};

const READERS: u32 = 3;

struct Barrier {
    instance: Instance,
    waiting: AtomicU32,
    step: AtomicU32,
    data: Shared<u32>,
}

fn body(instance: Instance) {
    let barrier = Arc::new(Barrier {
        instance,
        waiting: AtomicU32::new(0),
        step: AtomicU32::new(0),
        data: Shared::new(0),
    });
    let mut threads = Vec::new();
    threads.push({
        let barrier = barrier.clone();
        instance.spawn(move || {
            barrier.data.set(1);
            barrier.wait();
        })
    });
    for _ in 0..READERS {
        let barrier = barrier.clone();
        threads.push(instance.spawn(move || {
            if barrier.wait() {
                assert_eq!(barrier.data.get(), 1, "read before it was written");
            }
        }));
    }
    join(threads);
}

impl Barrier {
    /// Waits at the barrier. Returns false if the thread gives up.
    fn wait(&self) -> bool {
        let step = self.step.load(Relaxed);
        if self.waiting.fetch_add(1, AcqRel) == READERS {
            self.waiting.store(0, Relaxed);
            self.step.fetch_add(1, self.instance.order(Relaxed, Release));
            return true;
        }
        self.instance.wait(|| self.step.load(Acquire) != step)
    }
}
