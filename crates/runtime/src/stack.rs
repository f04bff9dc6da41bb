//! Stacks with guard pages, mapped by the kernel. A page uses no memory until it is accessed.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

/// A stack with a guard page below it.
pub(crate) struct Stack {
    base: *mut u8,
    length: usize,
}

const GUARD: usize = 4096;

thread_local! {
    /// Stacks of earlier runtimes, for later ones.
    static SPARE: RefCell<Vec<Stack>> = const { RefCell::new(Vec::new()) };
}

/// The maximum number of spare stacks of each OS thread.
const MAX_SPARE_STACKS: usize = 256;

/// Keeps unused stacks for later runtimes.
pub(crate) fn give_back(stacks: impl Iterator<Item = Stack>) {
    // At the end of the OS thread the stacks are freed instead.
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        let room = MAX_SPARE_STACKS.saturating_sub(spare.len());
        spare.extend(stacks.take(room));
    });
}

impl Stack {
    /// Returns a stack of at least `size` bytes.
    pub(crate) fn new(size: usize) -> io::Result<Stack> {
        let length = size.next_multiple_of(GUARD) + GUARD;
        let spare = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            let fits = spare.iter().rposition(|stack| stack.length == length)?;
            Some(spare.swap_remove(fits))
        });
        if let Ok(Some(stack)) = spare {
            return Ok(stack);
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new anonymous mapping does not overlap existing memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Stack { base: base.cast(), length };
        // SAFETY: the page belongs to the new mapping, which is unused.
        if unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// Returns the addresses of the guard page.
    pub(crate) fn guard(&self) -> Range<usize> {
        let start = self.base as usize;
        start..start + GUARD
    }

    /// Returns whether a stack pointer is of this stack.
    pub(crate) fn contains(&self, pointer: *mut u8) -> bool {
        let start = self.base as usize;
        (start..=start + self.length).contains(&(pointer as usize))
    }

    /// Returns the address behind the last byte.
    pub(crate) fn end(&self) -> usize {
        self.base as usize + self.length
    }

    /// Returns a stack pointer, `stagger` bytes below the top, with which a function without a caller can begin.
    pub(crate) fn prepare(&self, stagger: usize) -> *mut u8 {
        debug_assert!(stagger % 16 == 0 && stagger + 64 < self.length - GUARD);
        let top = self.base.wrapping_add(self.length - stagger).cast::<usize>();
        // A return address of zero ends backtraces. It also aligns the stack as `call` would.
        let return_address = top.wrapping_sub(1);
        // SAFETY: the pointer is aligned, and inside the mapping by the assertion above.
        unsafe { return_address.write(0) };
        return_address.cast()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no coroutine runs on a stack that is dropped.
        unsafe { libc::munmap(self.base.cast(), self.length) };
    }
}
