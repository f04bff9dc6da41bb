//! MRSE, a manual reset event: a packed word holds whether the event is set and the number of waiters.
//!
//! The word is changed by a compare-exchange in a loop. In the bugged form the loop computes the new word from a second
//! read instead of from the word it compares with. If the word changes and changes back between the reads, the exchange
//! writes an outdated word (ABA). A set or a waiter is lost, and the waiter waits forever.
//!
//! The size is the number of waiting threads. The last thread sets, resets and sets.

use raddle::Granularity;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const PROGRAM: Program = Program {
    name: "mrse",
    origin: Origin::Bpor,
    about: "manual reset event; its packed word is computed from a stale read",
    failure: Failure::Deadlock,
    class: Class::Atomicity,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size { counts: "waiting threads", least: 1, usual: 1, most: 8 },
    threads: |waiting| waiting + 2,
    body,
};

const SET: u32 = 1;
const WAITERS: u32 = !SET;

fn body(form: Form, waiting: u32) {
    let event = Arc::new(Event {
        form,
        word: AtomicU32::new(0),
        monitor: Mutex::new(()),
        wake: Condvar::new(),
    });
    let mut threads = Vec::new();
    for _ in 0..waiting {
        let event = event.clone();
        threads.push(thread::spawn(move || event.wait()));
    }
    threads.push(thread::spawn(move || {
        event.set();
        event.reset();
        event.set();
    }));
    join_all(threads);
}

struct Event {
    form: Form,
    /// The lowest bit is whether the event is set, and the others are the number of waiters.
    word: AtomicU32,
    monitor: Mutex<()>,
    wake: Condvar,
}

impl Event {
    fn wait(&self) {
        if self.is_set() {
            return;
        }
        let mut guard = self.monitor.lock().unwrap();
        loop {
            self.set_waiters(self.waiters() + 1);
            if self.is_set() {
                break;
            }
            guard = self.wake.wait(guard).unwrap();
            self.leave();
        }
        self.leave();
    }

    fn set(&self) {
        let word = self.update(SET, SET);
        if word & WAITERS != 0 {
            let _guard = self.monitor.lock().unwrap();
            self.wake.notify_all();
        }
    }

    fn reset(&self) {
        self.update(0, SET);
    }

    /// Decrements the number of waiters. In the bugged form the increment may have been lost.
    fn leave(&self) {
        self.set_waiters(self.waiters().saturating_sub(1));
    }

    fn is_set(&self) -> bool {
        self.word.load(SeqCst) & SET != 0
    }

    fn waiters(&self) -> u32 {
        self.word.load(SeqCst) >> 1
    }

    fn set_waiters(&self, waiters: u32) {
        self.update(waiters << 1, WAITERS);
    }

    /// Replaces the bits of `mask` by `bits`. Returns the new word.
    fn update(&self, bits: u32, mask: u32) -> u32 {
        loop {
            let old = self.word.load(SeqCst);
            let base = match self.form {
                Form::Bugged => self.word.load(SeqCst),
                Form::Fixed => old,
            };
            let new = (base & !mask) | bits;
            if self.word.compare_exchange(old, new, SeqCst, SeqCst).is_ok() {
                return new;
            }
        }
    }
}
