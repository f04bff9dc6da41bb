//! Where engines are between checks: each OS thread keeps a few. What takes long about a short check is to
//! make one.

use std::any::Any;
use std::cell::RefCell;

use raddle_core::Chooser;
use raddle_engine::{Engine, Family, Memory};

/// One that searches and one that repeats what it found, for the strategies of a check and a few others.
const MOST: usize = 6;

thread_local! {
    /// In their boxes, so that none is ever moved.
    static SHELF: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
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
    let take = |shelf: &RefCell<Vec<Box<dyn Any>>>| {
        let mut shelf = shelf.borrow_mut();
        let found = shelf.iter().position(|engine| engine.is::<T>())?;
        shelf.swap_remove(found).downcast().ok()
    };
    // Nothing at the end of the OS thread, when the shelf is gone.
    SHELF.try_with(take).ok().flatten()
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
    let _ = SHELF.try_with(|shelf| {
        let mut shelf = shelf.borrow_mut();
        if shelf.len() == MOST {
            // Whatever was there longest, more or less.
            shelf.remove(0);
        }
        shelf.push(engine);
    });
}
