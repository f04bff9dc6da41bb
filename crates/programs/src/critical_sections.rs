//! SCTBench's small programs about critical sections. Each section is correct, but one is missing, uses the wrong lock, or
//! runs in an unexpected order.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Mutex};

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

const BASE: Program = Program {
    name: "",
    origin: Origin::SctBench,
    about: "",
    failure: Failure::Assertion,
    class: Class::Order,
    granularity: Granularity::Sync,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body: |_, _| {},
};

pub(super) const ACCOUNT: Program = Program {
    name: "account",
    about: "a deposit, a withdrawal and a check of the balance, which fails if it is last",
    threads: |_| 4,
    body: |form, _| account(form),
    ..BASE
};

pub(super) const LAZY: Program = Program {
    name: "lazy01",
    about: "two threads add to a sum; the third fails if both have added",
    threads: |_| 4,
    body: |form, _| lazy(form),
    ..BASE
};

pub(super) const TOKEN_RING: Program = Program {
    name: "token_ring",
    about: "three threads pass a value on, in any order; a fourth expects the right order",
    threads: |_| 5,
    body: |form, _| token_ring(form),
    ..BASE
};

pub(super) const TWO_STAGE: Program = Program {
    name: "twostage",
    about: "two variables are written under two locks, one after the other; a reader sees only one write",
    class: Class::Atomicity,
    body: |form, _| two_stage(form, 1),
    ..BASE
};

pub(super) const TWO_STAGE_100: Program = Program {
    name: "twostage_100",
    about: "as twostage, with many writers, whose first variable is read under the second lock",
    class: Class::Atomicity,
    granularity: Granularity::All,
    size: Size { counts: "writers", least: 1, usual: 99, most: 99 },
    threads: |writers| writers + 2,
    body: |form, writers| two_stage(form, writers as usize),
    ..BASE
};

pub(super) const WRONG_LOCK: Program = Program {
    name: "wronglock",
    about: "a thread counts under one lock, seven others count the same under another",
    class: Class::Atomicity,
    granularity: Granularity::All,
    threads: |_| 9,
    body: |form, _| wrong_lock(form, 7),
    ..BASE
};

pub(super) const WRONG_LOCK_3: Program = Program {
    name: "wronglock_3",
    about: "as wronglock, with three others",
    threads: |_| 5,
    body: |form, _| wrong_lock(form, 3),
    ..WRONG_LOCK
};

fn account(form: Form) {
    struct Account {
        balance: i32,
        deposited: bool,
        withdrawn: bool,
        /// The balance that the check expects.
        expected: i32,
    }
    let expected = match form {
        Form::Bugged => -5,
        Form::Fixed => -1,
    };
    let account = Account { balance: 1, deposited: false, withdrawn: false, expected };
    // The threads are not joined.
    start(
        &Arc::new(Mutex::new(account)),
        &[
            |account| {
                let account = account.lock().unwrap();
                if account.deposited && account.withdrawn {
                    assert_eq!(account.balance, account.expected, "the balance");
                }
            },
            |account| {
                let mut account = account.lock().unwrap();
                account.balance += 2;
                account.deposited = true;
            },
            |account| {
                let mut account = account.lock().unwrap();
                account.balance -= 4;
                account.withdrawn = true;
            },
        ],
    );
}

fn lazy(form: Form) {
    struct Sum {
        data: Mutex<i32>,
        most: i32,
    }
    let most = match form {
        Form::Bugged => 2,
        Form::Fixed => 3,
    };
    let sum = Arc::new(Sum { data: Mutex::new(0), most });
    join_all(start(
        &sum,
        &[
            |sum| *sum.data.lock().unwrap() += 1,
            |sum| *sum.data.lock().unwrap() += 2,
            |sum| {
                let data = sum.data.lock().unwrap();
                assert!(*data <= sum.most, "both have added");
            },
        ],
    ));
}

fn token_ring(form: Form) {
    struct Ring {
        form: Form,
        x: [i32; 3],
        done: [bool; 3],
    }
    impl Ring {
        /// In the fixed form a thread does its part only after the previous thread.
        fn pass(&mut self, to: usize, value: i32) {
            let is_its_turn = to == 0 || self.done[to - 1];
            if self.form == Form::Bugged || is_its_turn {
                self.x[to] = value;
                self.done[to] = true;
            }
        }
    }
    let ring = Ring { form, x: [1, 2, 1], done: [false; 3] };
    start(
        &Arc::new(Mutex::new(ring)),
        &[
            |ring| {
                let mut ring = ring.lock().unwrap();
                let next = (ring.x[2] + 1) % 4;
                ring.pass(0, next);
            },
            |ring| {
                let mut ring = ring.lock().unwrap();
                let next = ring.x[0];
                ring.pass(1, next);
            },
            |ring| {
                let mut ring = ring.lock().unwrap();
                let next = ring.x[1];
                ring.pass(2, next);
            },
            |ring| {
                let ring = ring.lock().unwrap();
                if ring.done == [true; 3] {
                    assert!(ring.x[0] == ring.x[1] && ring.x[1] == ring.x[2], "{:?}", ring.x);
                }
            },
        ],
    );
}

fn two_stage(form: Form, writers: usize) {
    struct Stages {
        form: Form,
        first: Mutex<()>,
        /// Written under the first lock, and also read under the second.
        one: Shared<i32>,
        two: Mutex<i32>,
    }
    impl Stages {
        fn write(&self) {
            let first = self.first.lock().unwrap();
            self.one.set(1);
            // The fixed form holds the first lock during both stages.
            let first = match self.form {
                Form::Bugged => {
                    drop(first);
                    None
                }
                Form::Fixed => Some(first),
            };
            let mut two = self.two.lock().unwrap();
            *two = self.one.get() + 1;
            drop(two);
            drop(first);
        }

        fn read(&self) {
            let first = self.first.lock().unwrap();
            let one = self.one.get();
            drop(first);
            if one != 0 {
                let two = self.two.lock().unwrap();
                let found = *two;
                drop(two);
                assert_eq!(found, one + 1, "the second stage");
            }
        }
    }
    let (first, one, two) = (Mutex::new(()), Shared::new(0), Mutex::new(0));
    let mut bodies = vec![Stages::write as fn(&Stages); writers];
    bodies.push(Stages::read);
    join_all(start(&Arc::new(Stages { form, first, one, two }), &bodies));
}

fn wrong_lock(form: Form, others: usize) {
    struct Count {
        form: Form,
        right: Mutex<()>,
        wrong: Mutex<()>,
        value: Shared<i32>,
    }
    impl Count {
        fn look(&self) {
            let _guard = self.right.lock().unwrap();
            let before = self.value.get();
            self.value.set(self.value.get() + 1);
            assert_eq!(self.value.get(), before + 1, "another thread has counted");
        }

        fn count(&self) {
            let lock = match self.form {
                Form::Bugged => &self.wrong,
                Form::Fixed => &self.right,
            };
            let _guard = lock.lock().unwrap();
            self.value.set(self.value.get() + 1);
        }
    }
    let (right, wrong, value) = (Mutex::new(()), Mutex::new(()), Shared::new(0));
    let mut bodies = vec![Count::look as fn(&Count)];
    bodies.resize(1 + others, Count::count);
    join_all(start(&Arc::new(Count { form, right, wrong, value }), &bodies));
}
