//! V5, a buffered input stream: `read` is synchronised and `close` is not. So `close` can remove the buffer while `read`
//! fills it.

use raddle::cell::Shared;

use super::library::{Monitor, NULL_POINTER, Reference};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

pub(super) struct BufferedInputStream {
    monitor: Monitor,
    /// The underlying stream. Null once this stream is closed.
    input: Reference<u32>,
    /// The size of the buffer.
    buffer: Reference<u32>,
    position: Shared<u32>,
    count: Shared<u32>,
    marked: Shared<u32>,
}

impl ThreadSafe for BufferedInputStream {
    const NAME: &'static str = "v5-stream";
    const ABOUT: &'static str = "buffered stream closed while read fills its buffer";
    const CLASS: &'static str = "BufferedInputStream";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![read, skip, available, mark, reset, close];
    const FAILING: Test = Test::of(&["mark"], [&["read"], &["available", "close"]]);

    fn new(form: Form) -> Self {
        BufferedInputStream {
            monitor: Monitor::new(form),
            input: Reference::to(1),
            buffer: Reference::to(4),
            position: Shared::new(0),
            count: Shared::new(0),
            marked: Shared::new(0),
        }
    }
}

impl BufferedInputStream {
    /// Returns a byte, or none if the stream is closed.
    fn read(&self) -> Option<u32> {
        let _guard = self.monitor.enter();
        if self.input.is_null() {
            return None;
        }
        if self.position.get() >= self.count.get() {
            self.fill();
        }
        let position = self.position.get();
        self.position.set(position + 1);
        Some(position % self.buffer.used())
    }

    fn fill(&self) {
        self.position.set(0);
        self.count.set(self.buffer.used());
    }

    fn skip(&self) {
        let _guard = self.monitor.enter();
        if self.position.get() < self.count.get() {
            self.position.set(self.count.get());
        }
    }

    fn available(&self) -> u32 {
        let _guard = self.monitor.enter();
        self.count.get().saturating_sub(self.position.get())
    }

    fn mark(&self) {
        let _guard = self.monitor.enter();
        self.marked.set(self.position.get());
    }

    fn reset(&self) {
        let _guard = self.monitor.enter();
        self.position.set(self.marked.get());
    }

    fn close(&self) {
        let _guard = self.monitor.enter_if_fixed();
        if !self.input.is_null() {
            self.input.set_null();
            self.buffer.set_null();
        }
    }
}
