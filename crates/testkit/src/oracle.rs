//! A naive reference implementation of programs, without raddle's engine. Tests compare exploration and
//! fingerprints with it.
//!
//! [`World`] is the state of a program; [`World::step`] performs the next step of one thread. [`classes`]
//! enumerates every interleaving by copying the world, and collects the keys of the equivalence
//! classes: the order of conflicting operations.

mod fair;
mod model;
mod world;

use std::collections::BTreeSet;

pub use fair::{Fair, fair};
pub use world::{Outcome, World};

use crate::Program;

/// The spawn path of a thread, in hexadecimal digits: main is 0, its first child 1, and the second child of
/// that 0x12.
pub type Path = u32;

/// Returns the path of the child at `position` of `parent`.
pub fn child(parent: Path, position: u32) -> Path {
    assert!(position < 15 && parent < 1 << 28, "too many threads in a program");
    parent << 4 | (position + 1)
}

/// An event, named by its thread and its position in the thread.
pub type EventName = (Path, u32);

/// The equivalence class of an execution: the events, with the values chosen for them, and the
/// ordered pairs of conflicting events.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key {
    /// Every event, with the number that it chose, if any; sorted.
    pub events: Vec<(EventName, Option<u64>)>,
    /// Pairs of conflicting events of different threads, the earlier first; sorted.
    pub order: Vec<(EventName, EventName)>,
}

/// All executions of a program.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    /// The number of interleavings.
    pub interleavings: u64,
    /// The equivalence classes.
    pub classes: BTreeSet<Key>,
}

/// Enumerates every interleaving of `program`. Returns `None` if there are more than `limit`.
pub fn classes(program: &Program, limit: u64) -> Option<Executions> {
    let mut executions = Executions::default();
    walk(World::new(program), limit, &mut executions).then_some(executions)
}

/// Enumerates the continuations of `world`. Returns whether the limit is kept.
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
