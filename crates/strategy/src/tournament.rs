//! The smallest of many clocks, of which few change at a time.
//!
//! Clocks stand in blocks, each with its first, so that not all of them are looked at to find the
//! first of all. A clock carries its thread in its last bits, so that nobody has to look where it was
//! found.

use alloc::vec::Vec;

/// Clocks of one block.
const BLOCK: usize = 8;

/// So few clocks are all looked at: that is as quick, and has no branches to be guessed.
const FEW: usize = 4 * BLOCK;

/// The last bits of a clock, which tell the thread. Clocks are compared by the 32 bits before.
const THREAD_BITS: u32 = 20;
const THREAD: u64 = (1 << THREAD_BITS) - 1;

/// After every other clock.
const NEVER: u64 = u64::MAX;
/// No clock is earlier, apart from that of what is to be done at once.
const EARLIEST: f64 = 1e-12;

/// Clocks by thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tournament {
    /// By thread: the clock as bits, which are ordered as it is.
    clocks: Vec<u64>,
    /// By block: the first of its clocks, unless that is stale.
    firsts: Vec<u64>,
    /// One bit for each block whose first has to be looked for, or for each 64th.
    stale: u64,
}

impl Tournament {
    /// Makes room for so many threads.
    pub(crate) fn make_room(&mut self, threads: usize) {
        assert!(threads <= 1 << THREAD_BITS, "a run has at most a million threads");
        let blocks = threads.div_ceil(BLOCK);
        self.clocks.resize(blocks * BLOCK, NEVER);
        self.firsts.resize(blocks.next_multiple_of(BLOCK), NEVER);
    }

    /// Sets the clock of a thread, zero or more.
    #[inline(always)]
    pub(crate) fn set(&mut self, thread: usize, clock: f64) {
        let clock = if clock > EARLIEST { clock } else { EARLIEST };
        self.write(thread, clock.to_bits() & !THREAD | thread as u64);
    }

    /// Puts a thread before all that have a clock.
    #[inline(always)]
    pub(crate) fn set_at_once(&mut self, thread: usize) {
        self.write(thread, thread as u64);
    }

    /// Takes away the clock of a thread.
    #[inline(always)]
    pub(crate) fn clear(&mut self, thread: usize) {
        self.write(thread, NEVER);
    }

    /// The clock of a thread, if it has one.
    #[inline(always)]
    pub(crate) fn get(&self, thread: usize) -> Option<f64> {
        Some(self.clocks[thread]).filter(|clock| *clock != NEVER).map(f64::from_bits)
    }

    /// The thread whose clock is the first.
    #[inline(always)]
    pub(crate) fn first(&mut self) -> usize {
        let blocks = if self.clocks.len() <= FEW {
            &self.clocks
        } else {
            self.look_for_firsts();
            &self.firsts
        };
        let first =
            blocks.chunks_exact(BLOCK).fold(NEVER, |first, block| first.min(first_of(block)));
        (first & THREAD) as usize
    }

    #[inline(always)]
    fn write(&mut self, thread: usize, clock: u64) {
        self.clocks[thread] = clock;
        self.stale |= 1 << (thread / BLOCK % 64);
    }

    #[inline(always)]
    fn look_for_firsts(&mut self) {
        let mut stale = core::mem::take(&mut self.stale);
        while stale != 0 {
            let mut block = stale.trailing_zeros() as usize;
            stale &= stale - 1;
            while let Some(clocks) = self.clocks.get(block * BLOCK..(block + 1) * BLOCK) {
                self.firsts[block] = first_of(clocks);
                block += 64;
            }
        }
    }
}

/// The first of a block.
#[inline(always)]
fn first_of(clocks: &[u64]) -> u64 {
    let Ok([a, b, c, d, e, f, g, h]) = <[u64; BLOCK]>::try_from(clocks) else { return NEVER };
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn finds_the_first() {
        let mut rng = Rng::new(1);
        for threads in [1, 2, 7, 8, 9, 64, 65, 200, 513, 1000] {
            let mut tournament = Tournament::default();
            tournament.make_room(threads);
            let mut clocks: Vec<Option<f64>> = alloc::vec![None; threads];
            for round in 0..if cfg!(miri) { 20 } else { 1000 } {
                let thread = rng.below(threads);
                match rng.below(8) {
                    0 => {
                        clocks[thread] = None;
                        tournament.clear(thread);
                    }
                    1 => {
                        clocks[thread] = Some(-1.0);
                        tournament.set_at_once(thread);
                    }
                    _ => {
                        let clock = rng.below(1 << 30) as f64 / 1e6;
                        clocks[thread] = Some(clock);
                        tournament.set(thread, clock);
                    }
                }
                assert_eq!(tournament.get(thread).is_some(), clocks[thread].is_some());
                let first = clocks.iter().flatten().copied().fold(f64::INFINITY, f64::min);
                // Not every time, so that several have changed.
                if first.is_finite() && round % 3 == 0 {
                    assert_eq!(clocks[tournament.first()], Some(first));
                }
            }
        }
    }
}
