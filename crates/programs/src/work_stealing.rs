//! Work-stealing queues with Cilk's THE protocol: an owner pushes and pops at the tail, and stealers take from the head, one
//! at a time.
//!
//! `WSQ` and `IWSQ` (with a mutex and with a spin lock) are from SCTBench. In their bugged forms the guard of a push is off
//! by one: after a stealer has moved the head and before it reads its slot, the owner overwrites the slot. `WSQ-State` and
//! `IWSQ-State` have the correct guard. Their bug is in a log of the threads' actions, whose list of threads grows without
//! a lock. `pct-wsq` is the first queue with the PCT paper's variations: more stealers and more items.
//!
//! SCTBench's queues access head and tail by interlocked instructions, including reads. Such an access is two scheduling
//! points, a read and a write, in Maple and here.

use std::sync::atomic::{AtomicI32 as Quiet, Ordering::Relaxed};

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::atomic::{AtomicI32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex, MutexGuard};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const WSQ: Program = Program {
    name: "WSQ",
    origin: Origin::SctBench,
    about: "a work-stealing queue; the guard of a push allows an item to be overwritten",
    failure: Failure::Assertion,
    class: Class::Atomicity,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body: |form, _| run(Setup { form, ..Setup::SCTBENCH }),
};

pub(super) const INTERLOCKED: Program = Program {
    name: "IWSQ",
    about: "the same with a spin lock",
    space: Space::Cyclic,
    body: |form, _| run(Setup { form, lock: Kind::Spin, ..Setup::SCTBENCH }),
    ..WSQ
};

pub(super) const STATE: Program = Program {
    name: "WSQ-State",
    about: "a work-stealing queue that logs; its list of threads grows without a lock",
    body: |form, _| run(Setup { form, defect: Defect::Log, ..Setup::SCTBENCH }),
    ..WSQ
};

pub(super) const INTERLOCKED_STATE: Program = Program {
    name: "IWSQ-State",
    about: "the same with a spin lock",
    space: Space::Cyclic,
    body: |form, _| {
        run(Setup { form, defect: Defect::Log, lock: Kind::Spin, ..Setup::SCTBENCH });
    },
    ..WSQ
};

pub(super) const STEALERS: Program = Program {
    name: "pct-wsq",
    origin: Origin::Pct,
    about: "WSQ with four items and a number of stealers, with two attempts each",
    size: Size { counts: "stealers", least: 1, usual: 2, most: 64 },
    threads: |stealers| stealers + 1,
    body: |form, stealers| run(Setup { form, stealers, ..Setup::PCT }),
    ..WSQ
};

pub(super) const ITEMS: Program = Program {
    name: "pct-wsq-items",
    about: "WSQ with two stealers, with two attempts each, and a number of items",
    size: Size { counts: "items", least: 4, usual: 4, most: 64 },
    threads: |_| 3,
    body: |form, items| run(Setup { form, items, ..Setup::PCT }),
    ..STEALERS
};

/// [`STEALERS`] with more items: 8, 16, 32 and 64.
pub(super) static MORE_ITEMS: [Program; 4] = [
    with_items(|form, stealers| run(Setup { form, stealers, items: 8, ..Setup::PCT })),
    with_items(|form, stealers| run(Setup { form, stealers, items: 16, ..Setup::PCT })),
    with_items(|form, stealers| run(Setup { form, stealers, items: 32, ..Setup::PCT })),
    with_items(|form, stealers| run(Setup { form, stealers, items: 64, ..Setup::PCT })),
];

/// [`STEALERS`] with 4, 8, 16, 32 and 64 items, and half as many attempts of each stealer.
pub(super) static MORE_ATTEMPTS: [Program; 5] = [
    with_items(|form, stealers| run(Setup { form, stealers, ..Setup::PCT })),
    with_items(|form, stealers| run(Setup { form, stealers, items: 8, attempts: 4, ..Setup::PCT })),
    with_items(|form, stealers| {
        run(Setup { form, stealers, items: 16, attempts: 8, ..Setup::PCT })
    }),
    with_items(|form, stealers| {
        run(Setup { form, stealers, items: 32, attempts: 16, ..Setup::PCT })
    }),
    with_items(|form, stealers| {
        run(Setup { form, stealers, items: 64, attempts: 32, ..Setup::PCT })
    }),
];

const fn with_items(body: fn(Form, u32)) -> Program {
    Program { body, ..STEALERS }
}

#[derive(Clone, Copy)]
struct Setup {
    form: Form,
    defect: Defect,
    lock: Kind,
    points: Points,
    stealers: u32,
    items: u32,
    /// The attempts of each stealer.
    attempts: u32,
}

impl Setup {
    const SCTBENCH: Setup = Setup {
        form: Form::Bugged,
        defect: Defect::Guard,
        lock: Kind::Mutex,
        points: Points::Two,
        stealers: 2,
        items: 4,
        attempts: 2,
    };

    const PCT: Setup = Setup { points: Points::One, ..Setup::SCTBENCH };
}

/// The defect of the bugged form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Defect {
    Guard,
    Log,
}

#[derive(Clone, Copy)]
enum Kind {
    Mutex,
    Spin,
}

/// The scheduling points of an access to head or tail.
#[derive(Clone, Copy)]
enum Points {
    One,
    /// Two: Maple considers an interlocked instruction as a read and a write.
    Two,
}

struct Queue {
    head: Counter,
    tail: Counter,
    /// Changed under the lock.
    mask: Quiet,
    slots: Vec<Slot>,
    lock: Lock,
    guard: i32,
    log: Option<Log>,
    /// The number of times each item has run.
    runs: Vec<Quiet>,
}

const FIRST_MASK: i32 = 1;

fn run(setup: Setup) {
    let Setup { form, defect, lock, points, stealers, items, attempts } = setup;
    let is_defect = |other| form == Form::Bugged && defect == other;
    let slots = (2 * items as usize).next_power_of_two().max(4);
    let queue = Arc::new(Queue {
        head: Counter::new(points),
        tail: Counter::new(points),
        mask: Quiet::new(FIRST_MASK),
        slots: (0..slots).map(|_| Slot::default()).collect(),
        lock: match lock {
            Kind::Mutex => Lock::Mutex(Mutex::new(())),
            Kind::Spin => Lock::Spin(Counter::new(points)),
        },
        guard: i32::from(is_defect(Defect::Guard)),
        log: (defect == Defect::Log).then(|| Log::new(form)),
        runs: (0..items).map(|_| Quiet::new(0)).collect(),
    });
    let handles = (1..=stealers).map(|me| {
        let queue = queue.clone();
        thread::spawn(move || {
            for _ in 0..attempts {
                queue.note(me);
                let stolen = queue.steal();
                queue.note(me);
                queue.run(stolen);
            }
        })
    });
    let handles = handles.collect();
    queue.own(items as i32);
    join_all(handles);
    for (item, runs) in queue.runs.iter().enumerate() {
        assert_eq!(runs.load(Relaxed), 1, "runs of item {item}");
    }
}

impl Queue {
    /// The body of the owner: pushes two items and pops one until all are pushed, then pops the others.
    fn own(&self, items: i32) {
        for pair in 0..items / 2 {
            self.push(2 * pair);
            self.push(2 * pair + 1);
            self.pop_and_run();
        }
        if items % 2 == 1 {
            self.push(items - 1);
            self.pop_and_run();
        }
        for _ in 0..items / 2 {
            self.pop_and_run();
        }
    }

    fn pop_and_run(&self) {
        self.note(0);
        let popped = self.pop();
        self.note(0);
        self.run(popped);
    }

    fn run(&self, item: Option<i32>) {
        if let Some(item) = item {
            self.runs[item as usize].fetch_add(1, Relaxed);
        }
    }

    fn note(&self, thread: u32) {
        if let Some(log) = &self.log {
            log.note(thread);
        }
    }

    fn steal(&self) -> Option<i32> {
        let _guard = self.lock.take();
        let head = self.head.get();
        self.head.set(head + 1);
        if head < self.tail.get() {
            return Some(self.slot(head).take());
        }
        self.head.set(head);
        None
    }

    fn pop(&self) -> Option<i32> {
        let tail = self.tail.get() - 1;
        self.tail.set(tail);
        if self.head.get() <= tail {
            return Some(self.slot(tail).take());
        }
        self.tail.set(tail + 1);
        self.pop_locked()
    }

    fn pop_locked(&self) -> Option<i32> {
        let _guard = self.lock.take();
        let tail = self.tail.get() - 1;
        self.tail.set(tail);
        let mut item = None;
        if self.head.get() <= tail {
            item = Some(self.slot(tail).take());
        } else {
            self.tail.set(tail + 1);
        }
        if self.head.get() > tail {
            self.head.set(0);
            self.tail.set(0);
            item = None;
        }
        item
    }

    fn push(&self, item: i32) {
        let tail = self.tail.get();
        let room = self.mask.load(Relaxed) + self.guard;
        if tail < self.head.get() + room {
            self.slot(tail).put(item);
            self.tail.set(tail + 1);
        } else {
            self.push_locked(item);
        }
    }

    /// Moves the items to the front, and doubles the capacity if the queue is full.
    fn push_locked(&self, item: i32) {
        let _guard = self.lock.take();
        let head = self.head.get();
        let count = self.tail.get() - head;
        let mask = self.mask.load(Relaxed);
        let head = head & mask;
        self.head.set(head);
        self.tail.set(head + count);
        if count >= mask {
            let items: Vec<_> = (head..head + count)
                .map(|at| self.slots[(at & mask) as usize].item.load(Relaxed))
                .collect();
            for (slot, item) in self.slots.iter().zip(items) {
                slot.item.store(item, Relaxed);
            }
            self.mask.store(2 * (mask + 1) - 1, Relaxed);
            self.head.set(0);
            self.tail.set(count);
        }
        let tail = self.tail.get();
        self.slot(tail).item.store(item, Relaxed);
        self.tail.set(tail + 1);
    }

    fn slot(&self, at: i32) -> &Slot {
        &self.slots[(at & self.mask.load(Relaxed)) as usize]
    }
}

/// A slot for an item. If several threads can access it, an access is a scheduling point.
#[derive(Default)]
struct Slot {
    point: Shared<()>,
    item: Quiet,
}

impl Slot {
    #[track_caller]
    fn take(&self) -> i32 {
        self.point.get();
        self.item.load(Relaxed)
    }

    #[track_caller]
    fn put(&self, item: i32) {
        self.point.set(());
        self.item.store(item, Relaxed);
    }
}

/// A variable that is accessed by interlocked instructions.
struct Counter {
    points: Points,
    value: AtomicI32,
}

impl Counter {
    fn new(points: Points) -> Counter {
        Counter { points, value: AtomicI32::new(0) }
    }

    #[track_caller]
    fn get(&self) -> i32 {
        match self.points {
            Points::One => self.value.load(SeqCst),
            Points::Two => {
                self.read();
                self.value.fetch_add(0, SeqCst)
            }
        }
    }

    #[track_caller]
    fn set(&self, value: i32) {
        self.swap(value);
    }

    #[track_caller]
    fn swap(&self, value: i32) -> i32 {
        self.read();
        self.value.swap(value, SeqCst)
    }

    /// The first half of an interlocked instruction.
    #[track_caller]
    fn read(&self) {
        match self.points {
            Points::One => {}
            Points::Two => {
                self.value.load(SeqCst);
            }
        }
    }
}

enum Lock {
    Mutex(Mutex<()>),
    Spin(Counter),
}

enum Held<'a> {
    Mutex { _guard: MutexGuard<'a, ()> },
    Spin(&'a Counter),
}

impl Lock {
    #[track_caller]
    fn take(&self) -> Held<'_> {
        match self {
            Lock::Mutex(mutex) => Held::Mutex { _guard: mutex.lock().unwrap() },
            Lock::Spin(taken) => {
                while taken.swap(1) != 0 {
                    thread::yield_now();
                }
                Held::Spin(taken)
            }
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        match self {
            Held::Mutex { .. } => {}
            Held::Spin(taken) => taken.set(0),
        }
    }
}

/// A log of the threads' actions, with a stack for each thread. The list of stacks grows with each new thread.
struct Log {
    form: Form,
    lock: Mutex<()>,
    length: Shared<u32>,
}

impl Log {
    fn new(form: Form) -> Log {
        Log { form, lock: Mutex::new(()), length: Shared::new(0) }
    }

    fn note(&self, thread: u32) {
        let _guard = self.form.guard(&self.lock);
        if self.length.get() <= thread {
            self.length.set(thread + 1);
        }
        assert!(thread < self.length.get(), "no stack for thread {thread}");
    }
}
