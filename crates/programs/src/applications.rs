//! Bugs of applications in SCTBench: ctrace, pbzip2, aget, ferret and PCT's Dryad, reduced to the relevant threads and
//! locks.

use std::sync::atomic::{AtomicBool as QuietFlag, AtomicU32 as Quiet, Ordering::Relaxed};

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread::{self, Thread};

use super::mortal::Mortal;
use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const CTRACE: Program = Program {
    name: "ctrace-test",
    origin: Origin::SctBench,
    about: "a thread that ends frees all records of the trace, while main writes to its record",
    failure: Failure::Assertion,
    class: Class::Lifetime,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body: |form, _| ctrace(form),
};

pub(super) const PBZIP2: Program = Program {
    name: "pbzip2",
    about: "main joins only the writer, then destroys the queue; a consumer still uses its lock",
    granularity: Granularity::Sync,
    size: Size { counts: "blocks", least: 1, usual: 3, most: 500 },
    threads: |_| 4,
    body: pbzip2,
    ..CTRACE
};

pub(super) const AGET: Program = Program {
    name: "aget-bug2",
    about: "a download moves its offset, then counts the bytes under a lock; both are saved in between",
    class: Class::Atomicity,
    granularity: Granularity::Sync,
    threads: |_| 4,
    body: |form, _| aget(form),
    ..CTRACE
};

pub(super) const FERRET: Program = Program {
    name: "ferret",
    about: "the end of the input is announced after the last item, and tested only with an item",
    failure: Failure::Deadlock,
    class: Class::Wakeup,
    granularity: Granularity::Sync,
    body: |form, _| ferret(form),
    ..CTRACE
};

pub(super) const DRYAD: Program = Program {
    name: "dryad",
    origin: Origin::Pct,
    about: "a channel is freed after its last item, while a worker needs its lock again",
    granularity: Granularity::Sync,
    size: Size { counts: "items for each worker", least: 1, usual: 3, most: 2_000 },
    threads: |_| 5,
    body: dryad,
    ..CTRACE
};

fn ctrace(form: Form) {
    struct Trace {
        form: Form,
        lock: Mutex<u32>,
        freed: Shared<bool>,
    }
    impl Trace {
        /// Appends a message to the thread's own record, without a lock.
        fn write(&self) {
            *self.lock.lock().unwrap() += 1;
            assert!(!self.freed.get(), "write to a freed record");
        }

        fn end(&self) {
            *self.lock.lock().unwrap() += 1;
            if self.form == Form::Bugged {
                self.freed.set(true);
            }
        }
    }
    let trace = Arc::new(Trace { form, lock: Mutex::new(0), freed: Shared::new(false) });
    let threads = start(&trace, &[Trace::end, |trace| *trace.lock.lock().unwrap() += 1]);
    trace.write();
    join_all(threads);
    if form == Form::Fixed {
        trace.freed.set(true);
    }
}

fn pbzip2(form: Form, blocks: u32) {
    struct Queue {
        blocks: u32,
        is_all: bool,
    }
    struct Files {
        /// The total number of blocks.
        all: u32,
        queue: Mortal<Queue>,
        more: Condvar,
        /// The number of blocks that are ready to be written.
        output: Mutex<u32>,
        ready: Condvar,
    }
    impl Files {
        fn compress(&self) {
            loop {
                let mut queue = self.queue.lock();
                while queue.blocks == 0 && !queue.is_all {
                    queue = self.more.wait(queue).unwrap();
                }
                if queue.blocks == 0 {
                    self.queue.unlock(queue);
                    return;
                }
                queue.blocks -= 1;
                self.queue.unlock(queue);
                *self.output.lock().unwrap() += 1;
                self.ready.notify_one();
            }
        }

        fn write(&self) {
            let mut output = self.output.lock().unwrap();
            while *output < self.all {
                output = self.ready.wait(output).unwrap();
            }
        }
    }
    let files = Arc::new(Files {
        all: blocks,
        queue: Mortal::new(Queue { blocks: 0, is_all: false }),
        more: Condvar::new(),
        output: Mutex::new(0),
        ready: Condvar::new(),
    });
    let mut threads = start(&files, &[Files::compress, Files::compress, Files::write]);
    for _ in 0..blocks {
        let mut queue = files.queue.lock();
        queue.blocks += 1;
        files.queue.unlock(queue);
        files.more.notify_one();
    }
    let mut queue = files.queue.lock();
    queue.is_all = true;
    files.queue.unlock(queue);
    files.more.notify_all();
    let others = match form {
        Form::Bugged => threads.split_off(2),
        Form::Fixed => threads,
    };
    join_all(others);
    files.queue.destroy();
}

fn aget(form: Form) {
    const WORKERS: usize = 2;
    struct Download {
        form: Form,
        /// The progress of each worker. In the bugged form it is written without the lock, just before the lock is acquired.
        offsets: [Quiet; WORKERS],
        written: Mutex<u32>,
    }
    impl Download {
        fn work(&self, me: usize) {
            for _ in 0..2 {
                if self.form == Form::Bugged {
                    self.offsets[me].fetch_add(10, Relaxed);
                }
                let mut written = self.written.lock().unwrap();
                if self.form == Form::Fixed {
                    self.offsets[me].fetch_add(10, Relaxed);
                }
                *written += 10;
            }
        }

        fn save(&self) {
            let sum = || self.offsets.iter().map(|offset| offset.load(Relaxed)).sum::<u32>();
            let (offsets, written) = match self.form {
                Form::Bugged => (sum(), *self.written.lock().unwrap()),
                Form::Fixed => {
                    let written = self.written.lock().unwrap();
                    (sum(), *written)
                }
            };
            assert_eq!(offsets, written, "bytes saved and bytes written");
        }
    }
    let (offsets, written) = ([const { Quiet::new(0) }; WORKERS], Mutex::new(0));
    let download = Arc::new(Download { form, offsets, written });
    let bodies: [fn(&Download); 3] =
        [|download| download.work(0), |download| download.work(1), Download::save];
    join_all(start(&download, &bodies));
}

/// A loader puts items into a queue, and a last stage takes them out until the end.
fn ferret(form: Form) {
    const ITEMS: u32 = 2;
    struct Pipeline {
        form: Form,
        queue: Mutex<u32>,
        changed: Condvar,
        is_end: QuietFlag,
    }
    impl Pipeline {
        fn load(&self) {
            for item in 1..=ITEMS {
                // Fixed: the end is announced before the last item can be taken.
                if self.form == Form::Fixed && item == ITEMS {
                    self.is_end.store(true, Relaxed);
                }
                *self.queue.lock().unwrap() += 1;
                self.changed.notify_one();
            }
            self.is_end.store(true, Relaxed);
        }

        fn finish(&self) {
            let mut taken = 0;
            loop {
                let mut queue = self.queue.lock().unwrap();
                while *queue == 0 {
                    queue = self.changed.wait(queue).unwrap();
                }
                *queue -= 1;
                taken += 1;
                drop(queue);
                if self.is_end.load(Relaxed) && taken == ITEMS {
                    return;
                }
            }
        }
    }
    let pipeline = Pipeline {
        form,
        queue: Mutex::new(0),
        changed: Condvar::new(),
        is_end: QuietFlag::new(false),
    };
    join_all(start(&Arc::new(pipeline), &[Pipeline::load, Pipeline::finish]));
}

fn dryad(form: Form, share: u32) {
    const WORKERS: usize = 4;
    struct Channel {
        /// The number of items for each worker.
        share: u32,
        /// The number of items left.
        lock: Mortal<u32>,
        closer: Thread,
    }
    impl Channel {
        fn work(&self) {
            for _ in 0..self.share {
                let mut left = self.lock.lock();
                *left -= 1;
                let is_last = *left == 0;
                self.lock.unlock(left);
                if is_last {
                    self.closer.unpark();
                    // The last worker locks once more after it has woken main.
                    self.lock.unlock(self.lock.lock());
                }
            }
        }
    }
    let lock = Mortal::new(WORKERS as u32 * share);
    let channel = Arc::new(Channel { share, lock, closer: thread::current() });
    let workers = start(&channel, &[Channel::work as fn(&Channel); WORKERS]);
    thread::park();
    if form == Form::Fixed {
        join_all(workers);
    }
    channel.lock.destroy();
}
