//! SCTBench's programs that fail in every execution, or in nearly every one. They do not test a scheduler, but they are
//! part of the collection.

use std::sync::atomic::{AtomicU32 as Quiet, Ordering::Relaxed};

use raddle::Granularity;
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const ARITHMETIC: Program = Program {
    name: "arithmetic_prog",
    origin: Origin::SctBench,
    about: "the check expects a wrong sum of numbers that are passed one by one",
    failure: Failure::Assertion,
    class: Class::Always,
    granularity: Granularity::Sync,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body: |form, _| arithmetic(form),
};

pub(super) const FSBENCH: Program = Program {
    name: "fsbench",
    about: "each thread uses a block of a file system with fewer blocks than threads",
    threads: |_| 28,
    body: |form, _| fsbench(form),
    ..ARITHMETIC
};

pub(super) const SYNC: Program = Program {
    name: "sync01",
    about: "a producer waits until there is space, which no thread makes",
    failure: Failure::Deadlock,
    body: |form, _| sync(form, 1),
    ..ARITHMETIC
};

pub(super) const SYNC_2: Program = Program {
    name: "sync02",
    about: "as sync01, with several items",
    body: |form, _| sync(form, 3),
    ..SYNC
};

/// A buffer for one number between two threads.
struct Place {
    number: Mutex<Option<u32>>,
    changed: Condvar,
    total: Quiet,
}

impl Place {
    fn new() -> Place {
        Place { number: Mutex::new(None), changed: Condvar::new(), total: Quiet::new(0) }
    }
}

fn arithmetic(form: Form) {
    const NUMBERS: u32 = 3;
    let place = Arc::new(Place::new());
    join_all(start(
        &place,
        &[
            |place| {
                for next in 1..=NUMBERS {
                    let mut number = place.number.lock().unwrap();
                    while number.is_some() {
                        number = place.changed.wait(number).unwrap();
                    }
                    *number = Some(next);
                    place.changed.notify_one();
                }
            },
            |place| {
                for _ in 0..NUMBERS {
                    let mut number = place.number.lock().unwrap();
                    while number.is_none() {
                        number = place.changed.wait(number).unwrap();
                    }
                    place.total.fetch_add(number.take().unwrap_or(0), Relaxed);
                    place.changed.notify_one();
                }
            },
        ],
    ));
    let expected = match form {
        Form::Bugged => NUMBERS * NUMBERS,
        Form::Fixed => NUMBERS * (NUMBERS + 1) / 2,
    };
    assert_eq!(place.total.load(Relaxed), expected, "the sum");
}

fn fsbench(form: Form) {
    const THREADS: usize = 27;
    let blocks = match form {
        Form::Bugged => THREADS - 1,
        Form::Fixed => THREADS,
    };
    let blocks: Arc<Vec<_>> = Arc::new((0..blocks).map(|_| Mutex::new(0)).collect());
    let handles = (0..THREADS).map(|me| {
        let blocks = blocks.clone();
        thread::spawn(move || *blocks[me].lock().unwrap() += 1)
    });
    join_all(handles.collect());
}

/// The producer waits until there is space. In the bugged form the condition is inverted.
fn sync(form: Form, items: u32) {
    struct Room {
        form: Form,
        items: u32,
        count: Mutex<u32>,
        changed: Condvar,
    }
    let room = Room { form, items, count: Mutex::new(0), changed: Condvar::new() };
    join_all(start(
        &Arc::new(room),
        &[
            |room| {
                for _ in 0..room.items {
                    let mut count = room.count.lock().unwrap();
                    let is_full = |count: u32| match room.form {
                        Form::Bugged => count < room.items,
                        Form::Fixed => count >= room.items,
                    };
                    while is_full(*count) {
                        count = room.changed.wait(count).unwrap();
                    }
                    *count += 1;
                    room.changed.notify_one();
                }
            },
            |room| {
                for _ in 0..room.items {
                    let mut count = room.count.lock().unwrap();
                    while *count == 0 {
                        count = room.changed.wait(count).unwrap();
                    }
                    *count -= 1;
                    room.changed.notify_one();
                }
            },
        ],
    ));
}
