//! The pending operations that have clocks: who can go on, and who accesses which object how.

use alloc::vec::Vec;

use raddle_core::{Access, ObjectId, Op, ThreadId};

use super::draws::Draws;
use super::levels::{First, Levels};
use super::set::{Set, Wide, drain};

/// No slot.
const NONE: u32 = u32::MAX;

/// Whether an operation that cannot go on for a while keeps its clock meanwhile.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Waiting {
    Keeps,
    Draws,
}

/// Pending operations, each in a slot: one of few numbers, that can be used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowd<S> {
    levels: Levels<S>,
    /// The slots whose operations can go on.
    enabled: S,
    /// By object: the slots of those that read it, and that update it; also some that cannot go on.
    accesses: Vec<[S; 2]>,
    slots: Vec<Slot>,
    /// The slots in use.
    taken: S,
    /// By thread: its slot, if it has one.
    slot_of: Vec<u32>,
}

#[derive(Copy, Clone, Debug)]
struct Slot {
    thread: ThreadId,
    object: ObjectId,
    access: Access,
    /// Where the thread was among the enabled when last looked for.
    place: u32,
    /// The level of an operation that cannot go on and keeps its clock.
    level: f64,
}

/// There are more operations than slots.
#[derive(Debug)]
pub(super) struct Full;

impl<S: Set> Crowd<S> {
    /// Nobody is pending.
    pub(super) fn clear(&mut self) {
        for slot in drain(&mut self.taken) {
            let Slot { thread, object, access, .. } = self.slots[slot];
            self.slot_of[thread.index()] = NONE;
            if let Some(sets) = self.accesses.get_mut(object.index()) {
                sets[access as usize].remove(slot);
            }
        }
        self.enabled.clear();
        self.levels.clear();
    }

    /// Makes room for so many threads.
    #[inline(always)]
    pub(super) fn make_room(&mut self, threads: usize) {
        if threads > self.slot_of.len() {
            self.slot_of.resize(threads, NONE);
        }
    }

    /// The slot of a thread, if it has one.
    #[inline(always)]
    pub(super) fn slot(&self, thread: ThreadId) -> Option<usize> {
        let slot = self.slot_of[thread.index()];
        if slot == NONE { None } else { Some(slot as usize) }
    }

    /// A thread can go on with a new operation, which draws.
    #[inline(always)]
    pub(super) fn enter(&mut self, thread: ThreadId, op: &Op) -> Result<(), Full> {
        let slot = match self.slot(thread) {
            Some(slot) => slot,
            None => self.take_slot(thread)?,
        };
        let (object, access) = (op.object(), op.access());
        let known = &mut self.slots[slot];
        if (known.object, known.access) != (object, access) {
            if let Some(sets) = self.accesses.get_mut(known.object.index()) {
                sets[known.access as usize].remove(slot);
            }
            (known.object, known.access) = (object, access);
            if object != ObjectId::NONE {
                if object.index() >= self.accesses.len() {
                    self.add_objects(object);
                }
                self.accesses[object.index()][access as usize].insert(slot);
            }
        }
        self.enabled.insert(slot);
        self.levels.draw(slot);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn take_slot(&mut self, thread: ThreadId) -> Result<usize, Full> {
        let slot = self.taken.first_absent();
        if slot >= S::BOUND {
            return Err(Full);
        }
        self.taken.insert(slot);
        let new =
            Slot { thread, object: ObjectId::NONE, access: Access::Read, place: 0, level: 0.0 };
        if slot == self.slots.len() {
            self.slots.push(new);
        } else {
            self.slots[slot] = new;
        }
        self.slot_of[thread.index()] = slot as u32;
        Ok(slot)
    }

    #[cold]
    #[inline(never)]
    fn add_objects(&mut self, last: ObjectId) {
        self.accesses.resize_with(last.index() + 1, Default::default);
    }

    /// A thread has no operation with a clock any more.
    pub(super) fn leave(&mut self, thread: ThreadId) {
        let Some(slot) = self.slot(thread) else { return };
        let Slot { object, access, .. } = self.slots[slot];
        if let Some(sets) = self.accesses.get_mut(object.index()) {
            sets[access as usize].remove(slot);
        }
        self.enabled.remove(slot);
        self.taken.remove(slot);
        self.slot_of[thread.index()] = NONE;
    }

    /// The operation in `slot` can go on, or cannot, perhaps as before.
    #[inline(always)]
    pub(super) fn set_enabled(
        &mut self,
        slot: usize,
        can: bool,
        waiting: Waiting,
        draws: &mut Draws,
    ) {
        if can == self.enabled.has(slot) {
            return;
        }
        if can {
            self.enabled.insert(slot);
            match waiting {
                Waiting::Draws => self.levels.draw(slot),
                Waiting::Keeps => {
                    self.levels.put_back(slot, self.slots[slot].level, &self.enabled, draws);
                }
            }
        } else {
            self.enabled.remove(slot);
            if waiting == Waiting::Keeps {
                self.slots[slot].level = self.levels.level(slot, draws);
            }
        }
    }

    /// Those that access `object` draw again: who reads it, who updates it.
    #[inline(always)]
    pub(super) fn draw_again(&mut self, object: ObjectId, reads: bool, updates: bool) {
        let Some([readers, updaters]) = self.accesses.get(object.index()) else { return };
        if reads {
            self.levels.draw_all(readers);
        }
        if updates {
            self.levels.draw_all(updaters);
        }
    }

    /// All draw again.
    #[cold]
    pub(super) fn draw_all_again(&mut self) {
        self.levels.draw_all(&self.enabled);
        for slot in &mut self.slots {
            slot.level = 0.0;
        }
    }

    /// Which of the enabled threads, who all have clocks, goes next.
    #[inline(always)]
    pub(super) fn first(&mut self, enabled: &[ThreadId], draws: &mut Draws) -> usize {
        debug_assert_eq!(self.enabled.count(), enabled.len());
        match self.levels.first(&self.enabled, enabled.len(), draws) {
            First::AnyOfAll => draws.below(enabled.len()),
            First::Is(slot) => self.option(slot, enabled),
        }
    }

    /// Where the thread in `slot` stands among the enabled.
    #[inline(always)]
    fn option(&mut self, slot: usize, enabled: &[ThreadId]) -> usize {
        let slot = &mut self.slots[slot];
        let place = slot.place as usize;
        if enabled.get(place) == Some(&slot.thread) {
            return place;
        }
        let place = place_of(slot.thread, enabled);
        slot.place = place as u32;
        place
    }
}

/// Where `thread`, which can go on, stands among the enabled.
pub(super) fn place_of(thread: ThreadId, enabled: &[ThreadId]) -> usize {
    let place = enabled.iter().position(|&other| other == thread);
    place.expect("raddle invariant broken: a thread with a clock is enabled")
}

impl From<Crowd<u64>> for Crowd<Wide> {
    fn from(few: Crowd<u64>) -> Crowd<Wide> {
        Crowd {
            levels: few.levels.into(),
            enabled: few.enabled.into(),
            accesses: few.accesses.into_iter().map(|sets| sets.map(Wide::from)).collect(),
            slots: few.slots,
            taken: few.taken.into(),
            slot_of: few.slot_of,
        }
    }
}
