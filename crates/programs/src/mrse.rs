//! MRSE, a manual reset event: a packed word holds whether the event is set and how many wait for it.
//!
//! The word is changed by a loop around a compare-exchange. In the bugged form the loop computes the
//! new word from a second read instead of from the word it compares with. When the word goes away and
//! comes back between the reads, the exchange writes what is out of date: a set or a waiter gets
//! lost, and the waiter waits for ever.
//!
//! Thread 1 waits; the size is how many threads do. The last thread sets, resets and sets.

use raddle::Granularity;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const PROGRAM: Program = Program {
    name: "mrse",
    origin: Origin::Bpor,
    about: "manual reset event; its packed word is changed by a stale read",
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
    /// The lowest bit tells whether it is set, the others count the waiters.
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

    /// One waiter less; in the bugged form the count can be lost already.
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

    /// Puts `bits` where `mask` is; what the word is now.
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
