//! FFT: each thread takes a number under a lock, then transforms its own part of the data.
//!
//! There is one class per order of the critical sections. Under a preemption bound nearly every step of the lock needs a
//! conservative backtrack point. In the bugged form main does not wait for the threads and reads the data too early.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Mutex};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const PROGRAM: Program = Program {
    name: "fft",
    origin: Origin::Bpor,
    about: "threads take numbers under a lock, then work separately; main does not wait for them",
    failure: Failure::Assertion,
    class: Class::Order,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size { counts: "threads", least: 1, usual: 8, most: 16 },
    threads: |threads| threads + 1,
    body,
};

struct Transform {
    /// The number of threads that have a number.
    numbered: Mutex<u32>,
    /// One pair for each thread, which alone accesses it.
    pairs: Vec<[Shared<i64>; 2]>,
}

fn body(form: Form, threads: u32) {
    let pairs = (0..threads).map(|pair| [Shared::new(i64::from(pair)), Shared::new(1)]).collect();
    let transform = Arc::new(Transform { numbered: Mutex::new(0), pairs });
    let handles = (0..threads)
        .map(|_| {
            let transform = transform.clone();
            thread::spawn(move || transform.work())
        })
        .collect();
    match form {
        Form::Bugged => drop::<Vec<_>>(handles),
        Form::Fixed => join_all(handles),
    }
    for (index, [sum, difference]) in transform.pairs.iter().enumerate() {
        let index = index as i64;
        assert_eq!([sum.get(), difference.get()], [index + 1, index - 1], "not transformed");
    }
}

impl Transform {
    fn work(&self) {
        let number = {
            let mut numbered = self.numbered.lock().unwrap();
            *numbered += 1;
            *numbered - 1
        };
        let [left, right] = &self.pairs[number as usize];
        let (sum, difference) = (left.get() + right.get(), left.get() - right.get());
        left.set(sum);
        right.set(difference);
    }
}
