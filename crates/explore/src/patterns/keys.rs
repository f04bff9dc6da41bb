//! What tells accesses apart, from run to run.

use std::collections::HashMap;

use raddle_core::{Access, Event, Site};
use raddle_results::Accesses;
use raddle_strategy::mix;

/// What tells two accesses apart: [`Accesses`], with the numbers they have been given.
#[derive(Clone, Debug, Default)]
pub struct Keying {
    by: Accesses,
    numbers: HashMap<Key, u32>,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    Site { file: &'static str, line: u32, column: u32, writes: bool },
    Event { thread: u32, index: u32, writes: bool },
}

impl Keying {
    /// Nothing seen yet.
    pub fn new(by: Accesses) -> Keying {
        Keying { by, numbers: HashMap::new() }
    }

    /// What tells them apart.
    pub fn by(&self) -> Accesses {
        self.by
    }

    /// The number of an access; the same for all that are not told apart.
    pub fn number(&mut self, event: &Event, access: Access) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(self.key(event, access)).or_insert(next)
    }

    fn key(&self, event: &Event, access: Access) -> Key {
        let writes = access == Access::Update;
        match (self.by, event.site.location()) {
            (Accesses::BySite, Some(location)) => Key::Site {
                file: location.file(),
                line: location.line(),
                column: location.column(),
                writes,
            },
            // Where no line is known each access is one of its own.
            (Accesses::BySite | Accesses::ByEvent, _) => {
                Key::Event { thread: event.id.thread.0, index: event.id.index, writes }
            }
        }
    }
}

/// What identifies a pattern of accesses with these numbers.
pub(crate) fn pattern_key(pattern: u8, accesses: &[u32]) -> u64 {
    accesses.iter().fold(u64::from(pattern), |key, &access| mix(key, u64::from(access) + 1))
}

/// Something that is quickly compared and the same for one line most of the time.
#[inline]
pub(crate) fn address(site: Site) -> usize {
    site.location().map_or(0, |location| std::ptr::from_ref(location) as usize)
}
