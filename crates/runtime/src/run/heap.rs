//! Memory that the program allocates in a run, if its allocator tells: who made an object, and what nobody
//! frees.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use raddle_core::{Chooser, Creation, Effect, ObjectId, Site, ThreadId};
use raddle_engine::Memory;

use super::Run;
use crate::Backend;
use crate::port::{self, Entries, Operand};

/// What the program has allocated in a run and not freed.
#[derive(Default)]
pub(super) struct Heap {
    /// By address. Its own memory is not in it: the port does not tell of what is allocated meanwhile.
    blocks: RefCell<BTreeMap<usize, Block>>,
    /// How many steps had been made when the program last went on.
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
    /// A run begins.
    pub(super) fn clear(&self) {
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

    /// Who made the object at this address, if that was in this run.
    fn find(&self, address: usize, object: ObjectId) -> Option<Creation> {
        let mut blocks = self.blocks.borrow_mut();
        let (start, block) = blocks.range_mut(..=address).next_back()?;
        if address >= start + block.size {
            return None;
        }
        block.object.get_or_insert(object);
        Some(Creation { object, thread: block.thread, after: block.steps, bytes: block.size })
    }

    /// What has an object in it and was not freed.
    fn left(&self) -> Vec<Creation> {
        let blocks = self.blocks.borrow();
        let left = blocks.values().filter_map(|block| {
            let Block { size: bytes, thread, steps: after, object } = *block;
            Some(Creation { object: object?, thread, after, bytes })
        });
        left.collect()
    }
}

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    /// As [`ENTRIES`](Run::ENTRIES), but whoever goes on knows how many steps have been made.
    pub(super) const WATCHED: Entries = Entries {
        submit: [
            Self::watched::<0>,
            Self::watched::<1>,
            Self::watched::<2>,
            Self::watched::<3>,
            Self::watched::<4>,
            Self::watched::<5>,
            Self::watched::<6>,
            Self::watched::<7>,
            Self::watched::<8>,
            Self::watched::<9>,
            Self::watched::<10>,
            Self::watched::<11>,
        ],
        join: Self::watched_join,
        spawn: Self::watched_spawn,
        work: Self::watched_work,
        ..Self::ENTRIES
    };

    /// # Safety
    /// As for the entry of the same kind.
    unsafe fn watched<const KIND: usize>(
        run: *const (),
        head: u64,
        first: Operand,
        engine: *mut (),
        site: Site,
        second: Operand,
    ) -> Effect {
        // SAFETY: promised by the caller.
        let effect =
            unsafe { (Self::ENTRIES.submit[KIND])(run, head, first, engine, site, second) };
        // SAFETY: likewise.
        unsafe { Self::go_on(run) };
        effect
    }

    /// # Safety
    /// As for the entry.
    unsafe extern "C" fn watched_join(
        run: *const (),
        thread: *const (),
        none: *const (),
        site: *const (),
    ) -> u64 {
        // SAFETY: promised by the caller.
        let how = unsafe { (Self::ENTRIES.join)(run, thread, none, site) };
        // SAFETY: likewise.
        unsafe { Self::go_on(run) };
        how
    }

    /// # Safety
    /// As for the entry.
    unsafe extern "C" fn watched_spawn(
        run: *const (),
        data: *const (),
        fate: *const (),
        site: *const (),
    ) -> u64 {
        // SAFETY: promised by the caller.
        let spawned = unsafe { (Self::ENTRIES.spawn)(run, data, fate, site) };
        // SAFETY: likewise.
        unsafe { Self::go_on(run) };
        spawned
    }

    /// # Safety
    /// As for the entry.
    unsafe fn watched_work(run: *const ()) {
        // SAFETY: promised by the caller.
        unsafe { Self::go_on(run) };
        // SAFETY: likewise.
        unsafe { (Self::ENTRIES.work)(run) };
    }

    /// # Safety
    /// As for the entries.
    unsafe fn go_on(run: *const ()) {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.notes_steps();
    }

    /// Whoever goes on knows how many steps have been made, if that matters.
    pub(super) fn notes_steps(&self) {
        if self.crew.ways.heap {
            let steps = self.with_engine(|engine| engine.trace().events.len());
            self.crew.extras.look().heap.steps.set(steps);
        }
    }

    /// An object was first used, which is at this address.
    pub(super) fn born(&self, object: ObjectId, address: usize) {
        if let Some(creation) = self.crew.extras.look().heap.find(address, object) {
            self.with_engine(|engine| engine.created(creation));
        }
    }

    /// After the run.
    pub(super) fn tell_what_is_left(&self) {
        port::unnoted(|| {
            let left = self.crew.extras.look().heap.left();
            self.with_engine(|engine| engine.left(left));
        });
    }
}
