//! What a thread of a run has of its own: a name, and thread-local values.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use raddle_runtime::port;

use super::handle::More;

#[derive(Default)]
struct Belongings {
    /// [`More::Named`].
    name: OnceCell<Arc<More>>,
    /// In the order in which they were first used.
    ///
    /// Nothing of the program's runs while it is borrowed.
    values: RefCell<Vec<Value>>,
}

struct Value {
    /// The address of the key, which is a static.
    key: *const (),
    /// `None` once it was destroyed.
    value: Option<Rc<dyn Any>>,
    needs_drop: bool,
}

/// What a thread has of a thread-local key.
pub(super) enum Found<T> {
    Nothing,
    Value(Rc<T>),
    /// The thread is ending and its value is gone.
    Destroyed,
}

/// The calling thread of a run has this name from now on.
pub(super) fn set_name(name: Arc<More>) {
    if mine().name.set(name).is_err() {
        unreachable!("raddle invariant broken: a thread was named twice");
    }
}

/// The name of the calling thread of a run, if it was given one.
pub(super) fn name() -> Option<Arc<More>> {
    existing().and_then(|mine| mine.name.get().cloned())
}

/// What the calling thread of a run has for `key`.
pub(super) fn find<T: 'static>(key: *const ()) -> Found<T> {
    let Some(mine) = existing() else { return Found::Nothing };
    let values = mine.values.borrow();
    match values.iter().find(|value| value.key == key) {
        None => Found::Nothing,
        Some(Value { value: None, .. }) => Found::Destroyed,
        Some(Value { value: Some(value), .. }) => match Rc::clone(value).downcast() {
            Ok(value) => Found::Value(value),
            Err(_) => unreachable!("raddle invariant broken: a key of two types"),
        },
    }
}

/// Gives the calling thread of a run a value for `key`, in place of the one it may have.
pub(super) fn insert<T: 'static>(key: *const (), value: T) -> Rc<T> {
    let value = Rc::new(value);
    let new = Value { key, value: Some(value.clone()), needs_drop: std::mem::needs_drop::<T>() };
    let mine = mine();
    let mut values = mine.values.borrow_mut();
    let before = match values.iter_mut().find(|value| value.key == key) {
        Some(place) => Some(std::mem::replace(place, new)),
        None => {
            values.push(new);
            None
        }
    };
    drop(values);
    drop(before);
    value
}

/// Dropped at the end of a thread's body: what the thread has is destroyed.
pub(crate) struct Ending;

impl Drop for Ending {
    #[inline(always)]
    fn drop(&mut self) {
        if port::has_belongings() {
            destroy();
        }
    }
}

/// Destroys what the calling thread has, what was used last first.
#[cold]
fn destroy() {
    let Some(mine) = existing() else { return };
    let _gone = Gone;
    loop {
        let mut values = mine.values.borrow_mut();
        let last = values.iter_mut().rev().find(|value| value.needs_drop && value.value.is_some());
        let Some(value) = last.and_then(|value| value.value.take()) else { break };
        drop(values);
        // Its destructor may use other keys, also for the first time.
        drop(value);
    }
}

/// The thread has nothing any more, whatever destructors do.
struct Gone;

impl Drop for Gone {
    fn drop(&mut self) {
        port::disinherit();
    }
}

fn existing() -> Option<Rc<Belongings>> {
    let belongings = port::belongings()?;
    match belongings.downcast() {
        Ok(belongings) => Some(belongings),
        Err(_) => unreachable!("raddle invariant broken: belongings of another kind"),
    }
}

fn mine() -> Rc<Belongings> {
    existing().unwrap_or_else(|| {
        let new = Rc::new(Belongings::default());
        port::endow(new.clone());
        new
    })
}
