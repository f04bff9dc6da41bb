//! RAPOS (Sen, ASE 2007): random partial order sampling by batches of independent operations.
//!
//! One schedulable operation is taken at random, and each other one that is independent of all taken so
//! far with probability ½; this batch is performed in random order. Then the operations that depend on
//! one of the batch are schedulable; if there are none, all are.
//!
//! Promise: every partial order has a positive probability. It is here as the baseline of partial order
//! sampling.
//!
//! Deviation: an operation of the batch that another one of it has disabled or changed waits for a later
//! batch. (Independent operations do not disable each other.)

use alloc::vec::Vec;

use raddle_core::{
    Choices, Chooser, Effect, Event, Footprint, Pending, Pick, Point, ThreadId, ThreadOp, Threads,
};

use crate::{Rng, Sampler};

/// The chooser that draws batches.
#[derive(Clone, Debug)]
pub struct Rapos {
    rng: Rng,
    /// The operations of this batch that are still to be performed, the next one last.
    batch: Vec<Footprint>,
    /// All operations of this batch.
    taken: Vec<Footprint>,
    /// Scratch: the schedulable options.
    schedulable: Vec<usize>,
    /// The number of events already handled.
    seen: usize,
}

impl Default for Rapos {
    fn default() -> Rapos {
        Rapos {
            rng: Rng::new(0),
            batch: Vec::new(),
            taken: Vec::new(),
            schedulable: Vec::new(),
            seen: 0,
        }
    }
}

impl Rapos {
    /// Makes all operations of a new thread depend on its spawn.
    fn add_children(&mut self, past: &[Event]) {
        for event in &past[self.seen.min(past.len())..] {
            if event.op.is_thread() {
                if let (ThreadOp::Spawn, Effect::Value(child)) = (event.op.thread(), event.effect) {
                    let thread = ThreadId(child as u32);
                    self.taken.push(Footprint { thread, ..event.footprint() });
                }
            }
        }
        self.seen = past.len();
    }

    /// Draws the next batch.
    fn draw_batch(&mut self, threads: &Threads<'_>) {
        let depends = |thread: &ThreadId| {
            let next = footprint(&threads.pending[thread.index()]);
            self.taken.iter().any(|taken| taken.depends(&next))
        };
        let all = threads.enabled.iter().enumerate();
        self.schedulable.clear();
        self.schedulable
            .extend(all.filter(|(_, thread)| depends(thread)).map(|(option, _)| option));
        if self.schedulable.is_empty() {
            self.schedulable.extend(0..threads.enabled.len());
        }
        self.taken.clear();
        // In random order: the first is taken, and each further independent one with probability ½.
        for left in (1..=self.schedulable.len()).rev() {
            let option = self.schedulable.swap_remove(self.rng.below(left));
            let next = footprint(&threads.pending[threads.enabled[option].index()]);
            let fits = !self.taken.iter().any(|taken| taken.depends(&next));
            if self.taken.is_empty() || fits && self.rng.below(2) == 0 {
                self.taken.push(next);
            }
        }
        self.batch.clear();
        self.batch.extend_from_slice(&self.taken);
        for last in (1..self.batch.len()).rev() {
            self.batch.swap(last, self.rng.below(last + 1));
        }
    }
}

fn footprint(pending: &Pending) -> Footprint {
    let (object, access) = (pending.op.object(), pending.op.access());
    Footprint { thread: pending.thread, object, access }
}

impl Chooser for Rapos {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        self.add_children(past);
        loop {
            while let Some(next) = self.batch.pop() {
                let place = threads.enabled.iter().position(|&thread| thread == next.thread);
                if let Some(option) = place {
                    if footprint(&threads.pending[next.thread.index()]) == next {
                        return Pick::Take(option);
                    }
                }
            }
            self.draw_batch(threads);
        }
    }
}

impl Sampler for Rapos {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.batch.clear();
        self.taken.clear();
        self.seen = 0;
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn independent_runs(&self) -> bool {
        true
    }
}
