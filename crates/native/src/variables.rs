//! Objects of the program by their addresses, for one run.
//!
//! An address names an object from its first use until it is initialised or destroyed again. An object inside the
//! program's image has the same address in every run, which identifies it; others are identified by the event that
//! first announced them.

use raddle_core::ObjectId;

/// What an address is used as. One address can be several objects, such as a mutex whose first field is a variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Use {
    /// Bytes that are accessed: an atomic variable, or a plain one at scheduling points.
    Variable = 1,
    /// Several variables that are one object, by the place that stands for them.
    Group,
    /// The address of a race.
    Raced,
    Mutex,
    Spin,
    Condvar,
    RwLock,
    Barrier,
    Once,
    Semaphore,
    /// What a sleeping thread waits for. The key is the thread.
    Alarm,
    /// The signals that were sent to a thread. The key is the thread.
    Signals,
}

/// Objects by address and use.
#[derive(Debug)]
pub(crate) struct Variables {
    /// Open addressing; the length is a power of two, and at most half of the entries are used.
    entries: Vec<Entry>,
    count: usize,
    /// Entries of other runs are free.
    run: u32,
}

#[derive(Copy, Clone, Debug, Default)]
struct Entry {
    /// Address and use.
    key: u64,
    run: u32,
    object: Option<ObjectId>,
    /// What the caller keeps with the object.
    tag: u8,
}

impl Default for Variables {
    fn default() -> Variables {
        Variables { entries: vec![Entry::default(); 256], count: 0, run: 1 }
    }
}

impl Variables {
    /// Forgets everything, for a new run.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.run = match self.run.checked_add(1) {
            Some(next) => next,
            None => {
                self.entries.fill(Entry::default());
                1
            }
        };
    }

    /// Returns the object at an address, and its tag.
    #[inline]
    pub(crate) fn get(&self, address: usize, used_as: Use) -> Option<(ObjectId, u8)> {
        let entry = &self.entries[self.place(key(address, used_as))];
        let object = entry.object.filter(|_| entry.run == self.run)?;
        Some((object, entry.tag))
    }

    /// Notes the object at an address, and a tag.
    pub(crate) fn set(&mut self, address: usize, used_as: Use, object: ObjectId, tag: u8) {
        let key = key(address, used_as);
        let place = self.place(key);
        self.count += usize::from(self.entries[place].run != self.run);
        self.entries[place] = Entry { key, run: self.run, object: Some(object), tag };
        if self.count * 2 > self.entries.len() {
            self.grow();
        }
    }

    /// Forgets the object at an address.
    pub(crate) fn forget(&mut self, address: usize, used_as: Use) {
        let place = self.place(key(address, used_as));
        if self.entries[place].run == self.run {
            self.entries[place].object = None;
        }
    }

    /// Forgets the objects at the addresses from `first` to `end`.
    #[cold]
    pub(crate) fn forget_all(&mut self, first: usize, end: usize) {
        for entry in &mut self.entries {
            if entry.run == self.run && (first..end).contains(&address(entry.key)) {
                entry.object = None;
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let bigger = vec![Entry::default(); self.entries.len() * 2];
        for entry in std::mem::replace(&mut self.entries, bigger) {
            if entry.run == self.run {
                let place = self.place(entry.key);
                self.entries[place] = entry;
            }
        }
    }

    /// Returns the place of a key, or the free one where it belongs.
    fn place(&self, key: u64) -> usize {
        let mask = self.entries.len() - 1;
        let mut place = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24) as usize & mask;
        while self.entries[place].run == self.run && self.entries[place].key != key {
            place = (place + 1) & mask;
        }
        place
    }
}

fn key(address: usize, used_as: Use) -> u64 {
    (address as u64) << 8 | used_as as u64
}

fn address(key: u64) -> usize {
    (key >> 8) as usize
}
