//! Memory that the program has not freed by its end, and that nothing points to.
//!
//! A block counts as pointed to if the data of the program or of a library, or a block that counts, contains an address
//! in it. A run in which threads are left is not judged: their stacks may point to blocks.

use std::ptr;

use crate::heap::{self, Block};
use crate::run::State;
use crate::snapshot;

const WORD: usize = size_of::<usize>();

impl State {
    /// Looks for leaks after the exit handlers of a run that ended well.
    pub(crate) fn look_for_leaks(&self) {
        let has_ended = || {
            self.with_engine(|engine| engine.has_finished() && engine.trace().pending.is_empty())
        };
        if self.finds_leaks.get() && self.engine.get().is_some() && has_ended() {
            let found = self.as_host(|| self.leaked());
            *self.leak.borrow_mut() = found;
        }
    }

    /// Returns what was leaked, in words.
    fn leaked(&self) -> Option<String> {
        let heap = self.heap.borrow();
        let mut left: Vec<(&Block, bool)> = heap.unfreed().map(|block| (block, false)).collect();
        let mut ranges: Vec<(usize, usize)> = snapshot::data();
        while let Some((first, end)) = ranges.pop() {
            for place in (first.next_multiple_of(WORD)..end / WORD * WORD).step_by(WORD) {
                // SAFETY: data of the process, or a block of the heap; one OS thread runs.
                let word = unsafe { ptr::with_exposed_provenance::<usize>(place).read_volatile() };
                if !heap::contains(word) {
                    continue;
                }
                let before = left.partition_point(|(block, _)| block.first <= word);
                let Some((block, is_known)) = before.checked_sub(1).map(|index| &mut left[index])
                else {
                    continue;
                };
                if word <= block.first + block.size && !*is_known {
                    *is_known = true;
                    ranges.push((block.first, block.first + block.size));
                }
            }
        }
        let leaked = || left.iter().filter(|(_, is_known)| !is_known).map(|(block, _)| block);
        let first = leaked().min_by_key(|block| block.allocated.after)?;
        let (count, bytes) = (leaked().count(), leaked().map(|block| block.size).sum::<usize>());
        let blocks = if count == 1 { "1 block" } else { &format!("{count} blocks") };
        let site = first.allocated.site;
        Some(format!(
            "leak: {bytes} bytes in {blocks} are never freed, and nothing points there; the first block was allocated at \
             {site}"
        ))
    }
}
