//! Order-independent hashes of executions.
//!
//! Two runs have the same fingerprint exactly when they order dependent operations alike
//! (Mazurkiewicz equivalence), up to hash collisions. It is a sum over the events, each hashed with
//! the last Update of its object before it. That is enough: a Read that came after an Update would
//! follow that one instead. Events are named by thread path and index, never by object numbers.

use crate::Access;

/// What a run has done to one object so far: the name of its last Update.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct History(u64);

/// The name of a thread's next event: a sequence that follows from the thread's spawn path.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Name(u64);

impl Name {
    /// The name of main's first event.
    pub const MAIN: Name = Name(0xa076_1d64_78bd_642f);

    /// The name of the first event of the child at `position` of a thread whose own first event
    /// has this name.
    pub const fn child(self, position: u32) -> Name {
        // Odd, so that the generator keeps its full period.
        Name(mix(self.0 ^ 0x8bb8_4b93_962e_acc9).wrapping_add(mix(position as u64 + 1)) | 1)
    }

    /// This name; and goes on to the next event of the thread.
    ///
    /// A multiplicative generator: names of one thread are far from one another.
    #[inline(always)]
    pub fn advance(&mut self) -> u64 {
        let name = self.0;
        self.0 = name.wrapping_mul(0xd134_2543_de82_ef95);
        name
    }
}

/// What an event on an object adds to the fingerprint; also enters the event into the history.
#[inline(always)]
pub fn event_on_object(name: u64, access: Access, history: &mut History) -> u64 {
    if matches!(access, Access::Update) {
        return update_of_object(name, history);
    }
    follows(name, history.0)
}

/// The same for an event that is known to be an Update.
#[inline(always)]
pub fn update_of_object(name: u64, history: &mut History) -> u64 {
    let before = history.0;
    history.0 = name;
    follows(name, before)
}

/// What an event that touches no object adds; `value` is what was chosen for it, if anything.
#[inline(always)]
pub fn event_alone(name: u64, value: u64) -> u64 {
    follows(name, value.wrapping_add(1))
}

/// What an access to an atomic variable adds that read the store named `source`; zero is the initial
/// one. For memory models in which that is not always the newest.
#[inline(always)]
pub fn read(name: u64, source: u64) -> u64 {
    follows(name, source.wrapping_mul(0xe703_7ed1_a0b4_28db).wrapping_add(2))
}

/// What a store adds that stands right behind the store named `before`, in the same models.
#[inline(always)]
pub fn stands_behind(name: u64, before: u64) -> u64 {
    follows(name, before.wrapping_mul(0x8bb8_4b93_962e_acc9).wrapping_add(3))
}

/// Names are random words already, so that one multiplication is enough.
#[inline(always)]
#[expect(clippy::manual_rotate, reason = "`rotate_left` is a call where nothing is optimised")]
fn follows(name: u64, before: u64) -> u64 {
    let product = (name ^ (before << 29 | before >> 35)).wrapping_mul(0xa076_1d64_78bd_642f);
    product ^ (product >> 32)
}

/// A bijection that spreads every bit.
#[inline(always)]
const fn mix(word: u64) -> u64 {
    let product = (word ^ (word >> 32)).wrapping_mul(0xe703_7ed1_a0b4_28db);
    product ^ (product >> 29)
}
