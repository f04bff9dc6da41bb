//! raddle's heap: a shared mapping at a fixed address.
//!
//! What a forked run writes here (the engine, its trace, the chooser) its parent sees, without a protocol. No libc and
//! no thread-local storage: all state is in the mapping. Only the OS thread of the check allocates.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ptr;

use crate::one_thread::OneThread;
use crate::system;

const BASE: usize = 0x2000_0000_0000;
const PAGE: usize = 4096;
/// Sizes to try. The mapping costs nothing before it is used, but some systems limit it.
const SIZES: [usize; 3] = [64 << 30, 8 << 30, 1 << 30];
/// Blocks have sizes of powers of two, and this is the logarithm of the smallest.
const SMALLEST: usize = 4;
const CLASSES: usize = 48;

/// The allocator.
pub(crate) struct Arena;

/// The beginning of the mapping.
struct Head {
    /// The first byte that was never used.
    next: Cell<usize>,
    end: Cell<usize>,
    /// The first free block of each size; the first word of a free block points to the next one.
    free: [Cell<usize>; CLASSES],
}

static IS_MAPPED: OneThread<Cell<bool>> = OneThread::new(Cell::new(false));

// SAFETY: blocks that are in use do not overlap: a block comes from the end of the used part or from a free list, and
// is in no list then. A block of 2^n bytes is aligned to the smaller of 2^n and a page, which no layout here exceeds.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocate(class(layout.size(), layout.align()))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let free = &head().free[class(layout.size(), layout.align())];
        // SAFETY: the block has at least the size of a word, is aligned for it, and is not used any more.
        unsafe { block.cast::<usize>().write(free.get()) };
        free.set(block.expose_provenance());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (old, new) = (class(layout.size(), layout.align()), class(size, layout.align()));
        if old == new {
            return block;
        }
        let bigger = allocate(new);
        if !bigger.is_null() {
            // SAFETY: both blocks have that many bytes, and they do not overlap.
            unsafe { ptr::copy_nonoverlapping(block, bigger, layout.size().min(size)) };
            // SAFETY: promised by the caller.
            unsafe { self.dealloc(block, layout) };
        }
        bigger
    }
}

/// Returns a block for something that is never freed and begins at a page.
pub(crate) fn pages(bytes: usize) -> *mut u8 {
    allocate(class(bytes.max(PAGE), PAGE))
}

fn class(size: usize, align: usize) -> usize {
    size.max(align).next_power_of_two().trailing_zeros().max(SMALLEST as u32) as usize
}

fn allocate(class: usize) -> *mut u8 {
    let head = head();
    let free = head.free[class].get();
    if free != 0 {
        let block = ptr::with_exposed_provenance_mut::<u8>(free);
        // SAFETY: the first word of a free block points to the next one.
        head.free[class].set(unsafe { block.cast::<usize>().read() });
        return block;
    }
    let size = 1usize << class;
    let begin = head.next.get().next_multiple_of(size.min(PAGE));
    if begin + size > head.end.get() {
        return ptr::null_mut();
    }
    head.next.set(begin + size);
    ptr::with_exposed_provenance_mut(begin)
}

fn head() -> &'static Head {
    if !IS_MAPPED.get() {
        map();
    }
    // SAFETY: the mapping begins with a head, is never unmapped, and the head is only used through cells.
    unsafe { &*ptr::with_exposed_provenance::<Head>(BASE) }
}

#[cold]
fn map() {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags =
        (libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE)
            as usize;
    for size in SIZES {
        // SAFETY: the kernel maps only addresses that are not in use.
        let base =
            unsafe { system::call(system::MMAP, [BASE, size, protection, flags, usize::MAX, 0]) };
        if base == BASE as isize {
            let head = Head {
                next: Cell::new(BASE + PAGE),
                end: Cell::new(BASE + size),
                free: [const { Cell::new(0) }; CLASSES],
            };
            // SAFETY: the mapping is new and its first page is for the head.
            unsafe { ptr::with_exposed_provenance_mut::<Head>(BASE).write(head) };
            IS_MAPPED.set(true);
            return;
        }
    }
    system::write(2, b"raddle: no address space for raddle's heap; is there a limit on virtual memory (ulimit -v)?\n");
    system::exit(2);
}
