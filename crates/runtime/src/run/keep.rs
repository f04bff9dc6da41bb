//! What statics held before a run, to be put back after it.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

/// Copies of what statics held when they were first used in a run.
#[derive(Default)]
pub(super) struct Kept {
    is_used: Cell<bool>,
    copies: RefCell<Vec<Copy>>,
    bytes: RefCell<Vec<MaybeUninit<u8>>>,
}

/// Where a copy belongs, and where it begins in `bytes`.
struct Copy {
    place: *mut u8,
    start: usize,
    size: usize,
}

impl Kept {
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        !self.is_used.get()
    }

    /// Keeps a copy of `size` bytes at `place`.
    ///
    /// # Safety
    /// They can be read, and be put back after the run.
    pub(super) unsafe fn keep(&self, place: *mut u8, size: usize) {
        let (mut copies, mut bytes) = (self.copies.borrow_mut(), self.bytes.borrow_mut());
        let start = bytes.len();
        bytes.resize(start + size, MaybeUninit::uninit());
        // SAFETY: promised by the caller; the vector was just made long enough, and is another place.
        unsafe {
            place
                .cast::<MaybeUninit<u8>>()
                .copy_to_nonoverlapping(bytes[start..].as_mut_ptr(), size)
        };
        copies.push(Copy { place, start, size });
        self.is_used.set(true);
    }

    /// Puts everything back.
    #[cold]
    pub(super) fn put_back(&self) {
        let (mut copies, mut bytes) = (self.copies.borrow_mut(), self.bytes.borrow_mut());
        for Copy { place, start, size } in copies.drain(..) {
            let copy = bytes[start..start + size].as_ptr();
            // SAFETY: `keep` was promised that this can be done after the run, which it is.
            unsafe { place.cast::<MaybeUninit<u8>>().copy_from_nonoverlapping(copy, size) };
        }
        bytes.clear();
        self.is_used.set(false);
    }
}
