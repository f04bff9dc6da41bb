//! V6 and V7, hash tables: one is copied into itself while it is cleared, and the table of the other is replaced without the
//! lock.

use raddle::cell::Shared;

use super::library::{Monitor, OUT_OF_BOUNDS, Reference};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

/// The message of the hash of a map that contains itself.
const STACK_OVERFLOW: &str = "StackOverflowError";

/// A map that contains itself. Operations on one entry are atomic, and composed operations are not.
pub(super) struct ConcurrentHashMap {
    /// Protects operations on one entry.
    segment: Monitor,
    /// Protects composed operations in the fixed form. Unused in the bugged form.
    whole: Monitor,
    entries: [Reference<Value>; 2],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    ItsMap,
    Number(u32),
}

impl ThreadSafe for ConcurrentHashMap {
    const NAME: &'static str = "v6-concurrent-map";
    const ABOUT: &'static str =
        "a map that contains itself is cleared while it is copied into itself";
    const CLASS: &'static str = "ConcurrentHashMap";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = STACK_OVERFLOW;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![put_all_of_itself, clear_and_hash, put_number, remove_number, is_empty];
    const FAILING: Test = Test::of(&[], [&["put_all_of_itself"], &["clear_and_hash"]]);

    fn new(form: Form) -> Self {
        ConcurrentHashMap {
            segment: Monitor::new(form),
            whole: Monitor::new(form),
            entries: [Reference::to(Value::ItsMap), Reference::null()],
        }
    }
}

impl ConcurrentHashMap {
    fn get(&self, key: usize) -> Option<Value> {
        let _guard = self.segment.enter();
        (!self.entries[key].is_null()).then(|| self.entries[key].used())
    }

    fn put(&self, key: usize, value: Value) {
        let _guard = self.segment.enter();
        self.entries[key].set(value);
    }

    fn remove(&self, key: usize) {
        let _guard = self.segment.enter();
        self.entries[key].set_null();
    }

    fn put_all_of_itself(&self) {
        let _guard = self.whole.enter_if_fixed();
        for key in 0..self.entries.len() {
            if let Some(value) = self.get(key) {
                self.put(key, value);
            }
        }
    }

    /// Clears and hashes in one operation, because the hash of a map that contains itself does not end with any number of
    /// threads.
    fn clear_and_hash(&self) -> u32 {
        let _guard = self.whole.enter_if_fixed();
        for key in 0..self.entries.len() {
            self.remove(key);
        }
        self.hash()
    }

    fn hash(&self) -> u32 {
        let mut hash = 0;
        for key in 0..self.entries.len() {
            match self.get(key) {
                Some(Value::ItsMap) => panic!("{STACK_OVERFLOW}"),
                Some(Value::Number(number)) => hash += number,
                None => {}
            }
        }
        hash
    }

    fn put_number(&self) {
        let _guard = self.whole.enter_if_fixed();
        self.put(1, Value::Number(1));
    }

    fn remove_number(&self) {
        let _guard = self.whole.enter_if_fixed();
        self.remove(1);
    }

    fn is_empty(&self) -> bool {
        let _guard = self.whole.enter_if_fixed();
        (0..self.entries.len()).all(|key| self.get(key).is_none())
    }
}

/// A table of numbers. The hash function is the remainder, and each bucket has one entry.
pub(super) struct Hashtable {
    monitor: Monitor,
    /// The number of the current table.
    table: Shared<usize>,
    count: Shared<usize>,
    /// Tables of increasing size, whose buckets hold keys.
    tables: [Vec<Reference<usize>>; TABLES],
}

const TABLES: usize = 3;

impl ThreadSafe for Hashtable {
    const NAME: &'static str = "v7-hashtable";
    const ABOUT: &'static str = "rehash replaces the table, without the lock, while it is cloned";
    const CLASS: &'static str = "Hashtable";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = OUT_OF_BOUNDS;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![put_one, put_two, contains_one, clone_table, rehash, size];
    const FAILING: Test = Test::of(&["put_one"], [&["clone_table"], &["contains_one", "rehash"]]);

    fn new(form: Form) -> Self {
        let table = |number| (0..2 << number).map(|_| Reference::null()).collect();
        Hashtable {
            monitor: Monitor::new(form),
            table: Shared::new(0),
            count: Shared::new(0),
            tables: std::array::from_fn(table),
        }
    }
}

impl Hashtable {
    fn put_one(&self) {
        self.put(1);
    }

    fn put_two(&self) {
        self.put(2);
    }

    fn put(&self, key: usize) {
        let _guard = self.monitor.enter();
        let table = &self.tables[self.table.get()];
        let bucket = &table[key % table.len()];
        if bucket.is_null() {
            self.count.set(self.count.get() + 1);
        }
        bucket.set(key);
    }

    fn contains_one(&self) -> bool {
        let _guard = self.monitor.enter();
        let table = &self.tables[self.table.get()];
        !table[1 % table.len()].is_null()
    }

    /// Copies the table. The size of the copy is that of the table at the first read.
    fn clone_table(&self) -> Vec<bool> {
        let _guard = self.monitor.enter();
        let mut copy = vec![false; self.tables[self.table.get()].len()];
        for index in (0..self.tables[self.table.get()].len()).rev() {
            let taken = !self.tables[self.table.get()][index].is_null();
            *copy.get_mut(index).expect(OUT_OF_BOUNDS) = taken;
        }
        copy
    }

    /// Replaces the table by the next larger one, if there is one.
    fn rehash(&self) {
        let _guard = self.monitor.enter_if_fixed();
        let old = self.table.get();
        let Some(larger) = self.tables.get(old + 1) else { return };
        self.table.set(old + 1);
        for bucket in &self.tables[old] {
            if !bucket.is_null() {
                let key = bucket.used();
                larger[key % larger.len()].set(key);
            }
        }
    }

    fn size(&self) -> usize {
        let _guard = self.monitor.enter();
        self.count.get()
    }
}
