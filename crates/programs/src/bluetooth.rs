//! SCTBench's bluetooth_driver: a request increments a count, unless the driver is stopping. The driver stops when there
//! are no requests.
//!
//! In the bugged form the request tests whether the driver is stopping before it increments the count.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Mutex};

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const PROGRAM: Program = Program {
    name: "bluetooth_driver",
    origin: Origin::SctBench,
    about: "a request is counted only after it has read that the driver is not stopping",
    failure: Failure::Assertion,
    class: Class::Atomicity,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 2,
    body,
};

struct Driver {
    is_stopping: Shared<bool>,
    /// The number of requests, plus one for the driver itself. A rejected request is counted until it leaves.
    pending: Mutex<i32>,
    is_idle: Shared<bool>,
    has_stopped: Shared<bool>,
}

fn body(form: Form, _size: u32) {
    let driver = Arc::new(Driver {
        is_stopping: Shared::new(false),
        pending: Mutex::new(1),
        is_idle: Shared::new(false),
        has_stopped: Shared::new(false),
    });
    let stopper = start(&driver, &[Driver::stop]);
    let may_go_on = match form {
        Form::Bugged => {
            let may_go_on = !driver.is_stopping.get();
            if may_go_on {
                *driver.pending.lock().unwrap() += 1;
            }
            may_go_on
        }
        Form::Fixed => {
            *driver.pending.lock().unwrap() += 1;
            !driver.is_stopping.get()
        }
    };
    if may_go_on {
        assert!(!driver.has_stopped.get(), "a request to a driver that has stopped");
    }
    driver.leave();
    join_all(stopper);
}

impl Driver {
    fn stop(&self) {
        self.is_stopping.set(true);
        self.leave();
        if self.is_idle.get() {
            self.has_stopped.set(true);
        }
    }

    fn leave(&self) {
        let mut pending = self.pending.lock().unwrap();
        *pending -= 1;
        let is_idle = *pending == 0;
        drop(pending);
        if is_idle {
            self.is_idle.set(true);
        }
    }
}
