//! The pending operations that have clocks: who can go on, and who accesses which object how.

use alloc::vec::Vec;

use raddle_core::{Access, ObjectId, Op, ThreadId};

use super::draws::Draws;
use super::levels::{First, Levels};
use super::set::{Set, drain};

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
pub(super) struct Crowd<S: Set> {
    levels: Levels<S>,
    /// The slots whose operations can go on.
    enabled: S,
    /// By [`group`]: the slots of those that access an object in one way; also some that cannot go on.
    groups: Vec<S>,
    slots: Vec<Slot>,
    /// The slots in use.
    taken: S,
    /// By thread: its slot, if it has one.
    slot_of: Vec<u32>,
}

#[derive(Copy, Clone, Debug)]
struct Slot {
    thread: ThreadId,
    group: u32,
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
            let Slot { thread, group, .. } = self.slots[slot];
            self.slot_of[thread.index()] = NONE;
            self.groups[group as usize].remove(slot);
        }
        self.enabled.clear();
        self.levels.clear();
    }

    /// The slot of a thread, if it has one.
    #[inline(always)]
    pub(super) fn slot(&self, thread: ThreadId) -> Option<usize> {
        match self.slot_of.get(thread.index()) {
            Some(&slot) if slot != NONE => Some(slot as usize),
            _ => None,
        }
    }

    /// A thread can go on with a new operation, which draws.
    #[inline(always)]
    pub(super) fn enter(&mut self, thread: ThreadId, op: &Op) -> Result<(), Full> {
        let slot = match self.slot(thread) {
            Some(slot) => slot,
            None => self.take_slot(thread)?,
        };
        let group = group(op.object(), op.access());
        let known = &mut self.slots[slot].group;
        if *known != group {
            let known = core::mem::replace(known, group);
            self.groups[known as usize].remove(slot);
            if group as usize >= self.groups.len() {
                self.add_groups(group);
            }
            self.groups[group as usize].insert(slot);
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
        let nothing = group(ObjectId::NONE, Access::Read);
        if self.groups.is_empty() {
            self.add_groups(nothing);
        }
        let new = Slot { thread, group: nothing, place: 0, level: 0.0 };
        if slot == self.slots.len() {
            self.slots.push(new);
        } else {
            self.slots[slot] = new;
        }
        if thread.index() >= self.slot_of.len() {
            self.slot_of.resize(thread.index() + 1, NONE);
        }
        self.slot_of[thread.index()] = slot as u32;
        Ok(slot)
    }

    #[cold]
    #[inline(never)]
    fn add_groups(&mut self, last: u32) {
        // Both of an object, since they are looked at together.
        self.groups.resize_with(last as usize / 2 * 2 + 2, S::default);
    }

    /// A thread has no operation with a clock any more.
    #[inline(never)]
    pub(super) fn leave(&mut self, thread: ThreadId) {
        let Some(slot) = self.slot(thread) else { return };
        self.groups[self.slots[slot].group as usize].remove(slot);
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
                    self.levels.put_back(slot, self.slots[slot].level, draws);
                }
            }
        } else {
            self.enabled.remove(slot);
            if waiting == Waiting::Keeps {
                self.slots[slot].level = self.levels.level(slot, draws);
            }
        }
    }

    /// Those that access `object` draw again, if `readers` do, and if `updaters` do.
    #[inline(always)]
    pub(super) fn draw_again(&mut self, object: ObjectId, readers: bool, updaters: bool) {
        let first = group(object, Access::Read) as usize;
        if let Some([reading, updating]) = self.groups.get(first..first + 2) {
            self.levels.draw_if(readers, reading);
            self.levels.draw_if(updaters, updating);
        }
    }

    /// All draw again.
    #[cold]
    pub(super) fn draw_all_again(&mut self) {
        self.levels.draw_if(true, &self.enabled);
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

/// The number of those that access an object in this way. The first two are about no object.
#[inline(always)]
fn group(object: ObjectId, access: Access) -> u32 {
    object.0.wrapping_add(1) << 1 | access as u32
}

/// Where `thread`, which can go on, stands among the enabled.
pub(super) fn place_of(thread: ThreadId, enabled: &[ThreadId]) -> usize {
    let place = enabled.iter().position(|&other| other == thread);
    place.expect("raddle invariant broken: a thread with a clock is enabled")
}

impl<S: Set> Crowd<S> {
    /// The same with another kind of sets, which have room for more.
    #[cold]
    pub(super) fn into_sets<T: Set + From<S>>(self) -> Crowd<T> {
        Crowd {
            levels: self.levels.into_sets(),
            enabled: self.enabled.into(),
            groups: self.groups.into_iter().map(T::from).collect(),
            slots: self.slots,
            taken: self.taken.into(),
            slot_of: self.slot_of,
        }
    }
}
