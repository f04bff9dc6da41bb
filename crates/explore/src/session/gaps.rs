//! Where the steps of runs were in relation to other threads: after how many steps of each of them.
//!
//! State that raddle does not see shows if the code after one step runs in another gap between two steps of another
//! thread. So a run that has every step in a gap in which an earlier run had it shows nothing new.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use raddle_core::{Trace, mix};

use crate::classes::Identity;

/// The gaps in which steps were. Steps are told apart by their thread and their number in it, so those of different
/// runs count as one.
#[derive(Debug)]
pub(super) struct Gaps {
    /// Hashes of a step, another thread, and the number of steps that the other thread had before. `None` if there are
    /// too many: then every run shows something new.
    seen: Option<HashSet<u64, BuildHasherDefault<Identity>>>,
    /// By thread: its steps in a run, and how many of them are done.
    threads: Vec<(u64, u64)>,
}

impl Gaps {
    /// Collects the gaps of `runs`, unless they have more than `max_steps` steps in all. A step costs more if there are
    /// many threads.
    pub(super) fn of<'t>(runs: impl Iterator<Item = &'t Trace> + Clone, max_steps: u64) -> Gaps {
        let cost = |trace: &Trace| trace.events.len() * (8 + trace.threads.len()) / 8;
        if runs.clone().map(cost).sum::<usize>() as u64 > max_steps {
            return Gaps { seen: None, threads: Vec::new() };
        }
        let mut gaps = Gaps { seen: Some(HashSet::default()), threads: Vec::new() };
        for trace in runs {
            gaps.add(trace, 0..trace.events.len());
        }
        gaps
    }

    /// Adds the steps of `trace` in `order`. Returns whether one of them is in a gap in which no run had it.
    pub(super) fn add(&mut self, trace: &Trace, order: impl Iterator<Item = usize>) -> bool {
        let Some(seen) = &mut self.seen else { return true };
        let threads = &mut self.threads;
        threads.clear();
        for id in trace.events.iter().map(|event| event.id) {
            let thread = id.thread.index();
            threads.resize(threads.len().max(thread + 1), (0, 0));
            threads[thread].0 += 1;
        }
        let mut is_new = false;
        for id in order.map(|position| trace.events[position].id) {
            let thread = id.thread.index();
            threads[thread].1 += 1;
            let (steps, done) = threads[thread];
            // No code follows the last step of a thread.
            if done < steps {
                let step = u64::from(id.index) << 32 | thread as u64;
                let others = threads.iter().enumerate().filter(|(other, _)| *other != thread);
                for (other, (_, done)) in others {
                    is_new |= seen.insert(mix(step, done << 32 | other as u64));
                }
            }
        }
        is_new
    }
}
