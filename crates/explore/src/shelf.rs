//! Where engines are between checks: each OS thread keeps a few for those to come.

use std::cell::RefCell;
use std::thread::LocalKey;

use raddle_core::Chooser;
use raddle_engine::{Engine, Family, Idle, Memory, Rc11, Sc};

/// One that searches, and one that repeats what it has found.
const MOST: usize = 2;

type Shelf<M> = RefCell<Vec<Idle<M>>>;

thread_local! {
    static SC: Shelf<Sc> = const { RefCell::new(Vec::new()) };
    static RC11: Shelf<Rc11> = const { RefCell::new(Vec::new()) };
}

/// A memory model whose engines are kept.
pub(crate) trait Kept: Memory + Default + 'static {
    /// Where.
    const SHELF: &'static LocalKey<Shelf<Self>>;
}

impl Kept for Sc {
    const SHELF: &'static LocalKey<Shelf<Sc>> = &SC;
}

impl Kept for Rc11 {
    const SHELF: &'static LocalKey<Shelf<Rc11>> = &RC11;
}

/// An engine, as [`Engine::new`] makes it.
pub(crate) fn engine<M: Kept, C: Chooser>(
    family: Family,
    then: C,
    max_steps: usize,
) -> Engine<M, C> {
    match M::SHELF.with(|shelf| shelf.borrow_mut().pop()) {
        Some(idle) => idle.engage(family, then, max_steps),
        None => Engine::new(M::default(), family, then, max_steps),
    }
}

/// Puts an engine back whose runs have all come to their end.
pub(crate) fn put_back<M: Kept, C>(engine: Engine<M, C>) {
    M::SHELF.with(|shelf| {
        let mut shelf = shelf.borrow_mut();
        if shelf.len() < MOST && engine.is_small() {
            shelf.push(engine.idle());
        }
    });
}
