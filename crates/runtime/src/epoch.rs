//! Numbers of runs, and which of these runs may still be active.
//!
//! An object stores the number of the run that used it last. If that run belongs to another runtime that still exists,
//! two OS threads use the object at the same time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Run numbers are multiples of this number. The numbers in between are for the objects of a run.
pub(crate) const STEP: u64 = 1 << 24;

/// Each runtime takes numbers in blocks, so OS threads rarely contend for the mutex.
const BLOCK: u64 = STEP << 12;

struct Blocks {
    next: u64,
    /// The blocks in use, one for each OS thread that has run a check, and whether it runs one now.
    taken: Vec<(u64, Arc<AtomicBool>)>,
}

static BLOCKS: Mutex<Blocks> = Mutex::new(Blocks { next: 1, taken: Vec::new() });

impl Blocks {
    fn give_back(&mut self, block: u64) {
        if let Some(at) = self.taken.iter().position(|(taken, _)| *taken == block) {
            self.taken.swap_remove(at);
        }
    }
}

/// The numbers of the runtimes of one OS thread: never zero, and unique in the process.
pub(crate) struct Epochs {
    last: u64,
    /// The count of numbers left in the block.
    left: u32,
    /// Whether a runtime uses the numbers.
    in_use: Arc<AtomicBool>,
}

impl Epochs {
    /// Returns numbers that a runtime uses.
    pub(crate) fn new() -> Epochs {
        Epochs { last: 0, left: 0, in_use: Arc::new(AtomicBool::new(true)) }
    }

    /// Notes that another runtime uses the numbers.
    pub(crate) fn begin(&self) {
        // A thread that sees a claim by one of the runs sees this store too, because claims release.
        self.in_use.store(true, Ordering::Relaxed);
    }

    /// Notes that the runtime that used the numbers no longer exists.
    pub(crate) fn rest(&self) {
        // A thread that sees this store may use the objects that the runs have used.
        self.in_use.store(false, Ordering::Release);
    }

    /// Returns a new number.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        if self.left == 0 {
            self.next_block();
        }
        self.left -= 1;
        self.last += STEP;
        self.last
    }

    #[cold]
    fn next_block(&mut self) {
        let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.give_back(self.last / BLOCK);
        let block = blocks.next;
        blocks.next += 1;
        blocks.taken.push((block, self.in_use.clone()));
        // The first number of a block is not handed out.
        self.last = block * BLOCK;
        self.left = (BLOCK / STEP - 1) as u32;
    }
}

impl Drop for Epochs {
    fn drop(&mut self) {
        let mut blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.give_back(self.last / BLOCK);
    }
}

/// Returns whether the run `other` may be active on another OS thread than the run `mine`, which is zero outside a run.
#[cold]
pub(crate) fn is_foreign(other: u64, mine: u64) -> bool {
    let block = other / BLOCK;
    if block == mine / BLOCK {
        return false;
    }
    let blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut taken = blocks.taken.iter();
    taken.any(|(taken, in_use)| *taken == block && in_use.load(Ordering::Acquire))
}

/// Returns whether a name can have this value, as seen by the run `mine`: its run has begun, or is over.
#[cold]
pub(crate) fn is_possible(name: u64, mine: u64) -> bool {
    let block = name / BLOCK;
    if block == mine / BLOCK {
        return true;
    }
    let blocks = BLOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    // A tombstone of an earlier run is possible too: a static can be dropped and written again.
    let complement = !name / BLOCK;
    (1..blocks.next).contains(&block) || (1..blocks.next).contains(&complement)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_are_unique_and_blocks_are_given_back() {
        let (mut a, mut b) = (Epochs::new(), Epochs::new());
        let mut seen = BTreeSet::new();
        for _ in 0..3 * BLOCK / STEP {
            for number in [a.next(), b.next()] {
                assert!(number % STEP == 0 && seen.insert(number));
            }
        }
        let (last_a, last_b) = (a.next(), b.next());
        assert!(is_foreign(last_a, last_b) && !is_foreign(last_a, last_a));
        assert!(is_foreign(last_a, 0));
        a.rest();
        assert!(!is_foreign(last_a, last_b));
        a.begin();
        assert!(is_foreign(last_a, last_b));
        drop(a);
        assert!(!is_foreign(last_a, last_b));
        assert!(!seen.contains(&0));
        assert!(is_possible(last_a, last_b) && is_possible(!last_a, last_b));
        assert!(!is_possible(0x5555_5a00_1234, last_b) && !is_possible(0, last_b));
    }
}
