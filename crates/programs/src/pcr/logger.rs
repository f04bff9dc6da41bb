//! V8, a logger: `log` tests and uses the filter under the lock, but the filter is set without the lock.

use raddle::cell::Shared;

use super::library::{Consulted, Monitor, NULL_POINTER, Reference};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

pub(super) struct Logger {
    monitor: Monitor,
    /// The lowest level that is logged.
    filter: Reference<u32>,
    level: Shared<u32>,
    logged: Shared<u32>,
    /// Fields inherited from the parents.
    parents: Consulted<3>,
}

impl ThreadSafe for Logger {
    const NAME: &'static str = "v8-logger";
    const ABOUT: &'static str = "logger whose filter is removed between the test and the use";
    const CLASS: &'static str = "Logger";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![log, set_filter, remove_filter, has_filter, raise_level, is_loggable];
    const FAILING: Test = Test::of(&["set_filter"], [&["log"], &["is_loggable", "remove_filter"]]);

    fn new(form: Form) -> Self {
        Logger {
            monitor: Monitor::new(form),
            filter: Reference::null(),
            level: Shared::new(0),
            logged: Shared::new(0),
            parents: Consulted::new(),
        }
    }
}

impl Logger {
    fn log(&self) {
        let _guard = self.monitor.enter();
        if self.level.get() > RECORD {
            return;
        }
        if self.filter.is_null() || self.filter.used() <= RECORD {
            self.logged.set(self.logged.get() + 1);
        }
    }

    fn set_filter(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.filter.set(RECORD);
    }

    fn remove_filter(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.filter.set_null();
    }

    fn has_filter(&self) -> bool {
        let _guard = self.monitor.enter_if_fixed();
        !self.filter.is_null()
    }

    fn raise_level(&self) {
        let _guard = self.monitor.enter();
        self.level.set((self.level.get() + 1).min(RECORD));
    }

    fn is_loggable(&self) -> bool {
        let _guard = self.monitor.enter_if_fixed();
        self.parents.consult() > 0 && self.level.get() <= RECORD
    }
}

/// The level of the logged records.
const RECORD: u32 = 2;
