//! Uniform random walk (Zhao et al., ASPLOS 2025): threads weighted by their remaining events.
//!
//! A thread is taken with a probability proportional to the number of events that it, and the
//! threads that it will still spawn, have left.
//!
//! Promise: if these numbers are right and no thread blocks, all interleavings have equal probability.
//! (The events of a program whose threads only spawn are a forest; drawing by the size of the
//! subtrees draws its linear extensions uniformly.)
//!
//! Deviation: the numbers are the means of earlier runs, so the promise starts with the second run. A
//! thread with more events than expected counts as having one event left.

use alloc::vec::Vec;

use raddle_core::{Choices, Chooser, Effect, Event, Pick, Point, ThreadId, ThreadOp, Trace};

use crate::{Rng, Sampler};

/// The chooser that weights threads by their remaining events.
#[derive(Clone, Debug)]
pub struct Urw {
    rng: Rng,
    profile: Profile,
    /// By thread: the events left, including those of threads still to be spawned.
    left: Vec<u64>,
    seen: usize,
}

/// The number of events of each thread, from earlier runs.
#[derive(Clone, Debug, Default)]
struct Profile {
    runs: u64,
    /// By thread: the sum of its events in all earlier runs.
    events: Vec<u64>,
    /// By thread: its parent. A parent's id is smaller than those of its children.
    parent: Vec<ThreadId>,
}

impl Default for Urw {
    fn default() -> Urw {
        Urw { rng: Rng::new(0), profile: Profile::default(), left: Vec::new(), seen: 0 }
    }
}

impl Urw {
    /// Subtracts the events since the last point.
    #[inline]
    fn count(&mut self, past: &[Event]) {
        for event in &past[self.seen.min(past.len())..] {
            let thread = event.id.thread.index();
            if thread >= self.left.len() {
                self.left.resize(thread + 1, 0);
            }
            self.left[thread] = self.left[thread].saturating_sub(1);
            if event.op.is_thread() {
                if let (ThreadOp::Spawn, Effect::Value(child)) = (event.op.thread(), event.effect) {
                    let child = self.left.get(child as usize).copied().unwrap_or(0);
                    self.left[thread] = self.left[thread].saturating_sub(child);
                }
            }
        }
        self.seen = past.len();
    }
}

impl Chooser for Urw {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        self.count(past);
        let left = &self.left;
        let weight = |thread: &ThreadId| left.get(thread.index()).map_or(1, |&left| left.max(1));
        let total: u64 = threads.enabled.iter().map(weight).sum();
        let mut drawn = self.rng.below(total as usize) as u64;
        for (option, thread) in threads.enabled.iter().enumerate() {
            let weight = weight(thread);
            if drawn < weight {
                return Pick::Take(option);
            }
            drawn -= weight;
        }
        unreachable!("raddle invariant broken: a number below the sum of weights")
    }
}

impl Sampler for Urw {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.seen = 0;
        let Profile { runs, events, parent } = &self.profile;
        self.left.clear();
        self.left.extend(events.iter().map(|all| (all + runs / 2) / (*runs).max(1)));
        for child in (1..self.left.len()).rev() {
            let parent = parent[child].index();
            if parent < child {
                self.left[parent] += self.left[child];
            }
        }
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn learn(&mut self, trace: &Trace) {
        let profile = &mut self.profile;
        profile.runs += 1;
        for info in &trace.threads {
            let room = profile.events.len().max(info.id.index() + 1);
            profile.events.resize(room, 0);
            profile.parent.resize(room, ThreadId::MAIN);
            profile.parent[info.id.index()] = info.parent;
        }
        for event in &trace.events {
            profile.events[event.id.thread.index()] += 1;
        }
    }
}
