//! Asymmetric coroutines of `corosensei`, for all targets without [`Native`](crate::Native).
//!
//! A switch takes two steps: the coroutine suspends itself, and the host resumes the next one.

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
    coroutines: Vec<Slot>,
    /// The number of the coroutine of each thread.
    assigned: Vec<Option<usize>>,
    /// Whether a coroutine was reassigned to another thread in this run.
    was_reassigned: bool,
    /// The thread that the host resumes next, if any.
    next: Option<usize>,
}

struct Slot {
    /// Boxed, so that the address stays valid when the pool grows while the coroutine runs.
    coroutine: Box<Coroutine<(), (), ()>>,
    /// Suspends the coroutine. Set when the coroutine first runs.
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
        self.coroutines.iter().any(|slot| slot.guard.contains(&address))
    }

    unsafe fn enter<R>(this: *mut Portable, to: usize, _run: *const R) {
        // SAFETY: the caller promises that `this` points to a pool without other references into it.
        unsafe { (*this).next = Some(to) };
        // SAFETY: coroutines access the pool only through `this`, one at a time, and hold no reference now.
        while let Some(next) = unsafe { (*this).next.take() } {
            // SAFETY: there is no other reference into the pool. This one ends before the coroutine runs.
            let pool = unsafe { &mut *this };
            let number = pool.coroutine(next);
            // The box keeps its address when the pool grows.
            let coroutine: *mut Coroutine<_, _, _> = &mut *pool.coroutines[number].coroutine;
            // SAFETY: the pool outlives the call. The coroutine is suspended, because the host runs.
            unsafe { (*coroutine).resume(()) };
        }
    }

    unsafe fn switch<R>(
        this: *mut Portable,
        from: usize,
        to: Option<usize>,
        run: *const R,
    ) -> *const R {
        // The host returns if there is no next thread.
        // SAFETY: the caller promises that `this` points to a pool without other references into it.
        unsafe { (*this).next = to };
        // SAFETY: the caller promises that `this` has no other references into it, and that it runs on `from`.
        unsafe { suspend(this, from) };
        run
    }

    fn leak(&mut self, thread: usize) {
        let number = self.coroutine(thread);
        self.assigned[thread] = None;
        std::mem::forget(self.coroutines.swap_remove(number));
        // The last coroutine has its number now.
        let last = self.coroutines.len();
        for assigned in self.assigned.iter_mut().filter(|assigned| **assigned == Some(last)) {
            *assigned = Some(number);
        }
    }
}

impl Portable {
    /// Creates a coroutine. Returns its number.
    fn grow(&mut self) -> io::Result<usize> {
        let stack = DefaultStack::new(self.stack_size)?;
        let (base, limit) = (stack.base().get(), stack.limit().get());
        let entry = self.entry;
        let mut yielder = Box::new(std::ptr::null());
        let slot: *mut *const Yielder<(), ()> = &mut *yielder;
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            // SAFETY: the slot is boxed and lives as long as the coroutine, which alone reads it later.
            unsafe { slot.write(yielder) };
            entry()
        });
        // The stack includes the guard page, which is the part beyond the requested size.
        let guard = limit..base.saturating_sub(self.stack_size);
        self.coroutines.push(Slot { coroutine: Box::new(coroutine), yielder, guard });
        Ok(self.coroutines.len() - 1)
    }

    fn coroutine(&self, thread: usize) -> usize {
        self.assigned[thread].expect("raddle invariant broken: a thread without a coroutine")
    }
}

/// Suspends the coroutine of the thread `from`.
///
/// # Safety
/// `this` points to a pool without other references into it, and the caller runs on `from`.
unsafe fn suspend(this: *mut Portable, from: usize) {
    // SAFETY: the caller promises that there are no other references into the pool.
    let pool = unsafe { &*this };
    let yielder = *pool.coroutines[pool.coroutine(from)].yielder;
    // SAFETY: the pointer was set when the coroutine began to run, and is valid until it ends.
    unsafe { (*yielder).suspend(()) };
}

impl Drop for Portable {
    fn drop(&mut self) {
        for slot in &mut self.coroutines {
            if slot.coroutine.started() && !slot.coroutine.done() {
                // SAFETY: a suspended coroutine owns nothing that must be dropped: it waits in its entry loop for the
                // next body.
                unsafe { slot.coroutine.force_reset() };
            }
        }
    }
}
