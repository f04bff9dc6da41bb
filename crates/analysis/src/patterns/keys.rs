//! The identity of accesses across runs.

use std::collections::HashMap;

use raddle_core::{Access, Event, Site};
use raddle_results::Accesses;

/// Numbers for accesses, equal for those that [`Accesses`] does not distinguish.
#[derive(Clone, Debug, Default)]
pub struct Keying {
    by: Accesses,
    numbers: HashMap<Key, u32>,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Line { file: &'static str, line: u32, column: u32, writes: bool },
    Address { address: usize, writes: bool },
    Event { thread: u32, index: u32, writes: bool },
}

impl Keying {
    /// Creates an empty numbering.
    pub fn new(by: Accesses) -> Keying {
        Keying { by, numbers: HashMap::new() }
    }

    /// What distinguishes two accesses.
    pub fn by(&self) -> Accesses {
        self.by
    }

    /// Returns the number of an access.
    pub fn number(&mut self, event: &Event, access: Access) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(self.key(event, access)).or_insert(next)
    }

    fn key(&self, event: &Event, access: Access) -> Key {
        let writes = access == Access::Update;
        let site = (self.by == Accesses::BySite).then_some(event.site);
        if let Some(location) = site.and_then(Site::location) {
            let (file, line, column) = (location.file(), location.line(), location.column());
            Key::Line { file, line, column, writes }
        } else if let Some(address) = site.and_then(Site::address) {
            Key::Address { address, writes }
        } else {
            // Without a known place, each access is one of its own.
            Key::Event { thread: event.id.thread.0, index: event.id.index, writes }
        }
    }
}

/// A pattern and the numbers of its accesses, unused ones zero.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PatternKey {
    pattern: u8,
    accesses: [u32; 4],
}

impl PatternKey {
    pub(crate) fn new(pattern: u8, accesses: &[u32]) -> PatternKey {
        let mut all = [0; 4];
        all[..accesses.len()].copy_from_slice(accesses);
        PatternKey { pattern, accesses: all }
    }
}
