//! Memory models: what a load may return.

use alloc::vec::Vec;

use raddle_core::{Effect, EventId, ObjectId, Op, Order, ThreadId};

/// The state of all atomic variables, and what each thread may see of it.
pub trait Memory {
    /// Whether [`sources`](Memory::sources) ever offers a choice.
    const WEAK: bool;

    /// Forgets everything; a new run begins.
    fn reset(&mut self);

    /// A variable comes into being. `name` is the store that initialised it.
    fn declare(&mut self, object: ObjectId, name: EventId, initial: u64);

    /// Adds the stores that the access `op` by `thread` may read to `options`, oldest first. Adding
    /// none means that there is no choice: it reads the newest.
    fn sources(&self, thread: ThreadId, op: Op, options: &mut Vec<EventId>);

    /// Performs an access to an atomic variable that reads `source`, or the newest store.
    fn access(&mut self, by: EventId, op: Op, source: Option<EventId>) -> Effect;

    /// A fence by `thread`.
    fn fence(&mut self, thread: ThreadId, order: Order);

    /// The newest value of a variable.
    fn newest(&self, object: ObjectId) -> u64;
}

/// Sequential consistency: one store order, loads return the newest.
#[derive(Clone, Debug, Default)]
pub struct Sc {
    /// By [`ObjectId`]; zero for objects that are no variables.
    values: Vec<u64>,
}

impl Memory for Sc {
    const WEAK: bool = false;

    #[inline(always)]
    fn reset(&mut self) {
        self.values.clear();
    }

    #[inline(always)]
    fn declare(&mut self, object: ObjectId, _name: EventId, initial: u64) {
        self.values.resize(object.index(), 0);
        self.values.push(initial);
    }

    #[inline(always)]
    fn sources(&self, _thread: ThreadId, _op: Op, _options: &mut Vec<EventId>) {}

    #[inline(always)]
    fn access(&mut self, _by: EventId, op: Op, _source: Option<EventId>) -> Effect {
        let value = &mut self.values[op.object().index()];
        let (new, effect) = op.apply_to_atomic(*value);
        if let Some(new) = new {
            *value = new;
        }
        effect
    }

    #[inline(always)]
    fn fence(&mut self, _thread: ThreadId, _order: Order) {}

    #[inline(always)]
    fn newest(&self, object: ObjectId) -> u64 {
        self.values[object.index()]
    }
}
