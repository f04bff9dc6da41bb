//! Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010), the scheduler of Fig. 7.
//!
//! Threads have random priorities d..d+n−1 and the highest enabled one runs. d−1 change points
//! k₁…k₍d₋₁₎ are drawn uniformly from 1..=k, independently and *not sorted*: when step kᵢ has run,
//! its thread drops to priority d−i, whatever the rank of kᵢ in time.
//!
//! Promise: a bug of depth d is hit with probability at least 1/(n·k^(d−1)), if the run has at most
//! n threads and k steps.
//!
//! Deviations: k is the longest earlier run, so the promise starts with the second run. Initial
//! priorities are random numbers above d rather than a permutation, which orders the threads alike
//! and needs no n.

use alloc::vec::Vec;

use raddle_core::{Chooser, Event, Pick, Point, ThreadId, Trace};

use crate::{Rng, Sampler};

/// The priority chooser.
#[derive(Clone, Debug)]
pub struct Pct {
    depth: u32,
    /// k: no earlier run was longer.
    steps: usize,
    rng: Rng,
    /// By thread. Invariant: pairwise distinct.
    priority: Vec<u64>,
    /// The pairs kᵢ, d−i, as drawn.
    changes: Vec<(usize, u64)>,
    /// Change points up to this step have been acted on.
    seen: usize,
    /// The priority of the thread chosen last.
    running: u64,
}

impl Pct {
    /// A chooser for bugs of up to this depth, which must be at least one.
    pub fn new(depth: u32) -> Pct {
        assert!(depth > 0, "the depth of a bug is at least 1");
        Pct {
            depth,
            steps: 1,
            rng: Rng::new(0),
            priority: Vec::new(),
            changes: Vec::new(),
            seen: 0,
            running: 0,
        }
    }

    /// As [`Pct::new`], with k given.
    pub fn with_steps(depth: u32, steps: usize) -> Pct {
        Pct { steps: steps.max(1), ..Pct::new(depth) }
    }

    #[inline]
    fn priority(&mut self, thread: ThreadId) -> u64 {
        match self.priority.get(thread.index()) {
            Some(&priority) => priority,
            None => self.draw_priority(thread),
        }
    }

    #[cold]
    fn draw_priority(&mut self, thread: ThreadId) -> u64 {
        while self.priority.len() <= thread.index() {
            // Above every change point's value, and distinct by the thread's number.
            let random = (1 << 63) | (self.rng.bits() >> 1 & !0xffff_ffff);
            self.priority.push(random | self.priority.len() as u64);
        }
        self.priority[thread.index()]
    }

    fn pass_change_points(&mut self, past: &[Event]) {
        let now = past.len();
        for &(step, value) in &self.changes {
            if self.seen < step && step <= now {
                let thread = past[step - 1].id.thread;
                if let Some(priority) = self.priority.get_mut(thread.index()) {
                    *priority = value;
                }
            }
        }
        self.seen = now;
    }

    fn steps_to_next_change(&self) -> u32 {
        let left = self.changes.iter().filter(|change| change.0 > self.seen);
        let nearest = left.map(|change| change.0 - self.seen).min();
        nearest.map_or(u32::MAX, |steps| u32::try_from(steps).unwrap_or(u32::MAX))
    }
}

impl Chooser for Pct {
    const WATCHES_CHANGES: bool = false;
    const GRANTS_LEASES: bool = true;

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        if self.seen != past.len() {
            self.pass_change_points(past);
        }
        let mut best = (0, 0);
        for (option, &thread) in threads.enabled.iter().enumerate() {
            let priority = self.priority(thread);
            if priority > best.1 {
                best = (option, priority);
            }
        }
        self.running = best.1;
        Pick::Run { option: best.0, steps: self.steps_to_next_change() }
    }

    #[inline]
    fn interrupts(&mut self, thread: ThreadId) -> bool {
        self.priority(thread) > self.running
    }
}

impl Sampler for Pct {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.priority.clear();
        self.changes.clear();
        self.seen = 0;
        for i in 1..self.depth {
            let step = 1 + self.rng.below(self.steps);
            self.changes.push((step, u64::from(self.depth - i)));
        }
    }

    fn learn(&mut self, trace: &Trace) {
        self.steps = self.steps.max(trace.events.len());
    }
}
