//! The examples of bug depth in the PCT paper, Figs 1 to 5, each with the depth that the paper gives.
//!
//! Figure 2 has a second constraint: main does not end the process before the bug. Here the other threads continue when
//! main returns, so only one constraint is left.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread;

use super::mortal::Mortal;
use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const ORDER: Program = Program {
    name: "pct-fig1a",
    origin: Origin::Pct,
    about: "depth 1: a thread uses a value that another has not initialised yet",
    failure: Failure::Assertion,
    class: Class::Order,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body: |form, _| order(form),
};

pub(super) const ATOMICITY: Program = Program {
    name: "pct-fig1b",
    about: "depth 2: a thread tests a pointer, then calls through it; another clears it",
    class: Class::Atomicity,
    body: |form, _| atomicity(form),
    ..ORDER
};

pub(super) const DEADLOCK: Program = Program {
    name: "pct-fig1c",
    about: "depth 2: two locks are acquired in opposite orders",
    failure: Failure::Deadlock,
    class: Class::Locking,
    granularity: Granularity::Sync,
    body: super::locks::DEADLOCK.body,
    ..ORDER
};

pub(super) const DESTROYED: Program = Program {
    name: "pct-fig2",
    about: "depth 2, or 1 if the others continue after main: a mutex is unlocked after it was freed",
    class: Class::Lifetime,
    granularity: Granularity::Sync,
    threads: |_| 2,
    body: |form, _| destroyed(form),
    ..ORDER
};

pub(super) const PREEMPTED: Program = Program {
    name: "pct-fig3",
    about: "depth 1, although it needs a preemption: use before initialisation, after an event",
    body: |form, _| preempted(form),
    ..ORDER
};

pub(super) const CONTROL_FLOW: Program = Program {
    name: "pct-fig4",
    about: "depth 2: a flag is set before the initialisation",
    body: |form, _| control_flow(form),
    ..ORDER
};

pub(super) const LONG: Program = Program {
    name: "pct-fig5",
    about: "depth 1, but a random walk rarely finds it: all steps of one thread come first",
    size: Size { counts: "steps on the way", least: 1, usual: 20, most: 1000 },
    body: long,
    ..ORDER
};

/// A value that one thread uses and another initialises.
struct Value {
    form: Form,
    is_ready: Shared<bool>,
    is_initialised: Shared<bool>,
    lock: Mutex<bool>,
    changed: Condvar,
}

impl Value {
    fn new(form: Form) -> Value {
        Value {
            form,
            is_ready: Shared::new(false),
            is_initialised: Shared::new(false),
            lock: Mutex::new(false),
            changed: Condvar::new(),
        }
    }

    fn initialise(&self) {
        self.is_initialised.set(true);
    }

    fn use_value(&self) {
        assert!(self.is_initialised.get(), "used before it is initialised");
    }

    fn signal(&self) {
        *self.lock.lock().unwrap() = true;
        self.changed.notify_one();
    }

    fn wait(&self) {
        let mut is_set = self.lock.lock().unwrap();
        while !*is_set {
            is_set = self.changed.wait(is_set).unwrap();
        }
    }
}

fn order(form: Form) {
    join_all(start(
        &Arc::new(Value::new(form)),
        &[
            |value| {
                value.initialise();
                value.signal();
            },
            |value| {
                if value.form == Form::Fixed {
                    value.wait();
                }
                value.use_value();
            },
        ],
    ));
}

fn atomicity(form: Form) {
    struct Pointer {
        form: Form,
        lock: Mutex<()>,
        is_there: Shared<bool>,
    }
    let pointer = Pointer { form, lock: Mutex::new(()), is_there: Shared::new(true) };
    join_all(start(
        &Arc::new(pointer),
        &[
            |pointer| {
                let _guard = pointer.form.guard(&pointer.lock);
                pointer.is_there.set(false);
            },
            |pointer| {
                let _guard = pointer.form.guard(&pointer.lock);
                if pointer.is_there.get() {
                    assert!(pointer.is_there.get(), "a call through a null pointer");
                }
            },
        ],
    ));
}

fn destroyed(form: Form) {
    let lock = Arc::new(Mortal::new(()));
    let (main, mutex) = (thread::current(), lock.clone());
    let consumer = thread::spawn(move || {
        let guard = mutex.lock();
        main.unpark();
        mutex.unlock(guard);
    });
    thread::park();
    if form == Form::Fixed {
        join_all(vec![consumer]);
    }
    lock.destroy();
}

fn preempted(form: Form) {
    join_all(start(
        &Arc::new(Value::new(form)),
        &[
            |value| match value.form {
                Form::Bugged => {
                    value.signal();
                    value.initialise();
                }
                Form::Fixed => {
                    value.initialise();
                    value.signal();
                }
            },
            |value| {
                value.wait();
                value.use_value();
            },
        ],
    ));
}

fn control_flow(form: Form) {
    join_all(start(
        &Arc::new(Value::new(form)),
        &[
            |value| match value.form {
                Form::Bugged => {
                    value.is_ready.set(true);
                    value.initialise();
                }
                Form::Fixed => {
                    value.initialise();
                    value.is_ready.set(true);
                }
            },
            |value| {
                if value.is_ready.get() {
                    value.use_value();
                }
            },
        ],
    ));
}

/// Each thread uses a value, performs many steps and clears the value of the other. There are two bugs, and each needs all
/// steps of one thread before the first of the other.
fn long(form: Form, length: u32) {
    struct Values {
        form: Form,
        is_there: [Shared<bool>; 2],
        way: Shared<u32>,
        length: u32,
    }
    impl Values {
        fn go(&self, mine: usize, other: usize) {
            assert!(self.is_there[mine].get(), "the value was cleared");
            for _ in 0..self.length {
                self.way.get();
            }
            if self.form == Form::Bugged {
                self.is_there[other].set(false);
            }
        }
    }
    let is_there = [Shared::new(true), Shared::new(true)];
    let values = Arc::new(Values { form, is_there, way: Shared::new(0), length });
    join_all(start(&values, &[|values| values.go(0, 1), |values| values.go(1, 0)]));
    for is_there in &values.is_there {
        is_there.set(false);
    }
}
