//! The heap of the program: freed memory is kept until the end of the run, so that uses of it are found.
//!
//! Freeing a block is a write of all of it, which races with accesses that nothing orders before it.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_void;

use raddle_core::Site;

use crate::hooks::with_caller;
use crate::races::Access;
use crate::real::real;
use crate::run::{is_controlled, site, state};

/// When more bytes than this are kept, the oldest block is given back.
const MAX_KEPT: usize = 64 << 20;

/// The freed blocks of a run.
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
    pub(crate) fn find(&self, address: usize, size: usize) -> Option<Site> {
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

unsafe extern "C" fn free_block(block: *mut c_void, pc: usize) {
    if block.is_null() || !is_controlled() {
        return real!(free(block => *mut c_void) -> ());
    }
    let (state, site) = (state(), site(pc));
    let address = block.addr();
    let earlier = state.freed.borrow().find(address, 1);
    if let Some(earlier) = earlier {
        let message = format!("memory is freed twice, first at {earlier}");
        state.fail(message, Some(format!("{pc:#x}")));
    }
    // SAFETY: the program frees a block, which is not freed yet.
    let size = unsafe { libc::malloc_usable_size(block) };
    state.look_for_race(Access { address, size, writes: true, is_atomic: false, site });
    let given_back = state.freed.borrow_mut().keep(address, size, site);
    for block in given_back {
        let place = std::ptr::with_exposed_provenance_mut::<c_void>(block);
        // SAFETY: libc has not got the block back.
        let size = unsafe { libc::malloc_usable_size(place) };
        state.races.borrow_mut().forget(block, size);
        real!(free(place => *mut c_void) -> ());
    }
}

/// Moves a block, so that the old one is freed as others are.
unsafe extern "C" fn resize_block(block: *mut c_void, size: usize, pc: usize) -> *mut c_void {
    if block.is_null() || size == 0 || !is_controlled() {
        return real!(realloc(block => *mut c_void, size => usize) -> *mut c_void);
    }
    // SAFETY: the program passed a block.
    let old = unsafe { libc::malloc_usable_size(block) };
    // SAFETY: allocates.
    let new = unsafe { libc::malloc(size) };
    if !new.is_null() {
        // SAFETY: both blocks have that many bytes.
        unsafe { std::ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast(), old.min(size)) };
        // SAFETY: the program gives the old block up.
        unsafe { free_block(block, pc) };
    }
    new
}

with_caller! {
    free, "rsi", free_block;
    realloc, "rdx", resize_block;
}
