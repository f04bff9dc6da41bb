//! Where engines are between checks: each OS thread keeps the few it used last. What takes long about a
//! short check is to make one.

use std::any::Any;
use std::cell::Cell;

use raddle_core::Chooser;
use raddle_engine::{Engine, Family, Memory};

/// One that searches and one that repeats what it found, for the strategies of a check and a few others.
const MOST: usize = 6;

thread_local! {
    /// In their boxes, so that none is ever moved; the one used last comes last.
    static SHELF: Cell<Vec<Box<dyn Any>>> = const { Cell::new(Vec::new()) };
}

/// An engine as [`Engine::new`] makes it. Its chooser is a new one, or a used one that is renewed.
pub(crate) fn engine<M, C>(
    family: Family,
    max_steps: usize,
    new: impl FnOnce() -> C,
    renew: impl FnOnce(&mut C),
) -> Box<Engine<M, C>>
where
    M: Memory + Default + 'static,
    C: Chooser + 'static,
{
    match take::<Engine<M, C>>() {
        Some(mut engine) => {
            engine.renew(family, max_steps);
            renew(&mut engine.plan_mut().then);
            engine
        }
        None => Box::new(Engine::new(M::default(), family, new(), max_steps)),
    }
}

fn take<T: 'static>() -> Option<Box<T>> {
    // Nothing at the end of the OS thread, when the shelf is gone.
    let mut shelf = SHELF.try_with(Cell::take).ok()?;
    let found = shelf.iter().position(|engine| engine.is::<T>());
    let engine = found.map(|at| shelf.remove(at));
    let _ = SHELF.try_with(|place| place.set(shelf));
    engine?.downcast().ok()
}

/// Puts an engine back whose runs have all come to their end.
pub(crate) fn put<M, C>(engine: Box<Engine<M, C>>)
where
    M: Memory + 'static,
    C: Chooser + 'static,
{
    if !engine.is_small() {
        return;
    }
    let _ = SHELF.try_with(|place| {
        let mut shelf = place.take();
        if shelf.len() == MOST {
            shelf.remove(0);
        }
        shelf.push(engine);
        place.set(shelf);
    });
}
