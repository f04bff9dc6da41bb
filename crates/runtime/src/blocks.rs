//! Small blocks of memory that come and go with the threads of a run and their messages.
//!
//! A general allocator is good at few blocks of a size; a hundred threads that live at once cost it
//! more than their steps cost raddle. Blocks that were given back inside a run are kept by the OS
//! thread until its runtime is gone.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use crate::port;

/// What has at most this size comes from kept blocks, unless it has to be aligned unusually.
pub const SIZE: usize = 128;

/// What fits into this comes from kept blocks.
const BLOCK: Layout = match Layout::from_size_align(SIZE, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a size that is a multiple of a power of two"),
};

/// The blocks an OS thread keeps, each with a pointer to the next.
pub(crate) struct Blocks(Cell<Option<NonNull<Next>>>);

struct Next(Option<NonNull<Next>>);

/// Memory for something of this layout, which has a size, with nothing in it.
#[inline(always)]
pub fn allocate(layout: Layout) -> NonNull<u8> {
    if !fits(layout) {
        return fresh(layout);
    }
    let kept = &port::blocks().0;
    match kept.get() {
        Some(block) => {
            // SAFETY: blocks that are kept hold a pointer, see `give_back`.
            kept.set(unsafe { block.read() }.0);
            block.cast()
        }
        None => fresh(BLOCK),
    }
}

/// Gives memory back.
///
/// # Safety
/// It came from [`allocate`] with this layout, and nobody uses it any more.
#[inline(always)]
pub unsafe fn give_back(memory: NonNull<u8>, layout: Layout) {
    if fits(layout) && port::active() {
        let kept = &port::blocks().0;
        let block = memory.cast::<Next>();
        // SAFETY: all that fits has room and alignment for a pointer, and is ours.
        unsafe { block.write(Next(kept.get())) };
        kept.set(Some(block));
    } else {
        let layout = if fits(layout) { BLOCK } else { layout };
        // SAFETY: `fresh` made it with this layout.
        unsafe { dealloc(memory.as_ptr(), layout) };
    }
}

#[inline(always)]
fn fits(layout: Layout) -> bool {
    layout.size() <= BLOCK.size() && layout.align() <= BLOCK.align()
}

#[cold]
fn fresh(layout: Layout) -> NonNull<u8> {
    assert!(layout.size() > 0, "raddle invariant broken: memory for nothing");
    // SAFETY: the size is not zero.
    let memory = unsafe { alloc(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Blocks {
    pub(crate) const fn new() -> Blocks {
        Blocks(Cell::new(None))
    }

    /// Frees all that are kept.
    pub(crate) fn free(&self) {
        while let Some(block) = self.0.get() {
            // SAFETY: blocks that are kept hold a pointer, see `give_back`.
            self.0.set(unsafe { block.read() }.0);
            // SAFETY: `fresh` made it with this layout.
            unsafe { dealloc(block.as_ptr().cast(), BLOCK) };
        }
    }
}
