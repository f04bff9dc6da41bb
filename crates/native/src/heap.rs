//! The heap of the program during runs: blocks with gaps between them, which are not used again until the run ends.
//!
//! Each eight bytes of the heap have one byte in a shadow, which says how many of them belong to a block. So accesses
//! beyond a block and to freed blocks are noticed, by instrumented code and by the functions of libc that copy memory.
//! Blocks from before the run are libc's.

use std::collections::{BTreeMap, VecDeque};
use std::ptr;

use raddle_core::{Site, ThreadId};

use crate::system;

/// The first address of the heap.
const BASE: usize = 0x3000_0000_0000;
/// The first address of the shadow.
const SHADOW: usize = 0x3800_0000_0000;
/// Sizes of the heap to try. It costs nothing before it is used, but some systems limit it.
const SIZES: [usize; 3] = [64 << 30, 8 << 30, 1 << 30];
/// The number of bytes that share a byte of the shadow.
const GRANULE: usize = 8;
/// Blocks begin at multiples of this, and have at least such a gap before and behind them.
const UNIT: usize = 16;
/// When more freed bytes than this are kept, the oldest block is used again.
const MAX_KEPT_BYTES: usize = 256 << 20;

/// What a byte of the shadow says, apart from a number of bytes.
const FREED: u8 = 0xfd;

/// The heap of a run.
#[derive(Default)]
pub(crate) struct Heap {
    /// The first address behind the heap. Zero if there is no heap.
    end: usize,
    /// The first address that this run has not used.
    next: usize,
    /// The first address that no run in this process has used: memory is zero from there on.
    touched: usize,
    /// By address.
    blocks: Vec<Block>,
    /// Freed blocks, the oldest first, and their bytes.
    kept: VecDeque<usize>,
    kept_bytes: usize,
    /// Blocks that can be used again, by their room.
    reusable: BTreeMap<usize, Vec<usize>>,
}

/// A block of memory.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Block {
    pub(crate) first: usize,
    pub(crate) size: usize,
    /// The number of bytes up to the gap behind it.
    room: usize,
    pub(crate) allocated: Moment,
    /// What blocks have in common that the same code allocates, in every run.
    pub(crate) origin: usize,
    freed: Option<Site>,
}

/// When and where a block was allocated.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) thread: ThreadId,
    /// The time of the thread, as the race detector counts it.
    pub(crate) time: u32,
    /// The number of events before.
    pub(crate) after: usize,
    pub(crate) site: Site,
}

/// Why memory must not be accessed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    /// The block was freed here.
    Freed(Site),
    /// The access is beyond a block of this size, which was allocated here.
    Beyond { size: usize, allocated: Site },
    /// The access is before a block of this size, which was allocated here.
    Before { size: usize, allocated: Site },
    /// There is no block.
    Nowhere,
}

/// Returns whether an address is in the part of the address space that heaps are in.
#[inline(always)]
pub(crate) fn contains(address: usize) -> bool {
    address.wrapping_sub(BASE) < SIZES[0]
}

/// Returns whether a range of addresses belongs to the heap or its shadow. They are not part of snapshots.
pub(crate) fn is_own(first: usize) -> bool {
    contains(first) || first.wrapping_sub(SHADOW) < SIZES[0] / GRANULE
}

impl Heap {
    /// Reserves addresses. Called once, when the check begins.
    pub(crate) fn set_up(&mut self) {
        for size in SIZES {
            if !map(BASE, size) {
                continue;
            }
            if map(SHADOW, size / GRANULE) {
                self.end = BASE + size;
                (self.next, self.touched) = (BASE, BASE);
                return;
            }
            // SAFETY: the mapping was just made, and nothing uses it.
            unsafe { system::call(libc::SYS_munmap as usize, [BASE, size, 0, 0, 0, 0]) };
        }
        system::write(
            2,
            b"raddle: no address space for the program's heap; is there a limit on virtual memory (ulimit -v)?\n",
        );
        system::exit(2);
    }

    /// Forgets all blocks, for a new run. Memory is zero if the run is in a process of its own.
    pub(crate) fn clear(&mut self, is_zero: bool) {
        if is_zero {
            self.touched = BASE;
        } else {
            let used = self.next - BASE;
            // SAFETY: this part of the shadow is mapped, and no reference to it exists.
            unsafe { ptr::write_bytes(shadow(BASE), 0, used.div_ceil(GRANULE)) };
        }
        self.next = BASE;
        self.blocks.clear();
        self.kept.clear();
        self.kept_bytes = 0;
        self.reusable.clear();
    }

    /// Returns a new block, all zero, and whether its memory was used in this run. Returns `None` if there is no room.
    pub(crate) fn allocate(
        &mut self,
        size: usize,
        align: usize,
        allocated: Moment,
        origin: usize,
    ) -> Option<(usize, bool)> {
        if align <= UNIT
            && let Some(index) = self.reuse(size)
        {
            let block = &mut self.blocks[index];
            (block.size, block.allocated, block.freed) = (size, allocated, None);
            block.origin = origin;
            let first = block.first;
            open(first, size);
            // SAFETY: the block has that much room, and the program has given it up.
            unsafe { ptr::write_bytes(ptr::with_exposed_provenance_mut::<u8>(first), 0, size) };
            return Some((first, true));
        }
        let first = self.next.checked_add(UNIT)?.checked_next_multiple_of(align.max(UNIT))?;
        let end = first.checked_add(size)?.checked_next_multiple_of(UNIT)?;
        let next = end.checked_add(UNIT).filter(|&next| next <= self.end)?;
        if first < self.touched {
            let used = self.touched.min(end) - first;
            // SAFETY: this part of the heap is mapped, and no block contains it.
            unsafe { ptr::write_bytes(ptr::with_exposed_provenance_mut::<u8>(first), 0, used) };
        }
        self.next = next;
        self.touched = self.touched.max(next);
        open(first, size);
        let room = end - first;
        self.blocks.push(Block { first, size, room, allocated, origin, freed: None });
        Some((first, false))
    }

    /// Frees the block that begins at an address. Returns it, or what is wrong. The memory is kept.
    pub(crate) fn free(&mut self, address: usize, site: Site) -> Result<Block, Wrong> {
        let index = self.find(address).filter(|&index| self.blocks[index].first == address);
        let Some(index) = index else { return Err(self.wrong(address)) };
        let block = &mut self.blocks[index];
        if let Some(earlier) = block.freed {
            return Err(Wrong::Freed(earlier));
        }
        block.freed = Some(site);
        let block = *block;
        let bytes = block.size.div_ceil(GRANULE);
        // SAFETY: the shadow of the block.
        unsafe { ptr::write_bytes(shadow(address), FREED, bytes) };
        self.kept.push_back(index);
        self.kept_bytes += block.room;
        while self.kept_bytes > MAX_KEPT_BYTES {
            let Some(oldest) = self.kept.pop_front() else { break };
            let room = self.blocks[oldest].room;
            self.kept_bytes -= room;
            self.reusable.entry(room).or_default().push(oldest);
        }
        Ok(block)
    }

    /// Returns the block that contains an address, or its end. Also freed ones.
    pub(crate) fn block(&self, address: usize) -> Option<&Block> {
        let block = &self.blocks[self.find(address)?];
        (address <= block.first + block.size).then_some(block)
    }

    /// Returns what is wrong with an access.
    #[inline(always)]
    pub(crate) fn check(&self, address: usize, size: usize) -> Option<Wrong> {
        let (first, last) = (address / GRANULE, (address + size - 1) / GRANULE);
        for granule in first..=last {
            let from = if granule == first { address % GRANULE } else { 0 };
            let to = if granule == last { (address + size - 1) % GRANULE + 1 } else { GRANULE };
            // SAFETY: the heap contains the address, so its shadow is mapped.
            let valid = unsafe { shadow(granule * GRANULE).read() };
            if valid == FREED {
                return Some(self.wrong(granule * GRANULE + from));
            }
            if usize::from(valid) < to {
                return Some(self.wrong(granule * GRANULE + from.max(valid.into())));
            }
        }
        None
    }

    /// Returns the blocks that were not freed.
    pub(crate) fn unfreed(&self) -> impl Iterator<Item = &Block> {
        self.blocks.iter().filter(|block| block.freed.is_none())
    }

    /// Returns what is wrong with an access to an address outside of blocks in use.
    #[cold]
    fn wrong(&self, address: usize) -> Wrong {
        let before = self.find(address).map(|index| &self.blocks[index]);
        let after = self.blocks.get(self.find(address).map_or(0, |index| index + 1));
        match (before, after) {
            (Some(Block { freed: Some(site), first, size, .. }), _) if address < first + size => {
                Wrong::Freed(*site)
            }
            (before, Some(after)) if after.first - address <= UNIT && !is_near(before, address) => {
                Wrong::Before { size: after.size, allocated: after.allocated.site }
            }
            (Some(before), _) => {
                Wrong::Beyond { size: before.size, allocated: before.allocated.site }
            }
            (None, _) => Wrong::Nowhere,
        }
    }

    /// Returns the last block that begins at an address or before.
    fn find(&self, address: usize) -> Option<usize> {
        self.blocks.partition_point(|block| block.first <= address).checked_sub(1)
    }

    /// Returns a freed block with room for `size` bytes, and not much more.
    fn reuse(&mut self, size: usize) -> Option<usize> {
        let (&room, blocks) = self.reusable.range_mut(size..=size.saturating_mul(2)).next()?;
        let index = blocks.pop();
        if blocks.is_empty() {
            self.reusable.remove(&room);
        }
        index
    }
}

/// Returns whether an address is right behind a block.
fn is_near(block: Option<&Block>, address: usize) -> bool {
    block.is_some_and(|block| address.wrapping_sub(block.first + block.size) < UNIT)
}

/// Marks the bytes of a block as its own.
fn open(first: usize, size: usize) {
    // SAFETY: the shadow of the block, whose last granule may be in part behind it.
    unsafe { ptr::write_bytes(shadow(first), GRANULE as u8, size / GRANULE) };
    // SAFETY: the gap behind the block has a shadow, too.
    unsafe { shadow(first + size / GRANULE * GRANULE).write((size % GRANULE) as u8) };
}

fn shadow(address: usize) -> *mut u8 {
    ptr::with_exposed_provenance_mut(SHADOW + (address - BASE) / GRANULE)
}

/// Maps private memory at an address. Returns whether that succeeded.
fn map(address: usize, size: usize) -> bool {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags =
        (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE)
            as usize;
    let arguments = [address, size, protection, flags, usize::MAX, 0];
    // SAFETY: the kernel maps only addresses that are not in use.
    unsafe { system::call(system::MMAP, arguments) == address as isize }
}
