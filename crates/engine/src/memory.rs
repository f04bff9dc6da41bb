//! Memory models: what a load may return, and where a store may come.

use alloc::vec::Vec;
use core::fmt::Debug;

use raddle_core::{Effect, Event, EventId, Op, ThreadId};

pub mod rc11;

pub use rc11::{Mistake, Rc11};

/// What the threads of a run may see of its atomic variables.
pub trait Memory {
    /// What the model keeps of each variable, beside the rest that is known of it. A model that
    /// prefers its own tables keeps nothing here.
    type Location: Clone + Debug + Default;

    /// Whether [`sources`](Memory::sources) ever offers a choice. If not, the engine does not ask for
    /// it, nor for [`hash`](Memory::hash), and does not tell what [`happen`](Memory::happen)s.
    const WEAK: bool;

    /// Forgets everything; a new run begins.
    fn reset(&mut self);

    /// A variable comes into being at `location`, which may hold what another left there.
    fn declare(&mut self, location: &mut Self::Location, initial: u64);

    /// Adds the stores that the access `op` by `thread` may read, or come to stand behind if it is a
    /// store, to `options`, oldest first. Adding none means that there is no choice: it is the newest.
    fn sources(
        &self,
        location: &Self::Location,
        thread: ThreadId,
        op: Op,
        options: &mut Vec<EventId>,
    );

    /// Performs an access to an atomic variable that reads `source` or stands behind it; if there is
    /// none, the newest store.
    fn access(
        &mut self,
        location: &mut Self::Location,
        by: EventId,
        op: &Op,
        source: Option<EventId>,
    ) -> Effect;

    /// What the access just performed, an event with this name, adds to the fingerprint.
    fn hash(&mut self, name: u64) -> u64;

    /// Something else than an access to an atomic variable has happened.
    fn happen(&mut self, event: &Event);

    /// The newest value of a variable.
    fn newest(&self, location: &Self::Location) -> u64;
}

/// Sequential consistency: one store order, loads return the newest.
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
    fn happen(&mut self, _event: &Event) {}

    #[inline(always)]
    fn newest(&self, location: &u64) -> u64 {
        *location
    }
}
