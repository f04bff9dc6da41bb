//! The pending operations that have clocks: which are enabled, and which object each accesses how.

use alloc::vec::Vec;

use raddle_core::{Access, ObjectId, Op, ThreadId};

use super::draws::Draws;
use super::levels::{First, Levels};
use super::set::{Set, drain};

/// No slot.
const NONE: u32 = u32::MAX;

/// Whether a disabled operation keeps its clock.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Waiting {
    Keeps,
    Draws,
}

/// Pending operations, each in a slot: one of few numbers, which are used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowd<S: Set> {
    levels: Levels<S>,
    /// The slots of enabled operations.
    enabled: S,
    /// By [`group`]: the slots of operations that access an object in one way, some of them disabled.
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
    /// The option of the thread when it was last looked up.
    place: u32,
    /// The level of a disabled operation that keeps its clock.
    level: f64,
}

/// There are more operations than slots.
#[derive(Debug)]
pub(super) struct Full;

impl<S: Set> Crowd<S> {
    /// Removes all operations.
    pub(super) fn clear(&mut self) {
        for slot in drain(&mut self.taken) {
            let Slot { thread, group, .. } = self.slots[slot];
            self.slot_of[thread.index()] = NONE;
            self.groups[group as usize].remove(slot);
        }
        self.enabled.clear();
        self.levels.clear();
    }

    /// Returns the slot of a thread, if it has one.
    #[inline(always)]
    pub(super) fn slot(&self, thread: ThreadId) -> Option<usize> {
        match self.slot_of.get(thread.index()) {
            Some(&slot) if slot != NONE => Some(slot as usize),
            _ => None,
        }
    }

    /// Adds a new enabled operation of a thread, which draws.
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
        // Both groups of an object, since they are used together.
        self.groups.resize_with(last as usize / 2 * 2 + 2, S::default);
    }

    /// Removes the operation of a thread.
    #[inline(never)]
    pub(super) fn leave(&mut self, thread: ThreadId) {
        let Some(slot) = self.slot(thread) else { return };
        self.groups[self.slots[slot].group as usize].remove(slot);
        self.enabled.remove(slot);
        self.taken.remove(slot);
        self.slot_of[thread.index()] = NONE;
    }

    /// Sets whether the operation in `slot` is enabled.
    #[inline(always)]
    pub(super) fn set_enabled(
        &mut self,
        slot: usize,
        enabled: bool,
        waiting: Waiting,
        draws: &mut Draws,
    ) {
        if enabled == self.enabled.has(slot) {
            return;
        }
        if enabled {
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

    /// Lets the operations on `object` draw again: those that read or share if `readers`, those that update if
    /// `updaters`.
    #[inline(always)]
    pub(super) fn draw_again(&mut self, object: ObjectId, readers: bool, updaters: bool) {
        let first = group(object, Access::Read) as usize;
        if let Some([reading, updating]) = self.groups.get(first..first + 2) {
            self.levels.draw_if(readers, reading);
            self.levels.draw_if(updaters, updating);
        }
    }

    /// Lets all operations draw again.
    #[cold]
    pub(super) fn draw_all_again(&mut self) {
        self.levels.draw_if(true, &self.enabled);
        for slot in &mut self.slots {
            slot.level = 0.0;
        }
    }

    /// Returns the next option among the enabled threads, which all have clocks.
    #[inline(always)]
    pub(super) fn first(&mut self, enabled: &[ThreadId], draws: &mut Draws) -> usize {
        debug_assert_eq!(self.enabled.count(), enabled.len());
        match self.levels.first(&self.enabled, enabled.len(), draws) {
            First::AnyOfAll => draws.below(enabled.len()),
            First::Is(slot) => self.option(slot, enabled),
        }
    }

    /// Returns the option of the thread in `slot`.
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

/// Returns the number of the group of operations that access an object in this way. Reads and Shares are one group,
/// since no object has pending operations of both. The first two groups are for operations without an object.
#[inline(always)]
fn group(object: ObjectId, access: Access) -> u32 {
    object.0.wrapping_add(1) << 1 | matches!(access, Access::Update) as u32
}

/// Returns the option of an enabled thread.
pub(super) fn place_of(thread: ThreadId, enabled: &[ThreadId]) -> usize {
    let place = enabled.iter().position(|&other| other == thread);
    place.expect("raddle invariant broken: a thread with a clock is enabled")
}

impl<S: Set> Crowd<S> {
    /// Converts to sets that have room for more.
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
