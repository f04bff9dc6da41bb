//! SCTBench's qsort_mt: quicksort that gives parts of the array to a pool of two workers.
//!
//! In the bugged form a worker is marked as working under the pool's lock, before its own lock is acquired and its range is
//! written. If the worker reads its range in between, it sorts the empty range from before and considers itself done.

use std::ops::Range;
use std::sync::Mutex as QuietMutex;

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const PROGRAM: Program = Program {
    name: "qsort_mt",
    origin: Origin::SctBench,
    about: "a sort by a pool; a worker is marked as working before it has its range",
    failure: Failure::Assertion,
    class: Class::Order,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body,
};

const WORKERS: usize = 2;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Working,
    Ended,
}

struct Worker {
    state: Shared<State>,
    /// The range to sort.
    range: Mutex<Range<usize>>,
    wake: Condvar,
}

struct Pool {
    form: Form,
    /// The number of idle workers.
    idle: Mutex<usize>,
    all_idle: Condvar,
    workers: [Worker; WORKERS],
    /// The array. Each worker accesses only its own part.
    array: QuietMutex<Vec<u32>>,
}

fn body(form: Form, _size: u32) {
    let worker = || Worker {
        state: Shared::new(State::Idle),
        range: Mutex::new(0..0),
        wake: Condvar::new(),
    };
    let pool = Arc::new(Pool {
        form,
        idle: Mutex::new(WORKERS),
        all_idle: Condvar::new(),
        workers: [worker(), worker()],
        array: QuietMutex::new(vec![6, 2, 7, 0, 5, 1, 4, 3]),
    });
    let handles = (0..WORKERS).map(|me| {
        let pool = pool.clone();
        thread::spawn(move || pool.work(me))
    });
    let handles = handles.collect();
    let middle = pool.partition(0..8);
    pool.assign(0..middle);
    pool.assign(middle + 1..8);
    let mut idle = pool.idle.lock().unwrap();
    while *idle < WORKERS {
        idle = pool.all_idle.wait(idle).unwrap();
    }
    drop(idle);
    assert!(pool.array.lock().unwrap().is_sorted(), "not sorted");
    pool.end();
    join_all(handles);
}

impl Pool {
    fn work(&self, me: usize) {
        let worker = &self.workers[me];
        loop {
            let mut range = worker.range.lock().unwrap();
            while worker.state.get() == State::Idle {
                range = worker.wake.wait(range).unwrap();
            }
            if worker.state.get() == State::Ended {
                return;
            }
            let part = std::mem::replace(&mut *range, 0..0);
            drop(range);
            self.sort(part);
            let mut idle = self.idle.lock().unwrap();
            worker.state.set(State::Idle);
            *idle += 1;
            if *idle == WORKERS {
                self.all_idle.notify_one();
            }
        }
    }

    /// Gives a part to an idle worker, which must exist.
    fn assign(&self, part: Range<usize>) {
        let mut idle = self.idle.lock().unwrap();
        let free = self.workers.iter().find(|worker| worker.state.get() == State::Idle);
        let worker = free.expect("as many parts as workers");
        *idle -= 1;
        let mut range = match self.form {
            Form::Bugged => {
                worker.state.set(State::Working);
                drop(idle);
                worker.range.lock().unwrap()
            }
            Form::Fixed => {
                drop(idle);
                let range = worker.range.lock().unwrap();
                worker.state.set(State::Working);
                range
            }
        };
        *range = part;
        worker.wake.notify_one();
    }

    fn end(&self) {
        for worker in &self.workers {
            let _range = worker.range.lock().unwrap();
            worker.state.set(State::Ended);
            worker.wake.notify_one();
        }
    }

    fn sort(&self, part: Range<usize>) {
        if part.len() > 1 {
            let middle = self.partition(part.clone());
            self.sort(part.start..middle);
            self.sort(middle + 1..part.end);
        }
    }

    /// Moves the last element to its final position. Returns this position.
    fn partition(&self, part: Range<usize>) -> usize {
        let mut array = self.array.lock().unwrap();
        let part_start = part.start;
        let part = &mut array[part];
        let last = part.len() - 1;
        let mut middle = 0;
        for at in 0..last {
            if part[at] <= part[last] {
                part.swap(at, middle);
                middle += 1;
            }
        }
        part.swap(middle, last);
        part_start + middle
    }
}
