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

/// A thread by its spawn path, in digits of base 16: main is 0, its first child 1, the second child
/// of that 0x12.
pub type Path = u32;

/// The path of the child at `position` of `parent`.
pub fn child(parent: Path, position: u32) -> Path {
    assert!(position < 15 && parent < 1 << 28, "programs are smaller than that");
    parent << 4 | (position + 1)
}

/// An event by its thread and position in it.
pub type EventName = (Path, u32);

/// What makes two executions equivalent: the events, with the values chosen for them, and the
/// ordered pairs of those that conflict.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// Every event with the number it chose, if it chose one; sorted.
    pub events: Vec<(EventName, Option<u64>)>,
    /// Pairs of conflicting events of different threads, the earlier first; sorted.
    pub order: Vec<(EventName, EventName)>,
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
