//! The body of a thread of a scope and, later, what it returned.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;

use raddle_runtime::{Body, Fate};

use super::belongings::Ending;

/// The body of a thread and, later, what it returned.
pub(super) struct Work<F, T> {
    state: UnsafeCell<State<F, T>>,
}

enum State<F, T> {
    Waiting(F),
    Running,
    Done(T),
    Taken,
}

// SAFETY: the state is touched by the coroutine that runs the thread, and by `take` and `clear` when
// the thread has ended or never starts; all on the OS thread of the run. What is inside may be dropped
// on another.
unsafe impl<F: Send, T: Send> Send for Work<F, T> {}
// SAFETY: likewise: shared references do not reach the state on any other OS thread.
unsafe impl<F: Send, T: Send> Sync for Work<F, T> {}

impl<F, T> Work<F, T> {
    pub(super) fn new(f: F) -> Work<F, T> {
        Work { state: UnsafeCell::new(State::Waiting(f)) }
    }

    /// # Safety
    /// Nobody else touches the state during the call.
    unsafe fn replace(&self, state: State<F, T>) -> State<F, T> {
        // SAFETY: the caller promises that this is the only access.
        unsafe { std::ptr::replace(self.state.get(), state) }
    }
}

impl<F: FnOnce() -> T, T> Work<F, T> {
    /// As the body of a thread.
    ///
    /// # Safety
    /// The thread ends, or is known not to start, before anything ends that the work borrows. The
    /// body may be dropped later if the work was [cleared](Shell::clear) before.
    pub(super) unsafe fn body(self: Arc<Self>) -> Body {
        let data = NonNull::new(Arc::into_raw(self).cast_mut());
        let data = data.expect("the address of an `Arc` is not null").cast();
        let fate = const { &Fate { run: Self::run_shared, give_up: Self::give_up_shared } };
        // SAFETY: both make an `Arc` again of what was one; the caller promises the rest.
        unsafe { Body::new(data, fate) }
    }

    /// # Safety
    /// `data` was an `Arc` of this type.
    unsafe fn run_shared(data: NonNull<()>) {
        // SAFETY: promised by the caller.
        unsafe { Arc::from_raw(data.cast::<Self>().as_ptr()) }.run();
    }

    /// # Safety
    /// `data` was an `Arc` of this type.
    unsafe fn give_up_shared(data: NonNull<()>) {
        // SAFETY: promised by the caller.
        drop(unsafe { Arc::from_raw(data.cast::<Self>().as_ptr()) });
    }

    fn run(&self) {
        // SAFETY: the thread has not ended, so `take` is not called.
        let state = unsafe { self.replace(State::Running) };
        let State::Waiting(function) = state else {
            unreachable!("raddle invariant broken: a thread was started twice")
        };
        let ending = Ending;
        let value = function();
        drop(ending);
        // SAFETY: likewise.
        unsafe { self.replace(State::Done(value)) };
    }
}

/// The result of a thread, without the type of its body.
pub(super) trait Outcome<T>: Send + Sync {
    /// # Safety
    /// The caller is on the OS thread of the run, and the thread has ended.
    unsafe fn take(&self) -> Option<T>;
}

impl<F: Send, T: Send> Outcome<T> for Work<F, T> {
    unsafe fn take(&self) -> Option<T> {
        // SAFETY: the thread has ended and does not touch the state any more.
        match unsafe { self.replace(State::Taken) } {
            State::Done(value) => Some(value),
            State::Waiting(_) | State::Running | State::Taken => None,
        }
    }
}

/// What a scope needs of the body of a thread, without its types.
pub(super) trait Shell: Send + Sync {
    /// Drops what is there of the body and the result.
    ///
    /// # Safety
    /// The caller is on the OS thread of the run, and the thread has ended or never starts.
    unsafe fn clear(&self);
}

impl<F: Send, T: Send> Shell for Work<F, T> {
    unsafe fn clear(&self) {
        // SAFETY: the thread does not touch the state any more, or never will.
        drop(unsafe { self.replace(State::Taken) });
    }
}
