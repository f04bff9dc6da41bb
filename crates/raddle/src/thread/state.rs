//! The state of a thread of a run: its name and thread-local values.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use raddle_runtime::port;

use super::handle::Details;

#[derive(Default)]
struct ThreadState {
    /// [`Details::Named`].
    name: OnceCell<Arc<Details>>,
    /// The values in the order of their first use.
    ///
    /// No code of the program runs while this is borrowed.
    values: RefCell<Vec<Value>>,
}

struct Value {
    /// The address of the key, which is a static.
    key: *const (),
    /// `None` once the value was destroyed.
    value: Option<Rc<dyn Any>>,
    needs_drop: bool,
}

/// The value of a thread-local key in a thread.
pub(super) enum Found<T> {
    Nothing,
    Value(Rc<T>),
    /// The thread is ending and its value is destroyed.
    Destroyed,
}

/// Names the calling thread of a run.
pub(super) fn set_name(name: Arc<Details>) {
    if let Details::Named(name) = &*name {
        port::name_thread(name);
    }
    if mine().name.set(name).is_err() {
        unreachable!("raddle invariant broken: a thread was named twice");
    }
}

/// Returns the name of the calling thread of a run, if it was given one.
pub(super) fn name() -> Option<Arc<Details>> {
    existing().and_then(|mine| mine.name.get().cloned())
}

/// Returns the value of `key` in the calling thread of a run.
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

/// Sets the value of `key` in the calling thread of a run.
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

/// Runs the body of the calling thread of a run, and then destroys the state of the thread.
///
/// As in `std`, destructors of thread-local values see the thread after its panic, not during it. If one of them panics
/// in turn, `std` ends the process. That is a failure of the run, which no `join` returns.
pub(crate) fn run_body<T>(body: impl FnOnce() -> T) -> T {
    let result = catch_unwind(AssertUnwindSafe(body));
    if port::has_no_state() {
        // Most programs have no thread-local values.
    } else if port::is_over() {
        // raddle unwinds the thread. Its destructors run meanwhile.
        let _end = DestroyThreadState;
        return result.unwrap_or_else(|payload| resume_unwind(payload));
    } else if let Err(payload) = catch_unwind(AssertUnwindSafe(destroy)) {
        port::fail_in_thread_local(payload);
    }
    result.unwrap_or_else(|payload| resume_unwind(payload))
}

/// Destroys the state of the calling thread when it is dropped.
struct DestroyThreadState;

impl Drop for DestroyThreadState {
    fn drop(&mut self) {
        destroy();
    }
}

/// Destroys the thread-local values of the calling thread, the one used last first.
fn destroy() {
    let Some(mine) = existing() else { return };
    let _clear = ClearThreadState;
    loop {
        let mut values = mine.values.borrow_mut();
        let last = values.iter_mut().rev().find(|value| value.needs_drop && value.value.is_some());
        let Some(value) = last.and_then(|value| value.value.take()) else { break };
        drop(values);
        // Its destructor may use other keys, also for the first time.
        drop(value);
    }
}

/// Clears the state of the calling thread, also if a destructor panics.
struct ClearThreadState;

impl Drop for ClearThreadState {
    fn drop(&mut self) {
        port::set_thread_state(None);
    }
}

fn existing() -> Option<Rc<ThreadState>> {
    match port::thread_state()?.downcast() {
        Ok(state) => Some(state),
        Err(_) => unreachable!("raddle invariant broken: thread state of another type"),
    }
}

fn mine() -> Rc<ThreadState> {
    existing().unwrap_or_else(|| {
        let new = Rc::new(ThreadState::default());
        port::set_thread_state(Some(new.clone()));
        new
    })
}
