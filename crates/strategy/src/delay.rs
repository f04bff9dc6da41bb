//! Delay-bounded random scheduling (after Emmi, Qadeer and Rakamarić, POPL 2011).
//!
//! A deterministic scheduler, the non-preemptive round-robin in the order of thread ids, is told at D
//! random steps to pass over the thread that it would take. A thread that gave way (a pause, or a
//! wait that timed out) loses its turn, which is no delay.
//!
//! Promise: every execution with at most D delays has a chance, and no other does. With a run of k
//! steps that is at least 1/k^D.
//!
//! Deviation: k is the longest earlier run, so the promise starts with the second run.

use alloc::vec::Vec;

use raddle_core::{Choices, Chooser, Event, Pick, Point, ThreadId, Trace};

use crate::{Rng, Sampler};

/// The chooser that leaves its order so many times.
#[derive(Clone, Debug)]
pub struct Delay {
    delays: u32,
    /// k: no earlier run was longer.
    steps: usize,
    rng: Rng,
    /// The steps at which a thread is passed over, as drawn; one may be there twice.
    at: Vec<usize>,
    /// Scratch: the options in the order of thread ids.
    order: Vec<(ThreadId, usize)>,
}

impl Delay {
    /// A chooser with at most so many delays.
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
        // Who is next, counted from the thread that had its turn, going round through the ids.
        let from = match last {
            None => 0,
            Some(last) if last.op.gave_way(last.effect) => last.id.thread.0.wrapping_add(1),
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
        // Passing over everybody would be a round without effect.
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
