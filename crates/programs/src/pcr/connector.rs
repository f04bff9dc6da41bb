//! V3 and V4, the connector of a web server. Objects are reused: another thread recycles an object between the test of a
//! reference and its use.

use raddle::cell::Shared;

use super::library::{Consulted, Monitor, NULL_POINTER, Reference};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

pub(super) struct InputBuffer {
    monitor: Monitor,
    request: Reference<u32>,
    closed: Shared<bool>,
    state: Shared<State>,
    position: Shared<u32>,
    mark: Shared<u32>,
    sizes: Consulted<6>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Initial,
    Bytes,
}

impl ThreadSafe for InputBuffer {
    const NAME: &'static str = "v3-input-buffer";
    const ABOUT: &'static str = "input buffer read while its request is removed";
    const CLASS: &'static str = "InputBuffer";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![read, available, mark, reset, set_request, remove_request, recycle, close];
    const FAILING: Test = Test::of(&["mark"], [&["read"], &["available", "recycle"]]);

    fn new(form: Form) -> Self {
        InputBuffer {
            monitor: Monitor::new(form),
            request: Reference::to(7),
            closed: Shared::new(false),
            state: Shared::new(State::Initial),
            position: Shared::new(0),
            mark: Shared::new(0),
            sizes: Consulted::new(),
        }
    }
}

impl InputBuffer {
    fn read(&self) -> Option<u32> {
        let _guard = self.monitor.enter_if_fixed();
        if self.closed.get() || self.request.is_null() {
            return None;
        }
        if self.state.get() == State::Initial {
            self.state.set(State::Bytes);
        }
        Some(self.request.used())
    }

    fn available(&self) -> u32 {
        let _guard = self.monitor.enter_if_fixed();
        self.sizes.consult() - self.position.get().min(1)
    }

    fn mark(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.mark.set(self.position.get());
    }

    fn reset(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.position.set(self.mark.get());
    }

    fn set_request(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.request.set(8);
    }

    fn remove_request(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.request.set_null();
    }

    fn recycle(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.position.set(0);
        self.mark.set(0);
        self.closed.set(false);
        self.request.set_null();
    }

    fn close(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.closed.set(true);
    }
}

pub(super) struct Request {
    monitor: Monitor,
    context: Reference<u32>,
    wrapper: Reference<u32>,
    session: Reference<u32>,
    attributes: Shared<u32>,
    parsed: Shared<bool>,
}

impl ThreadSafe for Request {
    const NAME: &'static str = "v4-request";
    const ABOUT: &'static str = "request recycled while its context creates a session";
    const CLASS: &'static str = "Request";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] = operations![
        get_session,
        get_context,
        get_wrapper,
        set_context,
        set_attribute,
        parse_parameters,
        recycle,
    ];
    const FAILING: Test = Test::of(&["set_attribute"], [&["get_session"], &["recycle"]]);

    fn new(form: Form) -> Self {
        Request {
            monitor: Monitor::new(form),
            context: Reference::to(3),
            wrapper: Reference::to(4),
            session: Reference::null(),
            attributes: Shared::new(0),
            parsed: Shared::new(false),
        }
    }
}

impl Request {
    fn get_session(&self) -> Option<u32> {
        let _guard = self.monitor.enter_if_fixed();
        if self.context.is_null() {
            return None;
        }
        if self.session.is_null() {
            self.session.set(self.context.used() + 1);
        }
        Some(self.attributes.get())
    }

    fn get_context(&self) -> bool {
        let _guard = self.monitor.enter_if_fixed();
        self.context.is_null()
    }

    fn get_wrapper(&self) -> Option<u32> {
        let _guard = self.monitor.enter_if_fixed();
        (!self.wrapper.is_null()).then(|| self.wrapper.used())
    }

    fn set_context(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.context.set(5);
    }

    fn set_attribute(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.attributes.set(self.attributes.get() + 1);
    }

    fn parse_parameters(&self) {
        let _guard = self.monitor.enter_if_fixed();
        if !self.parsed.get() {
            self.parsed.set(true);
        }
    }

    fn recycle(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.parsed.set(false);
        self.attributes.set(0);
        self.session.set_null();
        self.wrapper.set_null();
        self.context.set_null();
    }
}
