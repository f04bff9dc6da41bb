//! V9, a string buffer: inserting another buffer reads its length before it acquires the lock, and then copies as many
//! characters, which may have been removed.

use raddle::cell::Shared;

use super::library::{Monitor, OUT_OF_BOUNDS};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

/// Two string buffers: the source is inserted into the target.
pub(super) struct StringBuffer {
    /// Protects operations on both buffers in the fixed form.
    both: Monitor,
    target: Buffer,
    source: Buffer,
}

/// A string buffer without its characters: only their number is stored.
struct Buffer {
    monitor: Monitor,
    count: Shared<u32>,
}

impl ThreadSafe for StringBuffer {
    const NAME: &'static str = "v9-string-buffer";
    const ABOUT: &'static str = "string buffer shrinks while it is inserted into another";
    const CLASS: &'static str = "StringBuffer";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = OUT_OF_BOUNDS;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![insert_source, append_to_source, empty_source, empty_target, source_length];
    const FAILING: Test = Test::of(
        &["append_to_source"],
        [&["insert_source"], &["source_length", "source_length", "empty_source"]],
    );

    fn new(form: Form) -> Self {
        StringBuffer {
            both: Monitor::new(form),
            target: Buffer::new(form),
            source: Buffer::new(form),
        }
    }
}

impl StringBuffer {
    fn insert_source(&self) {
        let _guard = self.both.enter_if_fixed();
        let length = self.source.length();
        self.target.insert(&self.source, length);
    }

    fn append_to_source(&self) {
        let _guard = self.both.enter_if_fixed();
        self.source.append();
    }

    fn empty_source(&self) {
        let _guard = self.both.enter_if_fixed();
        self.source.set_length(0);
    }

    fn empty_target(&self) {
        let _guard = self.both.enter_if_fixed();
        self.target.set_length(0);
    }

    fn source_length(&self) -> u32 {
        let _guard = self.both.enter_if_fixed();
        self.source.length()
    }
}

impl Buffer {
    fn new(form: Form) -> Buffer {
        Buffer { monitor: Monitor::new(form), count: Shared::new(1) }
    }

    fn length(&self) -> u32 {
        let _guard = self.monitor.enter();
        self.count.get()
    }

    fn set_length(&self, length: u32) {
        let _guard = self.monitor.enter();
        self.count.set(length);
    }

    fn append(&self) {
        let _guard = self.monitor.enter();
        self.count.set(self.count.get() + 1);
    }

    /// Copies the first characters of another buffer.
    fn insert(&self, other: &Buffer, length: u32) {
        let _guard = self.monitor.enter();
        assert!(length <= other.length(), "{OUT_OF_BOUNDS}: {length}");
        self.count.set(self.count.get() + length);
    }
}
