//! Small blocks of memory that come and go with the threads of a run and their messages.
//!
//! A general allocator is good at few blocks of a size; a hundred threads that live at once cost it
//! more than their steps cost raddle. Blocks that were given back inside a run are kept by the OS
//! thread until its runtime is gone, and a few for its next one.
//!
//! There are two sizes: small ones for threads, and large ones for messages. Where a block ends the processor does
//! not foresee, on either side of a channel, so that a block for fifteen messages was 6 % of four senders.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::NonNull;

use crate::port::Inside;
use crate::{bare, port};

/// What has at most this size comes from small blocks that are kept, unless it has to be aligned unusually.
const SMALL: usize = 128;

/// What has at most this size comes from large ones.
pub const LARGE: usize = 1024;

/// So many of each size are kept from one check to the next.
const FEW: usize = 8;

/// The blocks an OS thread keeps.
pub(crate) struct Blocks {
    small: Kept<SMALL>,
    large: Kept<LARGE>,
}

/// Blocks of one size, each with a pointer to the next.
struct Kept<const SIZE: usize>(Cell<*mut Next>);

/// Null if there is none.
#[derive(Copy, Clone)]
struct Next(*mut Next);

/// Memory for something of this layout, which has a size, with nothing in it.
#[inline(always)]
pub fn allocate(layout: Layout) -> NonNull<u8> {
    if fits(layout) {
        port::blocks().small.take()
    } else if Kept::<LARGE>::fits(layout) {
        port::blocks().large.take()
    } else {
        fresh(layout)
    }
}

/// As [`allocate`], for what [`fits`], in a run.
#[inline(always)]
pub fn allocate_in(inside: Inside) -> NonNull<u8> {
    inside.blocks().small.take()
}

/// Gives memory back.
///
/// # Safety
/// It came from [`allocate`] with this layout, and nobody uses it any more.
#[inline(always)]
pub unsafe fn give_back(memory: NonNull<u8>, layout: Layout) {
    let allocated = if fits(layout) {
        Kept::<SMALL>::BLOCK
    } else if Kept::<LARGE>::fits(layout) {
        Kept::<LARGE>::BLOCK
    } else {
        layout
    };
    match port::inside() {
        // SAFETY: `allocate` took it from there, and nobody uses it any more.
        Some(inside) if fits(layout) => unsafe { inside.blocks().small.give_back(memory) },
        Some(inside) if Kept::<LARGE>::fits(layout) => {
            // SAFETY: likewise.
            unsafe { inside.blocks().large.give_back(memory) };
        }
        // SAFETY: `fresh` made it with this layout.
        Some(_) | None => unsafe { dealloc(memory.as_ptr(), allocated) },
    }
}

/// Gives memory back in a run.
///
/// # Safety
/// It came from [`allocate_in`], or [`allocate`] with a layout that [`fits`], and nobody uses it any more.
#[inline(always)]
pub unsafe fn give_back_in(inside: Inside, memory: NonNull<u8>) {
    // SAFETY: promised by the caller.
    unsafe { inside.blocks().small.give_back(memory) };
}

/// Whether memory of this layout comes from small blocks that are kept.
#[inline(always)]
pub const fn fits(layout: Layout) -> bool {
    Kept::<SMALL>::fits(layout)
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
        Blocks { small: Kept::new(), large: Kept::new() }
    }

    /// Frees all that are kept but a few.
    pub(crate) fn free_most(&self) {
        self.small.free_most();
        self.large.free_most();
    }
}

impl<const SIZE: usize> Kept<SIZE> {
    const BLOCK: Layout = match Layout::from_size_align(SIZE, 16) {
        Ok(layout) => layout,
        Err(_) => panic!("a size that is a multiple of a power of two"),
    };

    const fn new() -> Kept<SIZE> {
        Kept(Cell::new(std::ptr::null_mut()))
    }

    #[inline(always)]
    const fn fits(layout: Layout) -> bool {
        layout.size() <= SIZE && layout.align() <= Self::BLOCK.align()
    }

    #[inline(always)]
    fn take(&self) -> NonNull<u8> {
        let block = bare::get!(self.0: *mut Next);
        if block as usize == 0 {
            return fresh(Self::BLOCK);
        }
        // SAFETY: blocks that are kept hold a pointer, see `give_back`.
        bare::set!(self.0: *mut Next = unsafe { bare::follow!(block as Next) }.0);
        // SAFETY: it is not null.
        unsafe { NonNull::new_unchecked(block.cast()) }
    }

    /// Keeps a block.
    ///
    /// # Safety
    /// It was [taken](Kept::take) from blocks of this size, and nobody uses it any more.
    #[inline(always)]
    unsafe fn give_back(&self, memory: NonNull<u8>) {
        let block = memory.as_ptr().cast::<Next>();
        // SAFETY: all have room and alignment for a pointer, and it is ours.
        *unsafe { bare::follow_mut!(block as Next) } = Next(bare::get!(self.0: *mut Next));
        bare::set!(self.0: *mut Next = block);
    }

    /// Frees all that are kept.
    fn free(&self) {
        while !self.0.get().is_null() {
            let block = self.take();
            // SAFETY: `fresh` made it with this layout.
            unsafe { dealloc(block.as_ptr(), Self::BLOCK) };
        }
    }

    /// Frees all that are kept but a few.
    fn free_most(&self) {
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
            Kept::<SIZE>(Cell::new(std::mem::replace(&mut last.0, std::ptr::null_mut()))).free();
        }
    }
}

/// Sees to it that no block outlives those who use them one after the other.
pub(crate) struct FreeAll;

impl Drop for FreeAll {
    fn drop(&mut self) {
        let Blocks { small, large } = port::blocks();
        small.free();
        large.free();
    }
}
