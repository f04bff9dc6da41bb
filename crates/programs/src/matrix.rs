//! Matrix: a product of matrices by a work-stealing pool. A task is a row of the result.
//!
//! Every row is also added to two checksums, one for each worker, under the spin locks of both. Bugged forms: the queue's
//! guard allows a task to be overwritten; each worker acquires its own lock first and spins for the other's; a thief misses
//! its wakeup.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use raddle::thread;

use super::stealing::{Defect, Pool, Worker};
use super::{Class, Failure, Form, Origin, Program, Size, Space};

pub(super) const GUARD: Program = Program {
    name: "matrix",
    about: "a product of matrices, by work stealing; the queue's guard allows a task to be overwritten",
    failure: Failure::Assertion,
    class: Class::Atomicity,
    body: |form, side| body(side, defect(form, Defect::Guard), Order::SameForAll),
    ..WAKE
};

pub(super) const LOCKS: Program = Program {
    name: "matrix-locks",
    about: "a product of matrices, by work stealing; two spin locks are acquired in opposite orders",
    class: Class::Locking,
    body: |form, side| {
        let order = match form {
            Form::Bugged => Order::OwnFirst,
            Form::Fixed => Order::SameForAll,
        };
        body(side, Defect::None, order);
    },
    ..WAKE
};

pub(super) const WAKE: Program = Program {
    name: "matrix-wake",
    origin: Origin::Bpor,
    about: "a product of matrices, by work stealing; a thief that goes to sleep misses its wakeup",
    failure: Failure::Livelock,
    class: Class::Wakeup,
    granularity: Granularity::All,
    space: Space::Cyclic,
    size: Size { counts: "rows", least: 3, usual: 3, most: 16 },
    threads: |_| 3,
    body: |form, side| body(side, defect(form, Defect::Wake), Order::SameForAll),
};

/// The order in which a worker acquires the locks of the checksums.
#[derive(Clone, Copy)]
enum Order {
    SameForAll,
    OwnFirst,
}

/// A number protected by a spin lock.
struct Sum {
    locked: AtomicBool,
    value: Shared<u32>,
}

fn defect(form: Form, bugged: Defect) -> Defect {
    match form {
        Form::Bugged => bugged,
        Form::Fixed => Defect::None,
    }
}

fn body(side: u32, defect: Defect, order: Order) {
    let sums =
        Arc::new([(), ()].map(|()| Sum { locked: AtomicBool::new(false), value: Shared::new(0) }));
    let shared = sums.clone();
    Pool::run(side, defect, move |worker, row| {
        let found: u32 = (0..side).map(|column| entry(side, row, column)).sum();
        let locks = match (order, worker) {
            (Order::OwnFirst, Worker::Thief) => [1, 0],
            (Order::OwnFirst, Worker::Owner) | (Order::SameForAll, _) => [0, 1],
        };
        for lock in locks {
            shared[lock].take();
        }
        for sum in &*shared {
            sum.value.set(sum.value.get() + found);
        }
        for lock in locks {
            shared[lock].give_back();
        }
    });
    let rows = (0..side).flat_map(|row| (0..side).map(move |column| entry(side, row, column)));
    let expected: u32 = rows.sum();
    for sum in &*sums {
        assert_eq!(sum.value.get(), expected, "the checksum of the product");
    }
}

/// Returns an entry of the product of two matrices with small entries, chosen so that rows have different sums.
fn entry(side: u32, row: u32, column: u32) -> u32 {
    (0..side).map(|inner| (row * row + inner) * (inner + column)).sum()
}

impl Sum {
    fn take(&self) {
        while self.locked.swap(true, SeqCst) {
            thread::yield_now();
        }
    }

    fn give_back(&self) {
        self.locked.store(false, SeqCst);
    }
}
