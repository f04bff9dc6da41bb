//! Exception: tasks of a port, run by a dispatcher's threads. One task throws, and the handler must receive the exception
//! exactly once.
//!
//! A thread that ends a task counts it. The thread that ends the last task and the thread that threw deliver the
//! exception. In the first bugged form the delivery tests "handled" and then sets it, so both can deliver. In the second,
//! only the end of the last task delivers. It reads the exception before it knows that it is the last, so the exception
//! can be lost.

use std::collections::VecDeque;

use raddle::Granularity;
use raddle::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const TWICE: Program = Program {
    name: "exception",
    about: "tasks of a port, one throws; the handler can receive the exception twice (test, then set)",
    class: Class::Atomicity,
    body: |form, tasks| body(form, tasks, Delivery::ByThrowerToo),
    ..LOST
};

pub(super) const LOST: Program = Program {
    name: "exception-lost",
    origin: Origin::Bpor,
    about: "tasks of a port, one throws; the last task reads the exception too early",
    failure: Failure::Assertion,
    class: Class::Order,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size { counts: "tasks", least: 2, usual: 3, most: 64 },
    threads: |_| DISPATCHERS + 1,
    body: |form, tasks| body(form, tasks, Delivery::ByLast),
};

const DISPATCHERS: u32 = 2;

/// The thread that delivers an exception.
#[derive(Clone, Copy)]
enum Delivery {
    /// The end of the last task.
    ByLast,
    /// The end of the last task, and the task that threw.
    ByThrowerToo,
}

struct Causality {
    form: Form,
    delivery: Delivery,
    port: Mutex<VecDeque<u32>>,
    outstanding: AtomicU32,
    thrown: AtomicBool,
    handled: AtomicBool,
    received: AtomicU32,
}

fn body(form: Form, tasks: u32, delivery: Delivery) {
    let causality = Arc::new(Causality {
        form,
        delivery,
        port: Mutex::new((0..tasks).collect()),
        outstanding: AtomicU32::new(tasks),
        thrown: AtomicBool::new(false),
        handled: AtomicBool::new(false),
        received: AtomicU32::new(0),
    });
    let threads = (0..DISPATCHERS)
        .map(|_| {
            let causality = causality.clone();
            thread::spawn(move || causality.dispatch())
        })
        .collect();
    join_all(threads);
    assert_eq!(causality.received.load(SeqCst), 1, "the handler's exceptions");
}

impl Causality {
    fn dispatch(&self) {
        while let Some(task) = self.take() {
            // The first task throws. The others do nothing.
            let threw = task == 0;
            if threw {
                self.thrown.store(true, SeqCst);
            }
            self.end();
            if threw && matches!(self.delivery, Delivery::ByThrowerToo) {
                self.deliver();
            }
        }
    }

    fn take(&self) -> Option<u32> {
        self.port.lock().unwrap().pop_front()
    }

    fn end(&self) {
        let deliver = match (self.delivery, self.form) {
            (Delivery::ByLast, Form::Bugged) => {
                let thrown = self.thrown.load(SeqCst);
                self.is_last() && thrown
            }
            (Delivery::ByLast, Form::Fixed) | (Delivery::ByThrowerToo, _) => {
                self.is_last() && self.thrown.load(SeqCst)
            }
        };
        if deliver {
            self.deliver();
        }
    }

    fn is_last(&self) -> bool {
        self.outstanding.fetch_sub(1, SeqCst) == 1
    }

    fn deliver(&self) {
        let first = match (self.delivery, self.form) {
            (Delivery::ByThrowerToo, Form::Bugged) => {
                let handled = self.handled.load(SeqCst);
                self.handled.store(true, SeqCst);
                !handled
            }
            (Delivery::ByThrowerToo, Form::Fixed) | (Delivery::ByLast, _) => {
                !self.handled.swap(true, SeqCst)
            }
        };
        if first {
            self.received.fetch_add(1, SeqCst);
        }
    }
}
