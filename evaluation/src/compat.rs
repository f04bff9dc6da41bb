//! The rules of Maple, the tool with which the POS paper's Table 3 was measured. With all of them together,
//! and with its n and k, the published ratios come out again.
//!
//! - Points are spawn, join, lock, unlock, operations on condition variables and barriers, and those
//!   accesses to memory that can race. The programs are written so; see [`raddle_programs`].
//! - The beginning and the end of a thread are no points. raddle's exits are performed at once here.
//! - Yields are points for PCT, not for random walk.
//! - An interlocked instruction is two points, a read and a write: the queues in
//!   `programs::work_stealing` do so themselves.
//! - When main returns the others run on, as always with raddle.
//! - PCT draws its change points with replacement from 1..=k, counts steps from the first on at which
//!   several threads could go on, and drops a thread that yields below all others.
//! - POS performs spawns and joins at once, and takes two reads not to race: raddle's own `pos-star`, which
//!   needs no other rules.

use raddle_core::{Choices, Chooser, Event, Op, Pick, Point, ThreadOp, Threads};
use raddle_strategy::{Rng, Sampler};

/// Random walk by Maple's rules.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    rng: Rng,
}

/// PCT by Maple's rules, for programs whose n and k are known.
#[derive(Clone, Debug)]
pub(crate) struct Priorities {
    rng: Rng,
    threads: usize,
    steps: usize,
    depth: usize,
    /// By thread.
    priority: Vec<i64>,
    /// The steps after which a thread drops; the i-th, from zero, to d−1−i.
    changes: Vec<usize>,
    /// Steps counted so far.
    counted: usize,
    /// The lowest priority of a thread that yielded, minus one.
    lowest: i64,
    /// Whether the last choice was a point.
    is_point: bool,
}

impl Walk {
    pub(crate) fn new() -> Walk {
        Walk { rng: Rng::new(0) }
    }
}

impl Chooser for Walk {
    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        if let Point::Thread(threads) = at {
            if let Some(option) = find(threads, |op| is_exit(op) || op.is_pause()) {
                return Pick::Take(option);
            }
        }
        Pick::Take(self.rng.below(at.options()))
    }
}

impl Sampler for Walk {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }
}

impl Priorities {
    /// For bugs of this depth in programs with these numbers of threads and steps.
    pub(crate) fn new(depth: usize, threads: usize, steps: usize) -> Priorities {
        Priorities {
            rng: Rng::new(0),
            threads,
            steps,
            depth,
            priority: Vec::new(),
            changes: Vec::new(),
            counted: 0,
            lowest: 0,
            is_point: false,
        }
    }

    /// Counts the step that was just made, and lowers its thread if it is a change point.
    fn count(&mut self, past: &[Event]) {
        if !std::mem::take(&mut self.is_point) {
            return;
        }
        let Some(last) = past.last() else { return };
        for (rank, change) in self.changes.iter().enumerate() {
            if *change == self.counted {
                self.priority[last.id.thread.index()] = self.depth as i64 - 1 - rank as i64;
            }
        }
    }
}

impl Chooser for Priorities {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        self.count(past);
        if let Some(option) = find(threads, is_exit) {
            return Pick::Take(option);
        }
        let highest =
            |&(_, thread): &(usize, &raddle_core::ThreadId)| self.priority[thread.index()];
        let best = threads.enabled.iter().enumerate().max_by_key(highest);
        let (option, thread) =
            best.expect("raddle invariant broken: a thread point without options");
        if threads.pending[thread.index()].op.is_pause() {
            self.priority[thread.index()] = self.lowest;
            self.lowest -= 1;
        }
        if threads.enabled.len() > 1 || self.counted > 0 {
            self.counted += 1;
        }
        self.is_point = true;
        Pick::Take(option)
    }
}

impl Sampler for Priorities {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.priority.clear();
        self.priority.extend((0..self.threads).map(|rank| (self.depth + rank) as i64));
        for last in (1..self.threads).rev() {
            let other = self.rng.below(last + 1);
            self.priority.swap(last, other);
        }
        self.changes.clear();
        for _ in 1..self.depth {
            self.changes.push(1 + self.rng.below(self.steps));
        }
        self.counted = 0;
        self.lowest = 0;
        self.is_point = false;
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }
}

/// The first thread that can go on and whose operation is as asked for.
fn find(threads: &Threads<'_>, is_it: impl Fn(&Op) -> bool) -> Option<usize> {
    threads.enabled.iter().position(|thread| is_it(&threads.pending[thread.index()].op))
}

fn is_exit(op: &Op) -> bool {
    op.is_thread() && op.thread() == ThreadOp::Exit
}
