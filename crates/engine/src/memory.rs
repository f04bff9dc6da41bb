//! Memory models: which stores a load may read, and which places a store may take in modification order.

use alloc::vec::Vec;
use core::fmt::Debug;

use raddle_core::{Effect, Event, EventId, ObjectId, Op, ThreadId};

use crate::causality::Clock;

pub mod rc11;

pub use rc11::{Mistake, Rc11};

/// The atomic variables of a run, under a memory model.
pub trait Memory {
    /// The state of a variable that the engine keeps with the object.
    type Location: Clone + Debug + Default;

    /// Whether [`sources`](Memory::sources) ever offers a choice. If not, the engine calls neither `sources` nor
    /// [`hash`](Memory::hash) nor [`observe`](Memory::observe).
    const WEAK: bool;

    /// Resets the memory for a new run.
    fn reset(&mut self);

    /// Declares a variable with the value `initial`. `location` may be left over from another variable.
    fn declare(&mut self, location: &mut Self::Location, initial: u64);

    /// Adds to `options` the stores that the access `op` by `thread` may read, oldest first. For a store they are the
    /// stores it may come right after in modification order. Adds nothing if only the newest store is possible.
    fn sources(
        &self,
        location: &Self::Location,
        thread: ThreadId,
        op: Op,
        options: &mut Vec<EventId>,
    );

    /// Adds to `stores` those that the access `op` by `thread` could read if it did not write: another read-modify-write
    /// has read them already, and nothing else is in the way.
    fn taken(&self, location: &Self::Location, thread: ThreadId, op: Op, stores: &mut Vec<EventId>);

    /// Performs an access to an atomic variable that reads `source`, or a store right after `source`. `None` means the
    /// newest store.
    fn access(
        &mut self,
        location: &mut Self::Location,
        by: EventId,
        op: &Op,
        source: Option<EventId>,
    ) -> Effect;

    /// Returns the contribution of the last access, an event with this name, to the fingerprint.
    fn hash(&mut self, name: u64) -> u64;

    /// Takes note of an event that is no access to an atomic variable.
    fn observe(&mut self, event: &Event);

    /// Reads the newest store of a variable, by an event on the waiters of the variable, which is `object`.
    fn look(&mut self, location: &mut Self::Location, by: EventId, object: ObjectId);

    /// Returns the newest value of a variable.
    fn newest(&self, location: &Self::Location) -> u64;

    /// Returns what happens before the next event of a thread. Returns `None` if the memory model does not know.
    fn clock(&self, thread: ThreadId) -> Option<&Clock> {
        let _ = thread;
        None
    }
}

/// Sequential consistency: every load returns the newest value.
#[derive(Clone, Debug, Default)]
pub struct Sc;

impl Memory for Sc {
    /// The newest value.
    type Location = u64;

    const WEAK: bool = false;

    #[inline(always)]
    fn reset(&mut self) {}

    #[inline(always)]
    fn declare(&mut self, location: &mut u64, initial: u64) {
        *location = initial;
    }

    #[inline(always)]
    fn sources(&self, _location: &u64, _thread: ThreadId, _op: Op, _options: &mut Vec<EventId>) {}

    fn taken(&self, _location: &u64, _thread: ThreadId, _op: Op, _stores: &mut Vec<EventId>) {}

    #[inline(always)]
    fn access(
        &mut self,
        location: &mut u64,
        _by: EventId,
        op: &Op,
        _source: Option<EventId>,
    ) -> Effect {
        let (new, effect) = op.apply_to_atomic(*location);
        if let Some(new) = new {
            *location = new;
        }
        effect
    }

    #[inline(always)]
    fn hash(&mut self, _name: u64) -> u64 {
        0
    }

    #[inline(always)]
    fn observe(&mut self, _event: &Event) {}

    fn look(&mut self, _location: &mut u64, _by: EventId, _object: ObjectId) {}

    #[inline(always)]
    fn newest(&self, location: &u64) -> u64 {
        *location
    }
}
