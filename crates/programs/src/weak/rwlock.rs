//! Reader-writer locks with one counter, as in earlier Linux kernels. The counter starts at a bias. A reader subtracts one,
//! and a writer the whole bias. A thread that finds too little adds it back, waits and retries. All changes are
//! read-modify-writes, so an acquire one synchronises with every earlier release one.
//!
//! `linuxrwlocks`, as in the PCTWM paper: two threads read plain data, then write it. In the bugged form the second try of
//! both locks is relaxed, so a thread that it admits synchronises with no other thread, and races.
//!
//! `rwlock`, as in the paper: three threads alternately read and write two relaxed atomics that should be equal
//! under the lock. In the bugged form a writer never acquires. Then one writer's stores do not happen
//! before the next one's, and may come in either order in the modification order of each variable.
//! If the two orders disagree, a reader, which does acquire, finds the last values different.
//!
//! `rwlock-small`: `rwlock` with one section for each thread, two of them writing, for exhaustive search.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicI32, AtomicU32,
    Ordering::{self, Acquire, Relaxed, Release},
};

use super::{Failure, Instance, Model, Origin, Program, Published, Space, WAITING, join};

pub(super) const LINUX: Program = Program {
    name: "linuxrwlocks",
    origin: Origin::Pctwm(Published {
        events: 20,
        communication: 19,
        depth: 2,
        by_depth: [(100.0, 1), (100.0, 1), (100.0, 1)],
        by_history: (2, [100.0; 4]),
    }),
    about: "two threads read, then write; a second try for the lock does not acquire",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: WAITING,
    body: linux,
};

pub(super) const RELAXED_DATA: Program = Program {
    name: "rwlock",
    origin: Origin::Pctwm(Published {
        events: 84,
        communication: 74,
        depth: 2,
        by_depth: [(76.9, 4), (78.8, 3), (77.0, 3)],
        by_history: (3, [74.2, 76.0, 78.8, 73.5]),
    }),
    about: "three threads read and write two relaxed variables in turn; writers do not acquire",
    failure: Failure::Assertion,
    model: Model::Rc11,
    space: Space::Large,
    threads: 4,
    tries: WAITING,
    body: relaxed_data,
};

pub(super) const SMALL: Program = Program {
    name: "rwlock-small",
    origin: Origin::Classic,
    about: "two threads write two relaxed variables, one reads them; writers do not acquire",
    failure: Failure::Assertion,
    model: Model::Rc11,
    space: Space::Small,
    threads: 4,
    tries: WAITING,
    body: small,
};

/// More than the number of readers.
const BIAS: i32 = 0x10_0000;

/// The orderings of the first try and of the later tries.
#[derive(Clone, Copy)]
struct Tries {
    first: Ordering,
    again: Ordering,
}

struct Lock {
    instance: Instance,
    left: AtomicI32,
    read: Tries,
    write: Tries,
}

fn linux(instance: Instance) {
    let tries = Tries { first: Acquire, again: instance.order(Relaxed, Acquire) };
    let shared = Arc::new((Lock::new(instance, tries, tries), Shared::new(0)));
    let threads = (0..2)
        .map(|_| {
            let shared = shared.clone();
            instance.spawn(move || {
                let (lock, data) = &*shared;
                lock.reading(|| data.get());
                lock.writing(|| data.set(1));
            })
        })
        .collect();
    join(threads);
}

fn relaxed_data(instance: Instance) {
    let pair = Arc::new(Pair::new(instance));
    let threads = (0..3)
        .map(|_| {
            let pair = pair.clone();
            instance.spawn(move || {
                for round in 0..4 {
                    if round % 2 == 0 {
                        pair.read();
                    } else {
                        pair.write(round);
                    }
                }
            })
        })
        .collect();
    join(threads);
}

fn small(instance: Instance) {
    let pair = Arc::new(Pair::new(instance));
    let writer = |value| {
        let pair = pair.clone();
        instance.spawn(move || pair.write(value))
    };
    let mut threads = vec![writer(1), writer(2)];
    threads.push(instance.spawn(move || pair.read()));
    join(threads);
}

/// Two variables that are equal while no writer holds the lock.
struct Pair {
    lock: Lock,
    one: AtomicU32,
    two: AtomicU32,
}

impl Pair {
    fn new(instance: Instance) -> Pair {
        let write = instance.order(Relaxed, Acquire);
        let lock = Lock::new(
            instance,
            Tries { first: Acquire, again: Acquire },
            Tries { first: write, again: write },
        );
        Pair { lock, one: AtomicU32::new(0), two: AtomicU32::new(0) }
    }

    fn read(&self) {
        self.lock.reading(|| {
            assert_eq!(self.one.load(Relaxed), self.two.load(Relaxed), "half of a write");
        });
    }

    fn write(&self, value: u32) {
        self.lock.writing(|| {
            self.one.store(value, Relaxed);
            self.two.store(value, Relaxed);
        });
    }
}

impl Lock {
    fn new(instance: Instance, read: Tries, write: Tries) -> Lock {
        Lock { instance, left: AtomicI32::new(BIAS), read, write }
    }

    fn reading<R>(&self, section: impl FnOnce() -> R) {
        self.with(1, self.read, |left| left > 0, section);
    }

    fn writing<R>(&self, section: impl FnOnce() -> R) {
        self.with(BIAS, self.write, |left| left == BIAS, section);
    }

    /// Calls `section` under the lock, unless the thread gives up.
    fn with<R>(
        &self,
        share: i32,
        tries: Tries,
        suffices: impl Fn(i32) -> bool,
        section: impl FnOnce() -> R,
    ) {
        let claim = |order| {
            let claimed = suffices(self.left.fetch_sub(share, order));
            if !claimed {
                self.left.fetch_add(share, Relaxed);
            }
            claimed
        };
        let again = || {
            if self.instance.wait(|| suffices(self.left.load(Relaxed))) {
                claim(tries.again).then_some(true)
            } else {
                Some(false)
            }
        };
        if claim(tries.first) || self.instance.retry(again) == Some(true) {
            section();
            self.left.fetch_add(share, Release);
        }
    }
}
