//! Sequence locks: a number is odd while a thread writes. Readers retry if it was odd or has changed.
//!
//! `seqlock`, as in the PCTWM paper: two writers and one reader, with release stores and acquire loads of the
//! data. In the bugged form a writer claims the number by relaxed accesses. Then one writer's stores do
//! not happen before the other's and may come in either order in the modification order of each
//! variable. If the orders disagree, a reader that has seen both writers finish reads different values.
//!
//! `seqlock-fence`: one writer, data relaxed, with the fences of Boehm (MSPC 2012). The bugged form lacks
//! the writer's release fence between making the number odd and writing the data. A reader that reads
//! new data then synchronises with nothing, and may still read the old, even number afterwards. It
//! accepts an inconsistent pair.

use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

use super::super::Form;
use super::{Failure, Instance, Model, Origin, Program, Published, Space, WAITING, join};

pub(super) const TWO_WRITERS: Program = Program {
    name: "seqlock",
    origin: Origin::Pctwm(Published {
        events: 20,
        communication: 18,
        depth: 3,
        by_depth: [(33.3, 3), (41.2, 1), (39.5, 2)],
        by_history: (4, [41.2, 39.8, 37.1, 36.7]),
    }),
    about: "two writers and a reader; writers claim the sequence number without acquiring",
    failure: Failure::Assertion,
    model: Model::Rc11,
    space: Space::Small,
    threads: 4,
    tries: WAITING,
    body: two_writers,
};

pub(super) const FENCED: Program = Program {
    name: "seqlock-fence",
    origin: Origin::Classic,
    about: "a writer and a reader; the writer's release fence before the data is missing",
    failure: Failure::Assertion,
    model: Model::Rc11,
    space: Space::Small,
    threads: 3,
    tries: WAITING,
    body: fenced,
};

#[derive(Default)]
struct SeqLock {
    number: AtomicU32,
    one: AtomicU32,
    two: AtomicU32,
}

fn two_writers(instance: Instance) {
    let lock = Arc::new(SeqLock::default());
    let claim = instance.order(Relaxed, Acquire);
    let mut threads: Vec<_> = [3, 2]
        .map(|value| {
            let lock = lock.clone();
            instance.spawn(move || {
                let claimed = instance.wait(|| {
                    let number = lock.number.load(claim);
                    number % 2 == 0
                        && lock.number.compare_exchange(number, number + 1, claim, Relaxed).is_ok()
                });
                if claimed {
                    lock.one.store(value, Release);
                    lock.two.store(value, Release);
                    lock.number.fetch_add(1, Release);
                }
            })
        })
        .into();
    threads.push(instance.spawn(move || {
        lock.read(instance, || {
            let pair = (lock.one.load(Acquire), lock.two.load(Acquire));
            (pair, lock.number.load(Relaxed))
        });
    }));
    join(threads);
}

fn fenced(instance: Instance) {
    let lock = Arc::new(SeqLock::default());
    let writer = {
        let lock = lock.clone();
        instance.spawn(move || {
            let number = lock.number.load(Relaxed);
            lock.number.store(number + 1, Relaxed);
            if instance.form == Form::Fixed {
                fence(Release);
            }
            lock.one.store(1, Relaxed);
            lock.two.store(1, Relaxed);
            lock.number.store(number + 2, Release);
        })
    };
    let reader = instance.spawn(move || {
        lock.read(instance, || {
            let pair = (lock.one.load(Relaxed), lock.two.load(Relaxed));
            fence(Acquire);
            (pair, lock.number.load(Relaxed))
        });
    });
    join(vec![writer, reader]);
}

impl SeqLock {
    /// Reads a pair, retrying after interference. `data` returns the pair and the number after it.
    fn read(&self, instance: Instance, data: impl Fn() -> ((u32, u32), u32)) {
        let pair = instance.retry(|| {
            let before = self.number.load(Acquire);
            if before % 2 == 1 {
                return None;
            }
            let (pair, after) = data();
            (before == after).then_some(pair)
        });
        if let Some((one, two)) = pair {
            assert_eq!(one, two, "half of a write");
        }
    }
}
