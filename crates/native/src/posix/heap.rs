//! Allocation functions. During a run blocks come from [`heap`](crate::heap), otherwise from libc.
//!
//! Freed memory is kept until the end of the run, so that uses of it are found. Freeing a block is a write of all of it,
//! which races with accesses that nothing orders before it.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{c_int, c_void};
use std::ptr;

use raddle_core::Site;

use super::time;
use crate::heap::{self, Wrong};
use crate::hooks::with_caller;
use crate::races::Access;
use crate::real::real;
use crate::run::{is_controlled, site, state, state_if_any};

/// When more bytes of libc's blocks than this are kept, the oldest is given back.
const MAX_KEPT: usize = 64 << 20;
/// The alignment of blocks if none is asked for.
const ALIGN: usize = 16;

/// The freed blocks of a run that were allocated before it.
#[derive(Default)]
pub(crate) struct Freed {
    /// By first address: the size, and where the block was freed.
    blocks: BTreeMap<usize, (usize, Site)>,
    order: VecDeque<usize>,
    bytes: usize,
}

impl Freed {
    /// Forgets everything, for a new run.
    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.order.clear();
        self.bytes = 0;
    }

    /// Returns where the block was freed that contains one of `size` bytes.
    #[inline]
    pub(crate) fn find(&self, address: usize, size: usize) -> Option<Site> {
        if self.blocks.is_empty() {
            return None;
        }
        let (&first, &(bytes, site)) = self.blocks.range(..address + size).next_back()?;
        (address < first + bytes).then_some(site)
    }

    /// Keeps a block. Returns those that are given back for it.
    fn keep(&mut self, address: usize, size: usize, site: Site) -> Vec<usize> {
        self.blocks.insert(address, (size, site));
        self.order.push_back(address);
        self.bytes += size;
        let mut given_back = Vec::new();
        while self.bytes > MAX_KEPT {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some((size, _)) = self.blocks.remove(&oldest) {
                self.bytes -= size;
                given_back.push(oldest);
            }
        }
        given_back
    }
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
    fn __libc_free(block: *mut c_void);
}

/// Returns a new block of a run, all zero, or a null pointer.
fn allocate(size: usize, align: usize, pc: usize) -> *mut c_void {
    let (state, site) = (state(), site(pc));
    let me = state.me();
    let moment = state.with_engine(|engine| state.races.borrow_mut().moment(me, site, engine));
    let origin = state.stacks.origin(pc, size);
    let allocated = state.heap.borrow_mut().allocate(size, align, moment, origin);
    let Some((address, was_used)) = allocated else {
        time::fail(libc::ENOMEM);
        return ptr::null_mut();
    };
    if was_used {
        state.races.borrow_mut().forget(address, size);
    }
    ptr::with_exposed_provenance_mut(address)
}

unsafe extern "C" fn allocate_block(size: usize, pc: usize) -> *mut c_void {
    if is_controlled() {
        return allocate(size, ALIGN, pc);
    }
    // SAFETY: the arguments are the program's.
    unsafe { __libc_malloc(size) }
}

unsafe extern "C" fn allocate_zeros(count: usize, size: usize, pc: usize) -> *mut c_void {
    if is_controlled() {
        return match count.checked_mul(size) {
            Some(bytes) => allocate(bytes, ALIGN, pc),
            None => ptr::null_mut(),
        };
    }
    // SAFETY: the arguments are the program's.
    unsafe { __libc_calloc(count, size) }
}

unsafe extern "C" fn allocate_aligned(align: usize, size: usize, pc: usize) -> *mut c_void {
    if is_controlled() {
        if !align.is_power_of_two() {
            time::fail(libc::EINVAL);
            return ptr::null_mut();
        }
        return allocate(size, align, pc);
    }
    // SAFETY: the arguments are the program's.
    unsafe { __libc_memalign(align, size) }
}

unsafe extern "C" fn allocate_aligned_at(
    place: *mut *mut c_void,
    align: usize,
    size: usize,
    pc: usize,
) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: the arguments are the program's.
    let block = unsafe { allocate_aligned(align, size, pc) };
    if block.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the program passed a place for the block.
    unsafe { place.write(block) };
    0
}

const PAGE: usize = 4096;

unsafe extern "C" fn allocate_pages(size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the arguments are the program's.
    unsafe { allocate_aligned(PAGE, size, pc) }
}

unsafe extern "C" fn allocate_whole_pages(size: usize, pc: usize) -> *mut c_void {
    // SAFETY: the arguments are the program's.
    unsafe { allocate_aligned(PAGE, size.next_multiple_of(PAGE), pc) }
}

/// C++ has blocks of size zero, too, and other ends if there is no memory.
unsafe extern "C" fn allocate_object(size: usize, pc: usize) -> *mut c_void {
    if is_controlled() {
        let block = allocate(size, ALIGN, pc);
        if !block.is_null() {
            return block;
        }
    }
    real!(_Znwm(size => usize) -> *mut c_void)
}

unsafe extern "C" fn allocate_aligned_object(size: usize, align: usize, pc: usize) -> *mut c_void {
    if is_controlled() {
        let block = allocate(size, align, pc);
        if !block.is_null() {
            return block;
        }
    }
    real!(_ZnwmSt11align_val_t(size => usize, align => usize) -> *mut c_void)
}

unsafe extern "C" fn free_block(block: *mut c_void, pc: usize) {
    if block.is_null() {
        return;
    }
    let address = block.addr();
    if !is_controlled() {
        if !heap::contains(address) {
            // SAFETY: the program frees a block of libc's.
            unsafe { __libc_free(block) };
        } else if let Some(state) = state_if_any() {
            // After the run, in an exit handler.
            let _ = state.heap.borrow_mut().free(address, site(pc));
        }
        return;
    }
    let (state, site) = (state(), site(pc));
    if !heap::contains(address) {
        return free_old(address, pc);
    }
    let block = state.heap.borrow_mut().free(address, site);
    let place = Some(site.to_string());
    match block {
        Ok(block) if state.finds_races.get() && !state.has_raced.get() => {
            let race = state.with_engine(|engine| {
                state.races.borrow_mut().free(state.me(), &block, site, engine)
            });
            state.note_race(race, site);
        }
        Ok(_) => {}
        Err(Wrong::Freed(earlier)) => {
            state.fail(format!("memory is freed twice, first at {earlier}"), place)
        }
        Err(Wrong::Beyond { .. } | Wrong::Before { .. } | Wrong::Nowhere) => {
            state.fail("the program frees memory that is no block of the heap".to_owned(), place)
        }
    }
}

/// Frees a block that was allocated before the run.
fn free_old(address: usize, pc: usize) {
    let (state, site) = (state(), site(pc));
    let earlier = state.freed.borrow().find(address, 1);
    if let Some(earlier) = earlier {
        let message = format!("memory is freed twice, first at {earlier}");
        state.fail(message, Some(site.to_string()));
    }
    let size = usable(address);
    state.look_for_race(Access {
        address,
        size,
        writes: true,
        is_atomic: false,
        is_point: false,
        site,
    });
    let given_back = state.freed.borrow_mut().keep(address, size, site);
    for block in given_back {
        state.races.borrow_mut().forget(block, usable(block));
        // SAFETY: libc has not got the block back.
        unsafe { __libc_free(ptr::with_exposed_provenance_mut(block)) };
    }
}

/// Returns the size of a block of libc's.
fn usable(block: usize) -> usize {
    let block = ptr::with_exposed_provenance_mut::<c_void>(block);
    real!(malloc_usable_size(block => *mut c_void) -> usize)
}

unsafe extern "C" fn size_of_block(block: *mut c_void, _pc: usize) -> usize {
    size(block.addr())
}

/// Returns the size of a block.
fn size(block: usize) -> usize {
    if block == 0 || !heap::contains(block) {
        return if block == 0 { 0 } else { usable(block) };
    }
    let state = state_if_any();
    let known = state.and_then(|state| state.heap.borrow().block(block).map(|block| block.size));
    known.unwrap_or(0)
}

/// Moves a block, so that the old one is freed as others are.
unsafe extern "C" fn resize_block(block: *mut c_void, new: usize, pc: usize) -> *mut c_void {
    let is_controlled = is_controlled();
    if !is_controlled && !heap::contains(block.addr()) {
        // SAFETY: the arguments are the program's.
        return unsafe { __libc_realloc(block, new) };
    }
    if block.is_null() {
        // SAFETY: allocates.
        return unsafe { allocate_block(new, pc) };
    }
    if new == 0 {
        // SAFETY: the program gives the block up.
        unsafe { free_block(block, pc) };
        return ptr::null_mut();
    }
    if is_controlled {
        state().check_access(block.addr(), 1, pc);
    }
    // SAFETY: allocates.
    let bigger = unsafe { allocate_block(new, pc) };
    if !bigger.is_null() {
        let bytes = size(block.addr()).min(new);
        // SAFETY: both blocks have that many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), bigger.cast(), bytes) };
        // SAFETY: the program gives the old block up.
        unsafe { free_block(block, pc) };
    }
    bigger
}

unsafe extern "C" fn resize_array(
    block: *mut c_void,
    count: usize,
    size: usize,
    pc: usize,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: the arguments are the program's.
        Some(bytes) => unsafe { resize_block(block, bytes, pc) },
        None => {
            time::fail(libc::ENOMEM);
            ptr::null_mut()
        }
    }
}

with_caller! {
    malloc, "rsi", allocate_block;
    calloc, "rdx", allocate_zeros;
    realloc, "rdx", resize_block;
    reallocarray, "rcx", resize_array;
    free, "rsi", free_block;
    cfree, "rsi", free_block;
    memalign, "rdx", allocate_aligned;
    aligned_alloc, "rdx", allocate_aligned;
    posix_memalign, "rcx", allocate_aligned_at;
    valloc, "rsi", allocate_pages;
    pvalloc, "rsi", allocate_whole_pages;
    malloc_usable_size, "rsi", size_of_block;
    _Znwm, "rsi", allocate_object;
    _Znam, "rsi", allocate_object;
    _ZnwmSt11align_val_t, "rdx", allocate_aligned_object;
    _ZnamSt11align_val_t, "rdx", allocate_aligned_object;
    _ZdlPv, "rsi", free_block;
    _ZdaPv, "rsi", free_block;
    _ZdlPvm, "rsi", free_block;
    _ZdaPvm, "rsi", free_block;
    _ZdlPvSt11align_val_t, "rsi", free_block;
    _ZdaPvSt11align_val_t, "rsi", free_block;
    _ZdlPvmSt11align_val_t, "rsi", free_block;
    _ZdaPvmSt11align_val_t, "rsi", free_block;
}
