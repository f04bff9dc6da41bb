//! Asymmetric coroutines by `corosensei`, for every other target.
//!
//! A switch goes through the host: the coroutine suspends, the host resumes the next.

use std::io;
use std::ops::Range;

use corosensei::stack::{DefaultStack, Stack as _};
use corosensei::{Coroutine, Yielder};

use crate::Backend;
use crate::backend::OWN_STACKS;

/// The `corosensei` back end.
pub struct Portable {
    stack_size: usize,
    entry: fn() -> !,
    coroutines: Vec<One>,
    /// By thread: the number of its coroutine.
    assigned: Vec<Option<usize>>,
    /// Whether a coroutine went from one thread to another in this run.
    was_reassigned: bool,
    /// The thread that the host resumes next, if any.
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
        Portable {
            stack_size,
            entry,
            coroutines: Vec::new(),
            assigned: Vec::new(),
            was_reassigned: false,
            next: None,
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.was_reassigned {
            self.was_reassigned = false;
            self.assigned.retain(Option::is_some);
        }
        self.assign_stack(0, || None)
    }

    fn assign_stack(
        &mut self,
        thread: usize,
        ended: impl FnOnce() -> Option<usize>,
    ) -> io::Result<()> {
        if self.assigned.len() <= thread {
            self.assigned.resize(thread + 1, None);
        }
        if self.assigned[thread].is_some() {
            return Ok(());
        }
        let ended = if self.coroutines.len() >= OWN_STACKS { ended() } else { None };
        if let Some(ended) = ended {
            self.assigned.swap(thread, ended);
            self.was_reassigned = true;
            return Ok(());
        }
        self.assigned[thread] = Some(self.grow()?);
        Ok(())
    }

    fn is_stack_guard(&self, address: usize) -> bool {
        self.coroutines.iter().any(|one| one.guard.contains(&address))
    }

    unsafe fn enter(this: *mut Portable, to: usize) {
        // SAFETY: the caller promises that `this` points to a pool without other references into it.
        unsafe { (*this).next = Some(to) };
        // SAFETY: as above; coroutines touch it only through `this` too, and one at a time.
        while let Some(next) = unsafe { (*this).next.take() } {
            // SAFETY: as above; the reference ends with the block.
            let pool = unsafe { &mut *this };
            let number = pool.coroutine(next);
            // The box keeps its address when the pool grows meanwhile.
            let coroutine: *mut Coroutine<_, _, _> = &mut *pool.coroutines[number].coroutine;
            // SAFETY: the pool outlives the call; the coroutine is suspended, or it would be the
            // caller.
            unsafe { (*coroutine).resume(()) };
        }
    }

    unsafe fn switch(this: *mut Portable, from: usize, to: Option<usize>) {
        // The host stops when there is no next.
        // SAFETY: the caller promises that `this` points to a pool without other references into it.
        unsafe { (*this).next = to };
        // SAFETY: as above, and the caller runs on `from`.
        unsafe { suspend(this, from) }
    }

    fn abandon(mut self) {
        std::mem::forget(std::mem::take(&mut self.coroutines));
    }
}

impl Portable {
    /// Makes a coroutine, and returns its number.
    fn grow(&mut self) -> io::Result<usize> {
        let stack = DefaultStack::new(self.stack_size)?;
        let (base, limit) = (stack.base().get(), stack.limit().get());
        let entry = self.entry;
        let mut yielder = Box::new(std::ptr::null());
        let slot: *mut *const Yielder<(), ()> = &mut *yielder;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the slot is boxed and lives as long as this coroutine; only the coroutine
            // itself reads it later.
            unsafe { slot.write(yielder) };
            entry()
        });
        // The limit counts the guard page in: it is what the stack has beyond the size asked for.
        let guard = limit..base.saturating_sub(self.stack_size);
        self.coroutines.push(One { coroutine: Box::new(coroutine), yielder, guard });
        Ok(self.coroutines.len() - 1)
    }

    fn coroutine(&self, thread: usize) -> usize {
        self.assigned[thread].expect("raddle invariant broken: a thread without a coroutine")
    }
}

/// # Safety
/// `this` points to a pool without other references into it, and the caller runs on `from`.
unsafe fn suspend(this: *mut Portable, from: usize) {
    // SAFETY: the caller promises it.
    let pool = unsafe { &*this };
    let yielder = *pool.coroutines[pool.coroutine(from)].yielder;
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
