//! Memory that the program allocates in a run, if its allocator reports it: who made an object, and what is never freed.

use std::alloc::{GlobalAlloc as _, Layout, System};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use raddle_core::{Allocation, ObjectId, Site, ThreadId};
use raddle_engine::Memory;

use super::Run;
use crate::{Backend, port};

/// What the program has allocated in a run and not freed.
#[derive(Default)]
pub(crate) struct Heap {
    /// By address. Its own memory is not in it, see `port::unobserved`.
    blocks: RefCell<BTreeMap<usize, Block>>,
    /// The number of steps when the program last continued.
    steps: Cell<usize>,
    /// What the program has freed and the system's allocator has not, by address.
    freed: RefCell<BTreeMap<usize, Freed>>,
    /// The stacks of what was freed, by address, if the run records stacks.
    stacks: RefCell<BTreeMap<usize, Backtrace>>,
    records_stacks: Cell<bool>,
    /// The first block that was freed twice.
    freed_twice: RefCell<Option<FreedTwice>>,
}

/// A block that the program has freed twice.
struct FreedTwice {
    first: Freed,
    thread: ThreadId,
    steps: usize,
    /// The stacks of both, if the run records stacks.
    stacks: Option<[Backtrace; 2]>,
}

/// A block that the program has freed.
#[derive(Clone, Copy)]
struct Freed {
    layout: Layout,
    thread: ThreadId,
    steps: usize,
    /// The first object that was found in it.
    object: Option<ObjectId>,
}

#[derive(Clone, Copy)]
struct Block {
    size: usize,
    thread: ThreadId,
    steps: usize,
    /// The first object that was found in it.
    object: Option<ObjectId>,
}

impl Heap {
    /// Forgets everything, at the beginning of a run.
    pub(crate) fn clear(&self) {
        self.blocks.borrow_mut().clear();
        self.steps.set(0);
        self.freed_twice.take();
        self.stacks.take();
        self.records_stacks.set(false);
        self.release();
    }

    /// Frees what the program has freed.
    fn release(&self) {
        for (address, Freed { layout, .. }) in std::mem::take(&mut *self.freed.borrow_mut()) {
            // SAFETY: the program passed the block to its allocator, which got it from the system with this layout and
            // left it to this run. It is freed once, because it leaves the map.
            unsafe { System.dealloc(std::ptr::with_exposed_provenance_mut(address), layout) };
        }
    }

    pub(super) fn allocated(&self, thread: ThreadId, address: usize, size: usize) {
        let block = Block { size, thread, steps: self.steps.get(), object: None };
        self.blocks.borrow_mut().insert(address, block);
    }

    /// Notes a block that `thread` frees. Returns whether the block is kept until the end of the run, as all are that were
    /// allocated in the run.
    pub(super) fn freed(&self, thread: ThreadId, address: usize, layout: Layout) -> bool {
        let mut freed = self.freed.borrow_mut();
        if let Some(&first) = freed.get(&address) {
            if self.freed_twice.borrow().is_none() {
                let of_first = self.stacks.borrow_mut().remove(&address);
                let stacks = of_first.map(|first| [first, Backtrace::force_capture()]);
                let twice = FreedTwice { first, thread, steps: self.steps.get(), stacks };
                *self.freed_twice.borrow_mut() = Some(twice);
            }
            return true;
        }
        let Some(block) = self.blocks.borrow_mut().remove(&address) else { return false };
        let (steps, object) = (self.steps.get(), block.object);
        freed.insert(address, Freed { layout, thread, steps, object });
        if self.records_stacks.get() {
            self.stacks.borrow_mut().insert(address, Backtrace::force_capture());
        }
        true
    }

    /// Returns the beginning of the block of this run that contains this address and is not freed.
    pub(super) fn block_of(&self, address: usize) -> Option<usize> {
        let blocks = self.blocks.borrow();
        let (&start, block) = blocks.range(..=address).next_back()?;
        (address < start + block.size).then_some(start)
    }

    /// Returns the end of the freed block that contains this address.
    fn find_freed(&self, address: usize) -> Option<Freed> {
        let freed = self.freed.borrow();
        let (start, block) = freed.range(..=address).next_back()?;
        (address < start + block.layout.size()).then_some(*block)
    }

    /// Returns who made the object at this address, or `None` if it was not made in this run.
    fn find(&self, address: usize, object: ObjectId) -> Option<Allocation> {
        let mut blocks = self.blocks.borrow_mut();
        let (start, block) = blocks.range_mut(..=address).next_back()?;
        if address >= start + block.size {
            return None;
        }
        block.object.get_or_insert(object);
        Some(Allocation { object, thread: block.thread, after: block.steps, bytes: block.size })
    }

    /// Returns the blocks that have an object in them and were not freed.
    fn unfreed(&self) -> Vec<Allocation> {
        let blocks = self.blocks.borrow();
        let unfreed = blocks.values().filter_map(|block| {
            let Block { size: bytes, thread, steps: after, object } = *block;
            Some(Allocation { object: object?, thread, after, bytes })
        });
        unfreed.collect()
    }
}

impl<B: Backend, M: Memory> Run<'_, '_, B, M> {
    /// Asks for the stacks of what is freed in the run, if stacks are recorded.
    #[inline(always)]
    pub(super) fn prepare_heap(&self) {
        if self.pool.flags.heap && self.with_engine(|engine, _| engine.watches()) {
            self.pool.data.get().heap.records_stacks.set(true);
        }
    }

    /// Notes the number of steps when the program continues, if the heap is observed: an allocation may come from the
    /// engine itself, which cannot be asked then.
    #[inline(always)]
    pub(super) fn note_steps(&self) {
        if self.pool.flags.heap {
            let steps = self.with_engine(|engine, _| engine.trace().events.len());
            self.pool.data.get().heap.steps.set(steps);
        }
    }

    /// Records who made an object that was just declared and is at this address, or who freed its memory before.
    pub(super) fn record_creation(&self, object: ObjectId, address: usize, site: Site) {
        if let Some(Freed { thread, steps, .. }) = self.pool.data.get().heap.find_freed(address) {
            self.with_engine(|engine, _| engine.ended_earlier(thread, object, steps));
            return self.fail_by_late_use(Some(object), address, false, site);
        }
        if let Some(creation) = self.pool.data.get().heap.find(address, object) {
            self.with_engine(|engine, _| engine.created(creation));
        }
    }

    /// Records, after the run, the memory that was freed twice.
    pub(super) fn record_freed_twice(&self) {
        let Some(twice) = self.pool.data.get().heap.freed_twice.take() else { return };
        let FreedTwice { first, thread, steps, stacks } = twice;
        port::unobserved(|| {
            let (first, second) = ((first.thread, first.steps, first.object), (thread, steps));
            let object = self
                .with_engine(|engine, _| engine.freed_twice(first.2, (first.0, first.1), second));
            let ends = [(first.0, first.1), second];
            for ((thread, after), stack) in ends.into_iter().zip(stacks.into_iter().flatten()) {
                self.add_stack_of_end(object, thread, after, stack.to_string());
            }
        });
    }

    /// Notes that an object owns memory.
    pub(super) fn note_owned(&self, object: ObjectId, bytes: usize) {
        let thread = self.me();
        let after = self.with_engine(|engine, _| engine.trace().events.len());
        let owned = &self.pool.data.get().owned;
        owned.borrow_mut().push(Allocation { object, thread, after, bytes });
    }

    /// Notes that an object owns no memory any more.
    pub(super) fn note_disowned(&self, object: ObjectId) {
        let mut owned = self.pool.data.look().owned.borrow_mut();
        if let Some(place) = owned.iter().rposition(|owned| owned.object == object) {
            owned.remove(place);
        }
    }

    /// Records, after the run, the memory that was not freed.
    pub(super) fn record_unfreed(&self) {
        port::unobserved(|| {
            let data = self.pool.data.get();
            let mut unfreed = data.heap.unfreed();
            unfreed.append(&mut data.owned.borrow_mut());
            self.with_engine(|engine, _| engine.left(unfreed));
        });
    }
}
