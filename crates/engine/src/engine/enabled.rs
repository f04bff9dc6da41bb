//! The enabled threads, in an order that depends on the run alone: seeds rely on it.

use raddle_core::{Rng, ThreadId};

use super::table::{Table, grow};

#[derive(Debug, Default)]
pub(super) struct Enabled {
    /// Has room for every thread, so that enabling one never allocates. Those from `count` on mean nothing.
    slots: Table<ThreadId>,
    count: usize,
}

impl Enabled {
    /// Makes room for `threads` threads.
    pub(super) fn make_room(&mut self, threads: usize) {
        grow(&mut self.slots, threads, || ThreadId::MAIN);
    }

    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[ThreadId] {
        &self.slots[..self.count]
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns one of the threads, of which there must be one, by a uniform draw.
    #[inline(always)]
    pub(super) fn draw(&self, rng: &mut Rng) -> ThreadId {
        self.slots[rng.below(self.count)]
    }

    /// Adds a thread, and returns its place.
    #[inline(always)]
    pub(super) fn push(&mut self, thread: ThreadId) -> u32 {
        let place = self.count;
        self.slots[place] = thread;
        self.count = place + 1;
        place as u32
    }

    /// Takes out the thread at `place`, puts the last thread there, and returns that one.
    #[inline(always)]
    pub(super) fn swap_remove(&mut self, place: u32) -> ThreadId {
        self.count -= 1;
        let last = self.slots[self.count];
        // Also if it is the last itself: a branch would mispredict.
        self.slots[place as usize] = last;
        last
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}
