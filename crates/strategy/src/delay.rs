//! Delay-bounded random scheduling (after Emmi, Qadeer and Rakamarić, POPL 2011).
//!
//! A deterministic scheduler, the non-preemptive round-robin in the order of thread ids, passes over the
//! thread that it would take at D random steps. A thread that yielded (a pause, or a wait that timed out)
//! loses its turn, which is no delay.
//!
//! Promise: every execution with at most D delays has a positive probability, and no other has. In runs
//! of k steps it is at least 1/k^D.
//!
//! Deviation: k is the length of the longest earlier run, so the promise starts with the second run.

use alloc::vec::Vec;

use raddle_core::{Choices, Chooser, Event, Pick, Point, ThreadId, Trace};

use crate::{Rng, Sampler};

/// The round-robin chooser with random delays.
#[derive(Clone, Debug)]
pub struct Delay {
    delays: u32,
    /// k: the length of the longest earlier run.
    steps: usize,
    rng: Rng,
    /// The steps at which a thread is passed over. A step that was drawn twice occurs twice.
    at: Vec<usize>,
    /// Scratch: the options in the order of thread ids.
    order: Vec<(ThreadId, usize)>,
}

impl Delay {
    /// Makes a chooser with at most `delays` delays.
    pub fn new(delays: u32) -> Delay {
        Delay { delays, steps: 1, rng: Rng::new(0), at: Vec::new(), order: Vec::new() }
    }
}

impl Chooser for Delay {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        let last = past.last();
        // The first thread id in question; ids before it follow after the largest.
        let from = match last {
            None => 0,
            Some(last) if last.op.has_yielded(last.effect) => last.id.thread.0.wrapping_add(1),
            Some(last) => last.id.thread.0,
        };
        let distance = |thread: ThreadId| thread.0.wrapping_sub(from);
        let delays = self.at.iter().filter(|&&step| step == past.len()).count();
        if delays == 0 {
            let nearest = (0..threads.enabled.len())
                .min_by_key(|&option| distance(threads.enabled[option]))
                .expect("raddle invariant broken: a thread point without options");
            return Pick::Take(nearest);
        }
        self.order.clear();
        let options = threads.enabled.iter().enumerate();
        self.order.extend(options.map(|(option, &thread)| (thread, option)));
        self.order.sort_unstable_by_key(|&(thread, _)| distance(thread));
        // Passing over all threads would have no effect.
        Pick::Take(self.order[delays.min(self.order.len() - 1)].1)
    }
}

impl Sampler for Delay {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.at.clear();
        for _ in 0..self.delays {
            let step = self.rng.below(self.steps);
            self.at.push(step);
        }
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn learn(&mut self, trace: &Trace) {
        self.steps = self.steps.max(trace.events.len());
    }
}
