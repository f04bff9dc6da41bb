//! Order-independent hashes of executions.
//!
//! Up to hash collisions, two runs have the same fingerprint if and only if they order dependent operations
//! alike (Mazurkiewicz equivalence). A fingerprint is a sum over the events. Each event is hashed with the
//! last Update of its object before it and the Shares since then, which determines its order relative to all
//! dependent events. A Share is hashed alone: the Reads and Updates after it count it. Events are named by thread
//! path and index, never by object numbers.

use crate::Access;

/// The history of one object in a run: the name of its last Update, plus a sum over the names of the Shares since then.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct History(u64);

/// The name of a thread's next event. The sequence of names depends on the thread's spawn path alone.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Name(u64);

impl Name {
    /// The name of main's first event.
    pub const MAIN: Name = Name(0xa076_1d64_78bd_642f);

    /// Returns the name of the first event of a child. This is the name of its parent's first event, and `position` the
    /// child's position.
    pub const fn child(self, position: u32) -> Name {
        // An odd state gives the generator its full period.
        Name(mix(self.0 ^ 0x8bb8_4b93_962e_acc9).wrapping_add(mix(position as u64 + 1)) | 1)
    }

    /// Returns this name, and advances to the thread's next one by a multiplicative generator.
    #[inline(always)]
    pub fn advance(&mut self) -> u64 {
        let name = self.0;
        self.0 = name.wrapping_mul(0xd134_2543_de82_ef95);
        name
    }
}

/// Returns the contribution of an event on an object to the fingerprint. Adds the event to the history.
#[inline(always)]
pub fn event_on_object(name: u64, access: Access, history: &mut History) -> u64 {
    let before = history.0;
    match access {
        Access::Read => {}
        Access::Update => history.0 = name,
        Access::Share => {
            history.0 = before.wrapping_add(mix(name));
            return combine(name, 0);
        }
    }
    combine(name, before)
}

/// Returns the contribution of an event that accesses no object. `value` is the chosen value, or zero.
#[inline(always)]
pub fn event_without_object(name: u64, value: u64) -> u64 {
    combine(name, value.wrapping_add(1))
}

/// Returns the contribution of an access to an atomic variable under a weak memory model. `source` is the name of the
/// store it read, or zero for the initial one.
#[inline(always)]
pub fn read_from(name: u64, source: u64) -> u64 {
    combine(name, source.wrapping_mul(0xe703_7ed1_a0b4_28db).wrapping_add(2))
}

/// Returns the contribution of a store under a weak memory model. `before` is the name of the store right before it in
/// modification order.
#[inline(always)]
pub fn stored_after(name: u64, before: u64) -> u64 {
    combine(name, before.wrapping_mul(0x8bb8_4b93_962e_acc9).wrapping_add(3))
}

/// Hashes two names. Names are random words, so one multiplication is enough.
#[inline(always)]
fn combine(name: u64, before: u64) -> u64 {
    let product = (name ^ before.rotate_left(29)).wrapping_mul(0xa076_1d64_78bd_642f);
    product ^ (product >> 32)
}

/// Mixes the bits of `word` by a bijection.
#[inline(always)]
const fn mix(word: u64) -> u64 {
    let product = (word ^ (word >> 32)).wrapping_mul(0xe703_7ed1_a0b4_28db);
    product ^ (product >> 29)
}
