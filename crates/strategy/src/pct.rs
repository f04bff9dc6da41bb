//! Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010).
//!
//! The scheduler of Fig. 7: threads have random priorities d..d+n−1 and the highest enabled one runs.
//! d−1 change points k₁…k₍d₋₁₎ are drawn uniformly from 1..=k, independently and *not sorted*: after
//! step kᵢ, its thread drops to priority d−i, whatever the rank of kᵢ in time. If d is not given, it is
//! drawn for every run; small depths are more likely.
//!
//! Promise: a bug of depth d is hit with probability at least 1/(n·k^(d−1)), if the run has at most
//! n threads and k steps, and no thread was lowered because it starved others. [`Sampler::guarantees`]
//! counts the runs for which that holds. In long runs threads that wait in loops are left out until something changes, so
//! the promise is one for the program without idle rounds.
//!
//! From §4.2, [`Pct::new`] and [`Pct::drawn`] have:
//! - *Sequential execution*: a step does not count if its thread is the only enabled one after it, or
//!   has ended. Lowering it at the next step that counts has the same effect.
//! - *Join points*: when all other threads have ended, a new phase begins. If that makes phases at
//!   most half as long as runs, each has priorities and change points of its own. k is then the
//!   largest number of steps in a phase, and the promise is for bugs within one phase.
//! - *Synchronisation operations*: every point of raddle is one, unless plain accesses are points.
//! - *Final wait*: a run continues after the end of main, so nothing has to be done.
//! - *Starvation*: a thread that keeps yielding, or changes nothing for a long time, drops below all
//!   others with a small probability.
//!
//! Deviations:
//! - n and k are the maxima of earlier runs, so the promise starts with the second run.
//! - Initial priorities are random numbers above d rather than a permutation. This orders the threads in
//!   the same way, and needs no n.
//! - The start of a thread counts as one of its steps, taken when it is first chosen. Otherwise a thread
//!   could not be lowered before its first operation, and bugs that need that would never be hit.
//! - While a thread runs on a lease, the other enabled threads are not examined, so that all its steps
//!   count. Asking at every step gives the same run.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;

use raddle_core::{
    Access, Choices, Chooser, Ending, Event, Guarantee, Pick, Point, ThreadId, ThreadOp, Threads,
    Trace,
};

use crate::{Rng, Sampler};

/// The largest depth that is drawn.
const MAX_DRAWN_DEPTH: u32 = 5;

/// Above the priorities of threads that starved others, below all other priorities.
const STARVED: u64 = 1 << 32;

/// The steps between two searches for threads that starve others.
const STEPS_TO_LOOK: u32 = 1024;
/// The steps to the next search if the last one found starvation.
const STEPS_TO_LOOK_AGAIN: u32 = 128;
/// The steps that are examined. If none of them changed anything, or a thread yielded in
/// [`STARVING_YIELDS`] of them, no thread makes progress.
const EXAMINED_STEPS: usize = 64;
const STARVING_YIELDS: usize = 8;
/// A thread that starves others is lowered with a probability of one in this many.
const LOWER_ONE_IN: usize = 8;

/// The depth of the bugs to be found.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Depth {
    Given(u32),
    Drawn,
}

/// The steps that can be change points.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Counting {
    /// All steps, as in Fig. 7.
    Every,
    /// The steps of §4.2.
    Concurrent,
}

/// The chooser by priorities of threads.
#[derive(Clone, Debug)]
pub struct Pct {
    depth: Depth,
    counting: Counting,
    /// The most counted steps in an earlier run, and in a phase of one.
    most: (usize, usize),
    /// n: the most threads of an earlier run.
    threads: usize,
    /// By depth − 1: the number of runs within this n and k.
    qualifying: Vec<u64>,
    rng: Rng,
    /// The depth of this run.
    current_depth: u32,
    /// By thread. Invariant: pairwise distinct.
    priority: Vec<u64>,
    /// By thread: whether it has been chosen in this run.
    begun: Vec<bool>,
    /// The pairs kᵢ, d−i, as drawn.
    changes: Vec<(usize, u64)>,
    /// The number of events at the last question.
    seen: usize,
    /// The steps counted since change points were drawn.
    count: usize,
    /// The value of `count` at the beginning of this phase.
    phase: usize,
    /// The steps counted in all earlier phases of this run, and in the longest of them.
    counted: (usize, usize),
    /// Whether the thread chosen last was the only enabled one.
    alone: bool,
    /// The thread chosen last, and its priority; zero if it was the only enabled one.
    runner: ThreadId,
    running: u64,
    /// The number of events at which its lease ends.
    leased: usize,
    /// The number of events at which starvation is looked for.
    next_look: usize,
    /// The lowest priority given to a thread that starved others.
    lowest: u64,
    /// The threads spawned in this run, and those that have ended.
    spawned: usize,
    ended: usize,
}

impl Pct {
    /// Makes a chooser for bugs of up to this depth, which must be at least one.
    pub fn new(depth: u32) -> Pct {
        assert!(depth > 0, "the depth of a bug is at least 1");
        Pct::with(Depth::Given(depth), Counting::Concurrent)
    }

    /// Makes a chooser that draws the depth for every run.
    pub fn drawn() -> Pct {
        Pct::with(Depth::Drawn, Counting::Concurrent)
    }

    /// Makes the chooser of Fig. 7, with k given: every step counts, and §4.2 is left out.
    pub fn figure(depth: u32, steps: usize) -> Pct {
        Pct { counting: Counting::Every, ..Pct::with_steps(depth, steps) }
    }

    /// Makes a chooser as [`Pct::new`] does, with k given.
    pub fn with_steps(depth: u32, steps: usize) -> Pct {
        let steps = steps.max(1);
        Pct { most: (steps, steps), ..Pct::new(depth) }
    }

    fn with(depth: Depth, counting: Counting) -> Pct {
        Pct {
            depth,
            counting,
            most: (1, 1),
            threads: 0,
            qualifying: Vec::new(),
            rng: Rng::new(0),
            current_depth: 1,
            priority: Vec::new(),
            begun: Vec::new(),
            changes: Vec::new(),
            seen: 0,
            count: 0,
            phase: 0,
            counted: (0, 0),
            alone: false,
            runner: ThreadId::MAIN,
            running: 0,
            leased: 0,
            next_look: 0,
            lowest: STARVED,
            spawned: 0,
            ended: 0,
        }
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

    /// Returns whether each phase has priorities and change points of its own.
    fn is_phased(&self) -> bool {
        self.most.1 * 2 <= self.most.0
    }

    /// Returns k.
    fn steps(&self) -> usize {
        if self.is_phased() { self.most.1 } else { self.most.0 }
    }

    fn draw_change_points(&mut self) {
        self.changes.clear();
        let steps = self.steps();
        for i in 1..self.current_depth {
            let step = 1 + self.rng.below(steps);
            self.changes.push((step, STARVED + u64::from(self.current_depth - i)));
        }
    }

    /// Counts `steps` steps of `thread`, and lowers it if there is a change point among them.
    #[inline]
    fn count(&mut self, thread: ThreadId, steps: usize) {
        let before = self.count;
        self.count += steps;
        for change in 0..self.changes.len() {
            let (step, value) = self.changes[change];
            if before < step && step <= self.count {
                // A thread that was always the only enabled one has no priority yet.
                self.priority(thread);
                self.priority[thread.index()] = value;
            }
        }
    }

    /// Counts the steps since the last point.
    #[inline]
    fn count_past(&mut self, past: &[Event], enabled: &[ThreadId]) {
        let [.., last] = past else { return };
        let ran = past.len() - self.seen;
        let mut has_ended = false;
        if last.op.is_thread() {
            // There is a point after each of these operations.
            match last.op.thread() {
                ThreadOp::Spawn => self.spawned += 1,
                ThreadOp::Exit => {
                    self.ended += 1;
                    has_ended = true;
                }
                ThreadOp::Join | ThreadOp::IsFinished => {}
            }
        }
        let matters = match enabled {
            // If another thread is the only enabled one, this one is blocked, and lowering it may matter.
            [only] => *only != last.id.thread && !has_ended,
            _ => true,
        };
        let steps = match self.counting {
            Counting::Every => ran,
            Counting::Concurrent if self.alone => usize::from(matters),
            Counting::Concurrent => ran - usize::from(!matters),
        };
        self.count(last.id.thread, steps);
    }

    fn steps_to_next_change(&self) -> u32 {
        let left = self.changes.iter().filter(|change| change.0 > self.count);
        let nearest = left.map(|change| change.0 - self.count).min();
        nearest.map_or(u32::MAX, |steps| u32::try_from(steps).unwrap_or(u32::MAX))
    }

    /// Returns whether `thread` is chosen for the first time in this run.
    #[inline]
    fn begins(&mut self, thread: ThreadId) -> bool {
        match self.begun.get_mut(thread.index()) {
            Some(begun) => !core::mem::replace(begun, true),
            None => {
                self.begun.resize(thread.index(), false);
                self.begun.push(true);
                true
            }
        }
    }

    /// Returns the option of the thread chosen last if it is still on its lease.
    ///
    /// The lease ends when it is used up, or when the thread blocks, spawns a thread, or a thread of higher
    /// priority is enabled.
    #[inline]
    fn on_lease(&self, threads: &Threads<'_>, past: &[Event]) -> Option<usize> {
        let [.., last] = past else { return None };
        if past.len() >= self.leased
            || !threads.pending[self.runner.index()].enabled
            || last.op.is_thread() && last.op.thread() == ThreadOp::Spawn
        {
            return None;
        }
        let goes_before = |thread: &ThreadId| {
            *thread != self.runner
                && self.priority.get(thread.index()).is_none_or(|&other| other > self.running)
        };
        if threads.enabled.iter().any(goes_before) {
            return None;
        }
        threads.enabled.iter().position(|thread| *thread == self.runner)
    }

    /// Chooses the only enabled thread, until another is enabled.
    fn choose_only(&mut self, thread: ThreadId) -> Pick {
        self.begins(thread);
        self.alone = true;
        (self.runner, self.running, self.leased) = (thread, 0, usize::MAX);
        if self.count > self.phase && self.is_last() {
            self.end_phase();
            if self.is_phased() {
                self.count = 0;
                self.priority.clear();
                self.draw_change_points();
            }
            self.phase = self.count;
        }
        Pick::Run { option: 0, steps: u32::MAX }
    }

    fn end_phase(&mut self) {
        let steps = self.count - self.phase;
        self.counted = (self.counted.0 + steps, self.counted.1.max(steps));
    }

    /// Returns whether all threads but one have ended.
    fn is_last(&self) -> bool {
        self.spawned > 0 && self.ended == self.spawned
    }

    /// Lowers a thread that keeps others from making progress, with a small probability.
    #[cold]
    #[inline(never)]
    fn look_for_starvation(&mut self, past: &[Event]) {
        let recent = &past[past.len().saturating_sub(EXAMINED_STEPS)..];
        let yielded = |event: &&Event| event.op.has_yielded(event.effect);
        let no_change = |event: &Event| event.op.is_pause() || event.access() == Access::Read;
        let is_starving = recent.iter().filter(yielded).count() >= STARVING_YIELDS
            || recent.iter().all(no_change);
        let steps = if is_starving { STEPS_TO_LOOK_AGAIN } else { STEPS_TO_LOOK };
        self.next_look = past.len() + steps as usize;
        if is_starving && self.rng.below(LOWER_ONE_IN) == 0 {
            let culprit = recent.iter().rfind(yielded).or(recent.last());
            if let Some(culprit) = culprit {
                self.priority(culprit.id.thread);
                self.lowest -= 1;
                self.priority[culprit.id.thread.index()] = self.lowest;
            }
        }
    }

    #[inline(always)]
    fn best(&mut self, threads: &Threads<'_>) -> (usize, u64) {
        if let Some(last) = threads.pending.last() {
            self.priority(last.thread);
        }
        let priority = &self.priority[..];
        let mut best = (0, 0);
        for (option, thread) in threads.enabled.iter().enumerate() {
            let priority = priority[thread.index()];
            if priority > best.1 {
                best = (option, priority);
            }
        }
        best
    }

    /// Returns a lower bound on the probability that a run with this depth hits a bug of at most this depth.
    fn hit(&self, depth: u32) -> f64 {
        let draws = (1..depth).fold(self.threads as f64, |draws, _| draws * self.steps() as f64);
        1.0 / draws
    }
}

impl Chooser for Pct {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        if let Some(option) = self.on_lease(threads, past) {
            let steps = u32::try_from(self.leased - past.len()).unwrap_or(u32::MAX);
            return Pick::Run { option, steps };
        }
        if self.seen != past.len() {
            self.count_past(past, threads.enabled);
            self.seen = past.len();
        }
        let is_whole = self.counting == Counting::Concurrent;
        if is_whole {
            if let [only] = threads.enabled {
                return self.choose_only(*only);
            }
            if past.len() >= self.next_look {
                self.look_for_starvation(past);
            }
        }
        let mut best = self.best(threads);
        while is_whole && self.begins(threads.enabled[best.0]) {
            let before = self.priority[threads.enabled[best.0].index()];
            self.count(threads.enabled[best.0], 1);
            if self.priority[threads.enabled[best.0].index()] == before {
                break;
            }
            best = self.best(threads);
        }
        self.alone = false;
        let to_look = if is_whole { (self.next_look - past.len()) as u32 } else { u32::MAX };
        let steps = self.steps_to_next_change().min(to_look);
        (self.runner, self.running) = (threads.enabled[best.0], best.1);
        self.leased = past.len() + steps as usize;
        Pick::Run { option: best.0, steps }
    }

    fn interrupts(&self, thread: ThreadId) -> bool {
        self.priority.get(thread.index()).is_none_or(|&other| other > self.running)
    }
}

impl Sampler for Pct {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.current_depth = match self.depth {
            Depth::Given(depth) => depth,
            Depth::Drawn => MAX_DRAWN_DEPTH.min(1 + self.rng.bits().trailing_zeros()),
        };
        self.priority.clear();
        self.begun.clear();
        self.seen = 0;
        self.count = 0;
        self.phase = 0;
        self.counted = (0, 0);
        self.alone = false;
        self.leased = 0;
        self.next_look = STEPS_TO_LOOK as usize;
        self.lowest = STARVED;
        self.spawned = 0;
        self.ended = 0;
        self.draw_change_points();
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn learn(&mut self, trace: &Trace) {
        // After the last step no thread is enabled.
        if !self.alone && trace.events.len() > self.seen {
            self.count += trace.events.len() - self.seen - 1;
        }
        self.end_phase();
        let before = (self.threads, self.steps(), self.is_phased());
        self.threads = self.threads.max(trace.threads.len());
        self.most.0 = self.most.0.max(self.counted.0);
        self.most.1 = self.most.1.max(self.counted.1);
        if before != (self.threads, self.steps(), self.is_phased()) {
            self.qualifying.clear();
            return;
        }
        let ended = match trace.ending {
            Ending::Finished | Ending::Deadlock | Ending::Stopped | Ending::Panicked(_) => true,
            Ending::StepLimit | Ending::TimeLimit | Ending::Abandoned | Ending::Diverged(_) => {
                false
            }
        };
        if ended && self.lowest == STARVED {
            let depth = self.current_depth as usize;
            if self.qualifying.len() < depth {
                self.qualifying.resize(depth, 0);
            }
            self.qualifying[depth - 1] += 1;
        }
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        let (given, word) = match self.depth {
            Depth::Given(depth) => (depth..=depth, format!("pct:{depth}")),
            Depth::Drawn => (1..=MAX_DRAWN_DEPTH, "pct".to_owned()),
        };
        let guarantee = |depth: u32| {
            let runs = self.qualifying.iter().zip(1..).filter(|(_, of)| *of >= depth);
            let escape = |(&runs, of): (&u64, u32)| power(1.0 - self.hit(of), runs);
            Guarantee {
                strategy: word.clone(),
                depth,
                threads: self.threads as u32,
                steps: self.steps() as u64,
                in_one_phase: self.is_phased(),
                history: None,
                runs: runs.clone().map(|(runs, _)| runs).sum(),
                escape: runs.map(escape).product(),
            }
        };
        given.map(guarantee).filter(|guarantee| guarantee.runs > 0).collect()
    }
}

/// Returns `base` to the power of `exponent`. `core` has no such function.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
