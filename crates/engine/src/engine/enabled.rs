//! The enabled threads, in an order that depends on the run alone: seeds rely on it.

use alloc::vec::Vec;

use raddle_core::ThreadId;

#[derive(Debug, Default)]
pub(super) struct Enabled(Vec<ThreadId>);

impl Enabled {
    #[inline(always)]
    pub(super) fn as_slice(&self) -> &[ThreadId] {
        &self.0
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a thread, and returns its place.
    #[inline(always)]
    pub(super) fn push(&mut self, thread: ThreadId) -> u32 {
        self.0.push(thread);
        self.0.len() as u32 - 1
    }

    /// Takes out the thread at `place`, puts the last thread there, and returns that one.
    #[inline(always)]
    pub(super) fn swap_remove(&mut self, place: u32) -> ThreadId {
        let last = self.0.pop().expect("raddle invariant broken: an enabled thread is not listed");
        if let Some(there) = self.0.get_mut(place as usize) {
            *there = last;
        }
        last
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
