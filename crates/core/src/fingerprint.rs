//! Order-independent hashes of executions.
//!
//! Two runs have the same fingerprint exactly when they order dependent operations alike
//! (Mazurkiewicz equivalence), up to hash collisions. It is a sum over the events, each hashed with
//! what it follows on its object: the last Update and, for an Update, the Reads since. Events are
//! named by thread path and index, never by object numbers.

use crate::Access;

/// What a run has done to one object so far.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct History {
    last_update: u64,
    reads_since: u64,
}

/// The hash of a thread's spawn path: its parent's, and its position among the parent's children.
#[inline(always)]
pub fn child_path(parent: u64, position: u32) -> u64 {
    fold(parent ^ 0x8bb8_4b93_962e_acc9, u64::from(position) ^ 0x2d35_8dcc_aa6c_78a5)
}

/// The hash of an event's name.
#[inline(always)]
pub fn event_name(path: u64, index: u32) -> u64 {
    fold(path ^ 0xa076_1d64_78bd_642f, u64::from(index) ^ 0xe703_7ed1_a0b4_28db)
}

/// What an event on an object adds to the fingerprint; also enters the event into the history.
#[inline(always)]
pub fn event_on_object(name: u64, access: Access, history: &mut History) -> u64 {
    match access {
        Access::Read => {
            history.reads_since = history.reads_since.wrapping_add(name);
            follows(name, history.last_update)
        }
        Access::Update => {
            let before = history.last_update ^ history.reads_since.rotate_left(32);
            *history = History { last_update: name, reads_since: 0 };
            follows(name, before)
        }
    }
}

/// What an event that touches no object adds; `value` is what was chosen for it, if anything.
#[inline(always)]
pub fn event_alone(name: u64, value: u64) -> u64 {
    follows(name, value.wrapping_add(1))
}

#[inline(always)]
fn follows(name: u64, before: u64) -> u64 {
    fold(name ^ 0x589a_7b3c_04d1_e62f, before ^ 0x1d8e_4e27_c47d_124f)
}

/// One multiplication, both halves folded together.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}
