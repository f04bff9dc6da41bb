//! Memory that the program allocates in a run, if its allocator reports it: who made an object, and what is never freed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use raddle_core::{Allocation, ObjectId, ThreadId};
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
    }

    pub(super) fn allocated(&self, thread: ThreadId, address: usize, size: usize) {
        let block = Block { size, thread, steps: self.steps.get(), object: None };
        self.blocks.borrow_mut().insert(address, block);
    }

    pub(super) fn freed(&self, address: usize) {
        self.blocks.borrow_mut().remove(&address);
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
    /// Notes the number of steps when the program continues, if the heap is observed: an allocation may come from the
    /// engine itself, which cannot be asked then.
    #[inline(always)]
    pub(super) fn note_steps(&self) {
        if self.pool.flags.heap {
            let steps = self.with_engine(|engine, _| engine.trace().events.len());
            self.pool.data.get().heap.steps.set(steps);
        }
    }

    /// Records who made an object that was just declared and is at this address.
    pub(super) fn record_creation(&self, object: ObjectId, address: usize) {
        if let Some(creation) = self.pool.data.get().heap.find(address, object) {
            self.with_engine(|engine, _| engine.created(creation));
        }
    }

    /// Records, after the run, the memory that was not freed.
    pub(super) fn record_unfreed(&self) {
        port::unobserved(|| {
            let unfreed = self.pool.data.get().heap.unfreed();
            self.with_engine(|engine, _| engine.left(unfreed));
        });
    }
}
