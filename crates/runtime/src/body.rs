//! What a spawned thread runs, on its way to the coroutine that runs it.

use std::cell::Cell;
use std::ptr::NonNull;

use crate::bare;

/// The body of a spawned thread: run once, or dropped if the thread never starts.
///
/// Two words that own something behind a pointer, wherever the front end wants to keep it.
pub struct Body {
    data: NonNull<()>,
    fate: &'static Fate,
}

/// What can become of a [`Body`]; one of the two is called, once, with what it was made of.
#[derive(Debug)]
pub struct Fate {
    /// Runs it and lets go of it, however it ends.
    pub run: unsafe fn(NonNull<()>),
    /// Lets go of it without running it.
    pub give_up: unsafe fn(NonNull<()>),
}

impl Body {
    /// A body of what `data` points to.
    ///
    /// # Safety
    /// The functions of `fate` may be called with `data`, as [`Fate`] says, on this OS thread.
    #[inline(always)]
    pub unsafe fn new(data: NonNull<()>, fate: &'static Fate) -> Body {
        Body { data, fate }
    }

    /// A body that calls a function.
    pub fn calling<F: FnOnce() + 'static>(function: F) -> Body {
        let data = NonNull::from(Box::leak(Box::new(function))).cast();
        let fate = const { &Fate { run: call::<F>, give_up: forget::<F> } };
        // SAFETY: both make a box again of what was one, and call or drop the function.
        unsafe { Body::new(data, fate) }
    }

    /// What it is made of; nothing becomes of it unless it is made again.
    #[inline(always)]
    pub(crate) fn into_parts(self) -> HandedOver {
        let parts = HandedOver { data: self.data, fate: self.fate };
        std::mem::forget(self);
        parts
    }

    /// What the parts were of.
    pub(crate) fn from_parts(parts: HandedOver) -> Body {
        Body { data: parts.data, fate: parts.fate }
    }

    /// What was handed over, which must be there.
    #[inline(always)]
    pub(crate) fn taken(place: &Cell<Option<HandedOver>>) -> Body {
        let Some(HandedOver { data, fate }) = bare::get!(place: Option<HandedOver>) else {
            nothing()
        };
        bare::set!(*place: Option<HandedOver> = None);
        Body { data, fate }
    }

    /// Runs it.
    #[inline(always)]
    pub(crate) fn run(self) {
        let Body { data, fate } = self;
        std::mem::forget(self);
        // SAFETY: `new` was promised that it may be called once, and the body is used up.
        unsafe { (fate.run)(data) }
    }
}

/// A body on its way from its creator to its coroutine.
#[derive(Copy, Clone)]
pub(crate) struct HandedOver {
    pub(crate) data: NonNull<()>,
    pub(crate) fate: &'static Fate,
}

#[cold]
fn nothing() -> ! {
    panic!("raddle invariant broken: a thread without a body")
}

impl Drop for Body {
    fn drop(&mut self) {
        // SAFETY: `new` was promised that it may be called once, and the body was not run.
        unsafe { (self.fate.give_up)(self.data) }
    }
}

/// # Safety
/// `data` was a box of the function.
unsafe fn call<F: FnOnce()>(data: NonNull<()>) {
    // SAFETY: promised by the caller.
    let function = unsafe { Box::from_raw(data.cast::<F>().as_ptr()) };
    function();
}

/// # Safety
/// `data` was a box of the function.
unsafe fn forget<F>(data: NonNull<()>) {
    // SAFETY: promised by the caller.
    drop(unsafe { Box::from_raw(data.cast::<F>().as_ptr()) });
}
