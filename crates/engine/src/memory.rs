//! Memory models: what a load may return.

use alloc::vec::Vec;
use core::fmt::Debug;

use raddle_core::{Effect, EventId, Op, Order, ThreadId};

/// What the threads of a run may see of its atomic variables.
pub trait Memory {
    /// What the model keeps of each variable, beside the rest that is known of it. A model that
    /// prefers its own tables keeps nothing here.
    type Location: Clone + Debug + Default;

    /// Whether [`sources`](Memory::sources) ever offers a choice.
    const WEAK: bool;

    /// Forgets everything; a new run begins.
    fn reset(&mut self);

    /// A variable comes into being at `location`, which may hold what another left there. `name` is
    /// the store that initialised it.
    fn declare(&mut self, location: &mut Self::Location, name: EventId, initial: u64);

    /// Adds the stores that the access `op` by `thread` may read to `options`, oldest first. Adding
    /// none means that there is no choice: it reads the newest.
    fn sources(
        &self,
        location: &Self::Location,
        thread: ThreadId,
        op: Op,
        options: &mut Vec<EventId>,
    );

    /// Performs an access to an atomic variable that reads `source`, or the newest store.
    fn access(
        &mut self,
        location: &mut Self::Location,
        by: EventId,
        op: Op,
        source: Option<EventId>,
    ) -> Effect;

    /// A fence by `thread`.
    fn fence(&mut self, thread: ThreadId, order: Order);

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
    fn declare(&mut self, location: &mut u64, _name: EventId, initial: u64) {
        *location = initial;
    }

    #[inline(always)]
    fn sources(&self, _location: &u64, _thread: ThreadId, _op: Op, _options: &mut Vec<EventId>) {}

    #[inline(always)]
    fn access(
        &mut self,
        location: &mut u64,
        _by: EventId,
        op: Op,
        _source: Option<EventId>,
    ) -> Effect {
        let (new, effect) = op.apply_to_atomic(*location);
        if let Some(new) = new {
            *location = new;
        }
        effect
    }

    #[inline(always)]
    fn fence(&mut self, _thread: ThreadId, _order: Order) {}

    #[inline(always)]
    fn newest(&self, location: &u64) -> u64 {
        *location
    }
}
