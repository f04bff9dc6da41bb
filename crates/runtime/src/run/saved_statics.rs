//! What statics held before a run, to be restored after it.

use std::cell::RefCell;
use std::mem::MaybeUninit;

/// Copies of what statics held when they were first used in a run.
#[derive(Default)]
pub(crate) struct SavedStatics {
    copies: RefCell<Vec<Copy>>,
    bytes: RefCell<Vec<MaybeUninit<u8>>>,
}

/// Where a copy belongs, and where it begins in `bytes`.
struct Copy {
    place: *mut u8,
    start: usize,
    size: usize,
}

impl SavedStatics {
    /// Saves a copy of `size` bytes at `place`.
    ///
    /// # Safety
    /// They can be read now and written after the run.
    pub(crate) unsafe fn save(&self, place: *mut u8, size: usize) {
        let (mut copies, mut bytes) = (self.copies.borrow_mut(), self.bytes.borrow_mut());
        let start = bytes.len();
        bytes.resize(start + size, MaybeUninit::uninit());
        let copy = bytes[start..].as_mut_ptr();
        // SAFETY: promised by the caller; the vector was just made long enough, and is another place.
        unsafe { place.cast::<MaybeUninit<u8>>().copy_to_nonoverlapping(copy, size) };
        copies.push(Copy { place, start, size });
    }

    /// Restores everything, after the run.
    pub(crate) fn restore(&self) {
        let (mut copies, mut bytes) = (self.copies.borrow_mut(), self.bytes.borrow_mut());
        for Copy { place, start, size } in copies.drain(..) {
            let copy = bytes[start..start + size].as_ptr();
            // SAFETY: `save` was promised that this can be done after the run, which it is.
            unsafe { place.cast::<MaybeUninit<u8>>().copy_from_nonoverlapping(copy, size) };
        }
        bytes.clear();
    }
}
