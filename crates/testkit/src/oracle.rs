//! What a program means, told without raddle's engine: the naive reference that exploration and
//! fingerprints are held against.
//!
//! [`World`] is the whole state of a program; [`World::step`] lets one thread go on. [`classes`]
//! walks through every interleaving, by copying the world, and collects the keys of the
//! equivalence classes: which conflicting operations came in which order.

mod model;
mod world;

use std::collections::BTreeSet;

pub use world::{Outcome, World};

use crate::Program;

/// An event by spawn path of its thread and position in it.
pub type EventName = (Vec<u32>, u32);

/// What makes two executions equivalent: the events, with the values chosen for them, and the
/// ordered pairs of those that conflict.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// Every event with the number it chose, if it chose one.
    pub events: BTreeSet<(EventName, Option<u64>)>,
    /// Pairs of conflicting events of different threads, the earlier first.
    pub order: BTreeSet<(EventName, EventName)>,
}

/// Every execution of a program.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    /// How many interleavings there are.
    pub interleavings: u64,
    /// Their classes.
    pub classes: BTreeSet<Key>,
}

/// Enumerates every interleaving of `program`; `None` if there are more than `limit`.
pub fn classes(program: &Program, limit: u64) -> Option<Executions> {
    let mut executions = Executions::default();
    walk(World::new(program), limit, &mut executions).then_some(executions)
}

fn walk(world: World<'_>, limit: u64, executions: &mut Executions) -> bool {
    let options = world.options();
    if options.is_empty() {
        executions.interleavings += 1;
        executions.classes.insert(world.key());
        return executions.interleavings <= limit;
    }
    options.into_iter().all(|(thread, value)| {
        let mut next = world.clone();
        next.step(thread, value);
        walk(next, limit, executions)
    })
}
