//! Where engines are between checks: each OS thread keeps one that searches, and one that repeats what
//! was found.

use std::cell::Cell;
use std::thread::LocalKey;

use raddle_core::Chooser;
use raddle_engine::{Engine, Family, Idle, Memory, Rc11, Sc};

use crate::replay::Stop;

type Place<T> = &'static LocalKey<Cell<Option<T>>>;

/// A memory model whose engines are kept.
pub(crate) trait Kept: Memory + Default + 'static {
    /// Where the one that searches is, with any chooser.
    const SEARCHER: Place<Idle<Self>>;
    /// Where the one is that repeats.
    const REPEATER: Place<Box<Engine<Self, Stop>>>;
}

macro_rules! keep {
    ($memory:ty) => {
        impl Kept for $memory {
            const SEARCHER: Place<Idle<Self>> = {
                thread_local!(static IDLE: Cell<Option<Idle<$memory>>> = const { Cell::new(None) });
                &IDLE
            };
            const REPEATER: Place<Box<Engine<Self, Stop>>> = {
                type Repeater = Box<Engine<$memory, Stop>>;
                thread_local!(static IDLE: Cell<Option<Repeater>> = const { Cell::new(None) });
                &IDLE
            };
        }
    };
}

keep!(Sc);
keep!(Rc11);

/// An engine that searches, as [`Engine::new`] makes it.
#[inline]
pub(crate) fn searcher<M: Kept, C: Chooser>(
    family: Family,
    then: C,
    max_steps: usize,
) -> Engine<M, C> {
    match take(M::SEARCHER) {
        Some(idle) => idle.engage(family, then, max_steps),
        None => Engine::new(M::default(), family, then, max_steps),
    }
}

/// Puts an engine back that searched, and whose runs have all come to their end.
#[inline]
pub(crate) fn put_searcher<M: Kept, C>(engine: Engine<M, C>) {
    if engine.is_small() {
        put(M::SEARCHER, engine.idle());
    }
}

/// An engine that repeats, likewise.
pub(crate) fn repeater<M: Kept>(family: Family, max_steps: usize) -> Box<Engine<M, Stop>> {
    match take(M::REPEATER) {
        Some(mut engine) => {
            engine.renew(family, max_steps);
            engine
        }
        None => Box::new(Engine::new(M::default(), family, Stop, max_steps)),
    }
}

/// Puts an engine back that repeated, likewise.
pub(crate) fn put_repeater<M: Kept>(engine: Box<Engine<M, Stop>>) {
    if engine.is_small() {
        put(M::REPEATER, engine);
    }
}

/// Nothing at the end of the OS thread, when the places are gone.
#[inline]
fn take<T>(place: Place<T>) -> Option<T> {
    place.try_with(Cell::take).ok().flatten()
}

#[inline]
fn put<T>(place: Place<T>, value: T) {
    let _ = place.try_with(|place| place.set(Some(value)));
}
