//! Guarded stacks straight from the kernel. Pages cost nothing until they are touched.

use std::cell::RefCell;
use std::io;
use std::ops::Range;

/// A stack with a page below it that faults.
pub(crate) struct Stack {
    base: *mut u8,
    length: usize,
}

const GUARD: usize = 4096;

thread_local! {
    /// Stacks of runtimes that are gone, for those to come.
    static SPARE: RefCell<Vec<Stack>> = const { RefCell::new(Vec::new()) };
}

/// No more stacks than this are kept for later, by each OS thread.
const MOST_SPARE: usize = 256;

/// Keeps stacks that have been left for later.
pub(crate) fn give_back(stacks: impl Iterator<Item = Stack>) {
    // Not at the end of the OS thread, when there is no later.
    let _ = SPARE.try_with(|spare| {
        let mut spare = spare.borrow_mut();
        let room = MOST_SPARE.saturating_sub(spare.len());
        spare.extend(stacks.take(room));
    });
}

impl Stack {
    /// A stack of at least `size` bytes.
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
        // SAFETY: a fresh anonymous mapping touches no memory of ours.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Stack { base: base.cast(), length };
        // SAFETY: the page belongs to the mapping just made, and nothing has been put there.
        if unsafe { libc::mprotect(base, GUARD, libc::PROT_NONE) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(stack)
    }

    /// The addresses below the stack that fault.
    pub(crate) fn guard(&self) -> Range<usize> {
        let start = self.base as usize;
        start..start + GUARD
    }

    /// A stack pointer, `stagger` bytes below the top, with which a function can begin as if called from
    /// nowhere.
    pub(crate) fn prepare(&self, stagger: usize) -> *mut u8 {
        debug_assert!(stagger % 16 == 0 && stagger + 64 < self.length - GUARD);
        let top = self.base.wrapping_add(self.length - stagger).cast::<usize>();
        // A return address of zero ends every backtrace. It also aligns the stack as `call` would.
        let nowhere = top.wrapping_sub(1);
        // SAFETY: inside the mapping, by the assertion above, and aligned.
        unsafe { nowhere.write(0) };
        nowhere.cast()
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and whoever drops a stack has left it.
        unsafe { libc::munmap(self.base.cast(), self.length) };
    }
}
