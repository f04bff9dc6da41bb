//! Probabilistic concurrency testing for weak memory (Gao, Chakraborty and Kulahcioglu Ozkan, ASPLOS
//! 2023), Algorithms 1 and 2.
//!
//! Threads have random priorities and the highest enabled one runs. Of the k_com communication events of
//! a run (sequentially consistent accesses, reads, acquire fences, and what acquires from other objects)
//! d are drawn as sinks, in an order: when the i-th communication event that is announced is the j-th
//! sink, its thread drops to the j-th highest of d priorities below all others, so that the sinks come
//! last, in the order drawn. A sink reads uniformly among the h newest stores that it can read. Every
//! other read stays with its thread's view, the oldest store that it can read.
//!
//! Promise: a bug that shows as soon as d events communicate, each with one of the h newest stores, is hit
//! with probability at least 1/(C(k_com, d)·d!·h^d), if the run has at most k_com communication events. It
//! starts with the second run if k_com is learnt. Runs in which the livelock rule was needed or a store's
//! place was drawn do not count.
//!
//! Livelock rule: a thread that has only read for a while drops below all others, and reads from among the
//! h newest stores until it changes something.
//!
//! Spawns are performed at once, whatever the priorities: the threads of the paper's programs exist from
//! the beginning, and only their order is drawn. With a priority for spawning, a thread that is spawned
//! early would run first more often than others; of a barrier's four threads, the first in half of all
//! runs instead of a quarter.
//!
//! Deviations:
//! - Reads of a thread that spins are not counted, and are no sinks. Otherwise the longest wait would
//!   determine k_com, and hardly a sink would be anywhere else.
//! - A sink is not counted again when it is performed.
//! - The place of a store that can precede others (in the paper, their order is decided later) is drawn
//!   uniformly.
//! - If a run has fewer communication events than d, all of them are sinks.

use alloc::format;
use alloc::vec::Vec;

use raddle_core::{
    Action, AtomicOp, BarrierOp, ChannelOp, Choices, Chooser, CondvarOp, Ending, Event, FutexOp,
    Guarantee, MutexOp, OnceOp, Op, Order, ParkOp, Pick, Point, RwLockOp, SemaphoreOp, ThreadId,
    ThreadOp, Threads, Trace,
};

use crate::{Rng, Sampler};

/// A thread that makes this many steps without changing anything spins.
const SPIN_STEPS: u32 = 12;

/// A thread that yields this often without changing anything spins.
const SPIN_YIELDS: u32 = 3;

/// Reads of a thread that has yielded this often are not counted.
const UNCOUNTED_YIELDS: u32 = 2;

/// A thread that makes this many steps in a row while others are enabled spins, too.
const HOG_STEPS: u32 = 2000;

/// Below the priorities of sinks, above those of threads that spun.
const SPUN: u64 = 1 << 32;

/// The chooser for weak memory.
#[derive(Clone, Debug)]
pub struct Pctwm {
    depth: u32,
    history: u32,
    /// k_com: given, or the maximum of earlier runs.
    events: Events,
    /// The number of runs for which the promise holds.
    qualifying: u64,
    rng: Rng,
    /// By thread. Invariant: pairwise distinct.
    priority: Vec<u64>,
    /// The numbers of the communication events that are sinks, from one, in the order drawn.
    sinks: Vec<usize>,
    /// Whether the sinks are drawn anew for each run.
    redraws: Redraws,
    /// The number of communication events announced so far.
    count: usize,
    /// By thread.
    threads: Vec<State>,
    /// The number of events already handled.
    seen: usize,
    /// The lowest priority given to a thread that spun.
    lowest: u64,
    /// Whether the promise holds for this run.
    qualifies: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Events {
    Given(usize),
    Learnt(usize),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Redraws {
    EachRun,
    Never,
}

#[derive(Copy, Clone, Default, Debug)]
struct State {
    /// The number of events it has performed.
    performed: u32,
    /// The number, from one, of its last event that was counted as a communication event.
    counted: u32,
    /// The number, from one, of its last event that is a sink.
    sink: u32,
    /// The steps since it changed something or began to run.
    idle: u32,
    /// The yields among them.
    pauses: u32,
    /// The steps since another thread made one.
    alone: u32,
    /// Whether it has spun, and has not changed anything since.
    has_spun: bool,
}

impl Pctwm {
    /// Makes a chooser for bugs of this depth, with reads of the `history` newest stores, at least one.
    pub fn new(depth: u32, history: u32) -> Pctwm {
        Pctwm::with(depth, history, Events::Learnt(0))
    }

    /// Makes a chooser as [`Pctwm::new`] does, with k_com given: at least `depth`.
    pub fn with_events(depth: u32, history: u32, events: usize) -> Pctwm {
        assert!(events >= depth as usize, "there are at least as many events as sinks");
        Pctwm::with(depth, history, Events::Given(events))
    }

    /// Makes a chooser whose sinks are the same in all runs: the communication events with these numbers,
    /// from one, in this order. It promises nothing.
    pub fn with_sinks(history: u32, sinks: &[usize]) -> Pctwm {
        let events = sinks.iter().copied().max().unwrap_or(0);
        let mut chooser = Pctwm::with(sinks.len() as u32, history, Events::Given(events));
        chooser.sinks = sinks.to_vec();
        chooser.redraws = Redraws::Never;
        chooser
    }

    fn with(depth: u32, history: u32, events: Events) -> Pctwm {
        assert!(history > 0, "a read has at least one store to read");
        Pctwm {
            depth,
            history,
            events,
            qualifying: 0,
            rng: Rng::new(0),
            priority: Vec::new(),
            sinks: Vec::new(),
            redraws: Redraws::EachRun,
            count: 0,
            threads: Vec::new(),
            seen: 0,
            lowest: SPUN,
            qualifies: false,
        }
    }

    /// Returns k_com.
    pub fn events(&self) -> usize {
        match self.events {
            Events::Given(events) | Events::Learnt(events) => events,
        }
    }

    /// Handles the events since the last thread point.
    fn catch_up(&mut self, past: &[Event]) {
        for event in &past[self.seen..] {
            let thread = event.id.thread;
            let changes = !event.op.is_pause()
                && event.op.object() != raddle_core::ObjectId::NONE
                && event.access().changes();
            for (other, state) in self.threads.iter_mut().enumerate() {
                if other != thread.index() {
                    state.alone = 0;
                }
            }
            let state = self.state(thread);
            state.performed = event.id.index + 1;
            state.alone += 1;
            state.idle += 1;
            state.pauses += u32::from(event.op.has_yielded(event.effect));
            if changes {
                (state.idle, state.pauses, state.has_spun) = (0, 0, false);
            }
        }
        self.seen = past.len();
    }

    fn state(&mut self, thread: ThreadId) -> &mut State {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, State::default());
        }
        &mut self.threads[thread.index()]
    }

    fn priority(&mut self, thread: ThreadId) -> u64 {
        while self.priority.len() <= thread.index() {
            // Above every sink's, and distinct by the thread's number.
            let random = (1 << 63) | (self.rng.bits() >> 1 & !0xffff_ffff);
            self.priority.push(random | self.priority.len() as u64);
        }
        self.priority[thread.index()]
    }

    fn highest(&mut self, threads: &Threads<'_>) -> usize {
        let mut best = (0, 0);
        for (option, &thread) in threads.enabled.iter().enumerate() {
            let priority = self.priority(thread);
            if priority > best.1 {
                best = (option, priority);
            }
        }
        best.0
    }

    fn choose_thread(&mut self, threads: &Threads<'_>) -> usize {
        let spawns = |thread: &ThreadId| {
            let op = threads.pending[thread.index()].op;
            op.is_thread() && op.thread() == ThreadOp::Spawn
        };
        if let Some(option) = threads.enabled.iter().position(spawns) {
            return option;
        }
        loop {
            let option = self.highest(threads);
            let thread = threads.enabled[option];
            let state = *self.state(thread);
            let next = state.performed + 1;
            let op = threads.pending[thread.index()].op;
            if communicates(op) && state.counted != next {
                self.state(thread).counted = next;
                if state.has_spun || state.pauses >= UNCOUNTED_YIELDS {
                    self.qualifies = false;
                } else {
                    self.count += 1;
                    if let Some(rank) = self.sinks.iter().position(|&sink| sink == self.count) {
                        let priority = SPUN + (self.sinks.len() - rank) as u64;
                        self.priority[thread.index()] = priority;
                        self.state(thread).sink = next;
                        continue;
                    }
                }
            }
            let hogs = threads.enabled.len() > 1 && state.alone >= HOG_STEPS;
            // Also if no other thread is enabled: the store it waits for may exist outside its view.
            if state.idle >= SPIN_STEPS || state.pauses >= SPIN_YIELDS || hogs {
                self.qualifies = false;
                self.lowest -= 1;
                self.priority[thread.index()] = self.lowest;
                let state = self.state(thread);
                (state.idle, state.pauses, state.alone) = (0, 0, 0);
                state.has_spun = true;
                continue;
            }
            return option;
        }
    }

    /// Returns the store that a read by `thread` gets. The newest is the last option.
    fn choose_source(&mut self, thread: ThreadId, options: usize) -> usize {
        let state = *self.state(thread);
        if state.has_spun || state.sink == state.performed + 1 {
            options - 1 - self.rng.below(options.min(self.history as usize))
        } else {
            0
        }
    }
}

impl Chooser for Pctwm {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        if self.seen != past.len() {
            self.catch_up(past);
        }
        Pick::Take(match at {
            Point::Thread(threads) => self.choose_thread(threads),
            Point::Source { by, options } => self.choose_source(by.thread, options.len()),
            Point::Place { options, .. } => {
                self.qualifies = false;
                self.rng.below(options.len())
            }
            Point::Value { .. } => self.rng.below(at.options()),
        })
    }
}

impl Sampler for Pctwm {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.priority.clear();
        self.threads.clear();
        self.count = 0;
        self.seen = 0;
        self.lowest = SPUN;
        if self.redraws == Redraws::Never {
            self.qualifies = false;
            return;
        }
        // The first of a shuffled 1..=k_com.
        let events = self.events();
        self.qualifies = events > 0 && events >= self.depth as usize;
        self.sinks.clear();
        for _ in 0..(self.depth as usize).min(events) {
            loop {
                let sink = 1 + self.rng.below(events);
                if !self.sinks.contains(&sink) {
                    self.sinks.push(sink);
                    break;
                }
            }
        }
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn learn(&mut self, trace: &Trace) {
        let whole = matches!(trace.ending, Ending::Finished | Ending::Deadlock | Ending::Stopped);
        if self.qualifies && whole && self.count <= self.events() {
            self.qualifying += 1;
        }
        if let Events::Learnt(most) = &mut self.events {
            // The promise depends on the number of events.
            if self.count > *most {
                *most = self.count;
                self.qualifying = 0;
            }
        }
    }

    fn guarantees(&self) -> Vec<Guarantee> {
        if self.qualifying == 0 {
            return Vec::new();
        }
        let sinks = (0..self.depth).map(|sink| (self.events() - sink as usize) as f64);
        let ways: f64 = sinks.map(|sinks| sinks * f64::from(self.history)).product();
        // (1 − 1/ways)^runs, without a power function.
        let mut escape = 1.0;
        let (mut factor, mut runs) = (1.0 - 1.0 / ways, self.qualifying);
        while runs > 0 {
            if runs & 1 == 1 {
                escape *= factor;
            }
            factor *= factor;
            runs >>= 1;
        }
        Vec::from([Guarantee {
            strategy: format!("pctwm:{}:{}", self.depth, self.history),
            depth: self.depth,
            threads: self.threads.len() as u32,
            steps: self.events() as u64,
            in_one_phase: false,
            history: Some(self.history),
            runs: self.qualifying,
            escape,
        }])
    }
}

/// Returns whether an operation can pass effects of other threads to its own.
fn communicates(op: Op) -> bool {
    match op.action() {
        Action::Atomic(op) => match op {
            AtomicOp::Load { .. } | AtomicOp::Update { .. } | AtomicOp::CompareExchange { .. } => {
                true
            }
            AtomicOp::Store { order, .. } => order == Order::SeqCst,
        },
        Action::Fence(order) => order.acquires(),
        Action::Mutex(op) => matches!(op, MutexOp::Lock | MutexOp::TryLock),
        Action::RwLock(op) => match op {
            RwLockOp::Read | RwLockOp::TryRead | RwLockOp::Write | RwLockOp::TryWrite => true,
            RwLockOp::UnlockRead | RwLockOp::UnlockWrite => false,
        },
        Action::Condvar(op) => matches!(op, CondvarOp::Consume { .. }),
        Action::Barrier(op) => matches!(op, BarrierOp::Leave { .. }),
        Action::Once(op) => matches!(op, OnceOp::Begin | OnceOp::IsComplete),
        Action::Park(op) => matches!(op, ParkOp::Park { .. }),
        Action::Channel(op) => match op {
            ChannelOp::Receive { .. } | ChannelOp::TryReceive | ChannelOp::AwaitTaken { .. } => {
                true
            }
            ChannelOp::Send
            | ChannelOp::TrySend
            | ChannelOp::CloseSenders
            | ChannelOp::CloseReceiver => false,
        },
        Action::Semaphore(op) => match op {
            SemaphoreOp::Wait { .. } | SemaphoreOp::TryWait | SemaphoreOp::Value => true,
            SemaphoreOp::Post => false,
        },
        Action::Futex(op) => matches!(op, FutexOp::Consume { .. } | FutexOp::Look),
        // A join always follows the end of its thread.
        Action::Thread(op) => op == ThreadOp::IsFinished,
        Action::Cell(_) | Action::Pause(_) | Action::Choose { .. } => false,
    }
}
