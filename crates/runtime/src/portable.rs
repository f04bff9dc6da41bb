//! Asymmetric coroutines by `corosensei`, for every other target.
//!
//! A switch goes through the host: the coroutine suspends, the host resumes the next.

use std::io;
use std::ops::Range;

use corosensei::stack::{DefaultStack, Stack as _};
use corosensei::{Coroutine, Yielder};

use crate::Backend;

/// The `corosensei` back end.
pub struct Portable {
    stack_size: usize,
    entry: fn() -> !,
    coroutines: Vec<One>,
    /// Whom the host resumes next; `None` while nobody should be.
    next: Option<usize>,
}

struct One {
    /// Boxed: the host resumes through this address while the pool may grow.
    coroutine: Box<Coroutine<(), (), ()>>,
    /// How the coroutine suspends itself; set when it first runs.
    yielder: Box<*const Yielder<(), ()>>,
    guard: Range<usize>,
}

impl Backend for Portable {
    fn new(stack_size: usize, entry: fn() -> !) -> Portable {
        Portable { stack_size, entry, coroutines: Vec::new(), next: None }
    }

    fn len(&self) -> usize {
        self.coroutines.len()
    }

    fn grow(&mut self) -> io::Result<()> {
        let stack = DefaultStack::new(self.stack_size)?;
        let limit = stack.limit().get();
        let entry = self.entry;
        let mut yielder = Box::new(std::ptr::null());
        let slot: *mut *const Yielder<(), ()> = &mut *yielder;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the slot is boxed and lives as long as this coroutine; only the coroutine
            // itself reads it later.
            unsafe { slot.write(yielder) };
            entry()
        });
        // `corosensei` maps its guard page directly below the stack.
        let guard = limit.saturating_sub(4096)..limit;
        self.coroutines.push(One { coroutine: Box::new(coroutine), yielder, guard });
        Ok(())
    }

    fn guard(&self, coroutine: usize) -> Range<usize> {
        self.coroutines[coroutine].guard.clone()
    }

    unsafe fn enter(this: *mut Portable, to: usize) {
        // SAFETY: the caller promises that `this` points to a pool nobody has a reference into.
        unsafe { (*this).next = Some(to) };
        // SAFETY: as above; coroutines touch it only through `this` too, and one at a time.
        while let Some(next) = unsafe { (*this).next.take() } {
            // SAFETY: as above. The box keeps its address when the pool grows meanwhile.
            let coroutine: *mut Coroutine<_, _, _> =
                unsafe { &mut *(&mut (*this).coroutines)[next].coroutine };
            // SAFETY: the pool outlives the call; the coroutine is suspended, or it would be the
            // caller.
            unsafe { (*coroutine).resume(()) };
        }
    }

    unsafe fn switch(this: *mut Portable, from: usize, to: usize) {
        // SAFETY: the caller promises that `this` points to a pool nobody has a reference into.
        unsafe { (*this).next = Some(to) };
        // SAFETY: as above, and the caller runs on `from`.
        unsafe { suspend(this, from) }
    }

    unsafe fn leave(this: *mut Portable, from: usize) {
        // SAFETY: the caller promises the same; the host stops when there is no next.
        unsafe { suspend(this, from) }
    }

    fn abandon(mut self) {
        std::mem::forget(std::mem::take(&mut self.coroutines));
    }
}

/// # Safety
/// `this` points to a pool nobody has a reference into, and the caller runs on `from`.
unsafe fn suspend(this: *mut Portable, from: usize) {
    // SAFETY: the caller promises it.
    let yielder = unsafe { *(&(*this).coroutines)[from].yielder };
    // SAFETY: set when the coroutine began to run, and valid while it does.
    unsafe { (*yielder).suspend(()) };
}

impl Drop for Portable {
    fn drop(&mut self) {
        for one in &mut self.coroutines {
            if one.coroutine.started() && !one.coroutine.done() {
                // SAFETY: a parked coroutine holds nothing that needs dropping: it waits in its
                // entry loop between two pieces of work.
                unsafe { one.coroutine.force_reset() };
            }
        }
    }
}
