//! Small blocks of memory that come and go with the threads of a run and their messages.
//!
//! A general allocator is good at few blocks of a size; a hundred threads that live at once cost it
//! more than their steps cost raddle. Blocks that were given back inside a run are kept by the OS
//! thread until its runtime is gone, and a few for its next one.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use crate::port::Inside;
use crate::{bare, port};

/// What has at most this size comes from kept blocks, unless it has to be aligned unusually.
pub const SIZE: usize = 128;

/// What fits into this comes from kept blocks.
const BLOCK: Layout = match Layout::from_size_align(SIZE, 16) {
    Ok(layout) => layout,
    Err(_) => panic!("a size that is a multiple of a power of two"),
};

/// So many are kept from one check to the next.
const FEW: usize = 8;

/// The blocks an OS thread keeps, each with a pointer to the next.
pub(crate) struct Blocks(Cell<*mut Next>);

/// Null if there is none.
#[derive(Copy, Clone)]
struct Next(*mut Next);

/// Memory for something of this layout, which has a size, with nothing in it.
#[inline(always)]
pub fn allocate(layout: Layout) -> NonNull<u8> {
    if fits(layout) { port::blocks().take() } else { fresh(layout) }
}

/// As [`allocate`], for what [`fits`], in a run.
#[inline(always)]
pub fn allocate_in(inside: Inside) -> NonNull<u8> {
    inside.blocks().take()
}

/// Gives memory back.
///
/// # Safety
/// It came from [`allocate`] with this layout, and nobody uses it any more.
#[inline(always)]
pub unsafe fn give_back(memory: NonNull<u8>, layout: Layout) {
    if !fits(layout) {
        // SAFETY: `fresh` made it with this layout.
        return unsafe { dealloc(memory.as_ptr(), layout) };
    }
    match port::inside() {
        // SAFETY: promised by the caller.
        Some(inside) => unsafe { give_back_in(inside, memory) },
        // SAFETY: `fresh` made it with this layout.
        None => unsafe { dealloc(memory.as_ptr(), BLOCK) },
    }
}

/// Gives memory back in a run.
///
/// # Safety
/// It came from [`allocate_in`], or [`allocate`] with a layout that [`fits`], and nobody uses it any more.
#[inline(always)]
pub unsafe fn give_back_in(inside: Inside, memory: NonNull<u8>) {
    let kept = &inside.blocks().0;
    let block = memory.as_ptr().cast::<Next>();
    // SAFETY: all that fits has room and alignment for a pointer, and is ours.
    *unsafe { bare::follow_mut!(block as Next) } = Next(bare::get!(kept: *mut Next));
    bare::set!(*kept: *mut Next = block);
}

/// Whether memory of this layout comes from kept blocks.
#[inline(always)]
pub const fn fits(layout: Layout) -> bool {
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
        Blocks(Cell::new(std::ptr::null_mut()))
    }

    #[inline(always)]
    fn take(&self) -> NonNull<u8> {
        let block = bare::get!(self.0: *mut Next);
        if block as usize == 0 {
            return fresh(BLOCK);
        }
        // SAFETY: blocks that are kept hold a pointer, see `give_back`.
        bare::set!(self.0: *mut Next = unsafe { bare::follow!(block as Next) }.0);
        // SAFETY: it is not null.
        unsafe { NonNull::new_unchecked(block.cast()) }
    }

    /// Frees all that are kept.
    fn free(&self) {
        while !self.0.get().is_null() {
            let block = self.take();
            // SAFETY: `fresh` made it with this layout.
            unsafe { dealloc(block.as_ptr(), BLOCK) };
        }
    }

    /// Frees all that are kept but a few.
    pub(crate) fn free_most(&self) {
        let mut last = self.0.get();
        for _ in 1..FEW {
            if !last.is_null() {
                // SAFETY: blocks that are kept hold a pointer, see `give_back`.
                last = unsafe { bare::follow!(last as Next) }.0;
            }
        }
        if !last.is_null() {
            // SAFETY: as above.
            let last = unsafe { bare::follow_mut!(last as Next) };
            Blocks(Cell::new(std::mem::replace(&mut last.0, std::ptr::null_mut()))).free();
        }
    }
}

/// Sees to it that no block outlives those who use them one after the other.
pub(crate) struct FreeAll;

impl Drop for FreeAll {
    fn drop(&mut self) {
        port::blocks().free();
    }
}
