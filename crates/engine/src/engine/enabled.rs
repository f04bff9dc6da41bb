//! The threads that could go on, in an order that depends on nothing but the run, as seeds rely on.

use alloc::boxed::Box;

use raddle_core::ThreadId;

/// A list with room for all threads there are.
///
/// Not a vector, which looks whether it has to grow whenever something is added.
#[derive(Debug, Default)]
pub(super) struct Enabled {
    /// Those from `count` on mean nothing.
    pub(super) slots: Box<[ThreadId]>,
    pub(super) count: usize,
}

impl Enabled {
    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[ThreadId] {
        &self.slots[..self.count]
    }

    /// Adds a thread, and tells its place.
    #[inline(always)]
    pub(super) fn push(&mut self, thread: ThreadId) -> u32 {
        let place = self.count;
        self.slots[place] = thread;
        self.count = place + 1;
        place as u32
    }

    /// Takes the last out and puts it at `place` instead of the one that is there.
    #[inline(always)]
    pub(super) fn fill(&mut self, place: u32) -> ThreadId {
        self.count -= 1;
        let last = self.slots[self.count];
        self.slots[place as usize] = last;
        last
    }

    /// Whether `thread`, whose place this is or was or will be, is there.
    #[inline(always)]
    pub(super) fn holds(&self, thread: ThreadId, place: u32) -> bool {
        let place = place as usize;
        place < self.count && self.slots[place] == thread
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}
