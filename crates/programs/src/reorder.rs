//! SCTBench's reorder: setters write two variables one after the other, and a checker must never read only one of them as
//! written.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Mutex};

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const THREE: Program = program("reorder_3", |form, _| body(form, 2, 1), |_| 4);
pub(super) const FOUR: Program = program("reorder_4", |form, _| body(form, 3, 1), |_| 5);
pub(super) const FIVE: Program = program("reorder_5", |form, _| body(form, 4, 1), |_| 6);
pub(super) const TEN: Program = program("reorder_10", |form, _| body(form, 9, 1), |_| 11);
pub(super) const TWENTY: Program = program("reorder_20", |form, _| body(form, 10, 10), |_| 21);

const fn program(name: &'static str, body: fn(Form, u32), threads: fn(u32) -> u32) -> Program {
    Program {
        name,
        origin: Origin::SctBench,
        about: "setters write two variables, without a lock; a checker reads both",
        failure: Failure::Assertion,
        class: Class::Atomicity,
        granularity: Granularity::All,
        space: Space::Acyclic,
        size: Size::FIXED,
        threads,
        body,
    }
}

struct Pair {
    form: Form,
    lock: Mutex<()>,
    a: Shared<i32>,
    b: Shared<i32>,
}

fn body(form: Form, setters: usize, checkers: usize) {
    let (lock, a, b) = (Mutex::new(()), Shared::new(0), Shared::new(0));
    let pair = Arc::new(Pair { form, lock, a, b });
    let mut bodies = vec![Pair::set as fn(&Pair); setters];
    bodies.resize(setters + checkers, Pair::check);
    join_all(start(&pair, &bodies));
}

impl Pair {
    fn set(&self) {
        let _guard = self.form.guard(&self.lock);
        self.a.set(1);
        self.b.set(-1);
    }

    fn check(&self) {
        let _guard = self.form.guard(&self.lock);
        let unset = self.a.get() == 0 && self.b.get() == 0;
        assert!(unset || (self.a.get() == 1 && self.b.get() == -1), "half set");
    }
}
