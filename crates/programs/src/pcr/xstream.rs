//! V20, a serialiser: its strategy is removed between a test for null and its use.

use super::library::{Consulted, Monitor, NULL_POINTER, Reference};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

pub(super) struct XStream {
    monitor: Monitor,
    strategy: Reference<u32>,
    /// The mapper, the converters, the driver, and so on.
    parts: Consulted<5>,
}

impl ThreadSafe for XStream {
    const NAME: &'static str = "v20-xstream";
    const ABOUT: &'static str = "serialiser whose strategy is removed between the test and the use";
    const CLASS: &'static str = "XStream";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![marshal, set_strategy, remove_strategy, get_converter];
    const FAILING: Test = Test::of(
        &["set_strategy"],
        [&["marshal"], &["get_converter", "get_converter", "remove_strategy"]],
    );

    fn new(form: Form) -> Self {
        XStream {
            monitor: Monitor::new(form),
            strategy: Reference::null(),
            parts: Consulted::new(),
        }
    }
}

impl XStream {
    /// Returns the output, or nothing if there is no strategy.
    fn marshal(&self) -> Option<u32> {
        let _guard = self.monitor.enter_if_fixed();
        if self.strategy.is_null() {
            return None;
        }
        Some(self.strategy.used() + self.parts.consult())
    }

    fn set_strategy(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.strategy.set(1);
    }

    fn remove_strategy(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.strategy.set_null();
    }

    fn get_converter(&self) -> u32 {
        let _guard = self.monitor.enter_if_fixed();
        self.parts.consult()
    }
}
