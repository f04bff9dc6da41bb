//! Every execution graph once: depth-first over threads, sources and places, with a set of visited states.
//!
//! Under a weak memory model an execution is a graph: which load reads from which store, and the order of
//! the stores. Many interleavings lead to one graph, and their beginnings already coincide: two runs whose
//! fingerprints agree at a thread point have the same continuations. The second run is given up there.
//!
//! Steps whose time no other thread can observe are taken at once, without trying others before them:
//! fences (their effect is on their own thread), spawns, joins of ended threads, pauses, choices of
//! numbers. Ends of threads are taken at once too, unless the program asks whether a thread has ended; when
//! a run shows that it does, the search begins anew. Stores that read nothing are such steps as well: in
//! every order of an execution's events, a store that follows the earlier events of its thread and reads
//! from no other can be moved to the front. Its place among the stores is a choice of its own, and a later
//! load of the variable can still read an older store.
//!
//! Promise: when it ends, every consistent execution has been run to its end. The limits are the number of
//! different beginnings, and the memory for their fingerprints.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use raddle_core::{
    Action, AtomicOp, Choice, Choices, Chooser, Ending, Event, IdleRounds, Needs, Op, Pending,
    Pick, Point, Schedule, ThreadId, ThreadOp, Threads, Trace,
};
use raddle_results::Search;

use crate::branches::{Branch, Branches};
use crate::classes::Identity;
use crate::refusal::loops;
use crate::{Explorer, Refusal};

/// The search. Inside a run it takes the first option of every point, records the others, and gives the run
/// up in a visited state.
#[derive(Clone, Debug, Default)]
pub struct Graphs {
    branches: Branches<Choice>,
    /// The fingerprints of all states from which a run had several ways to continue.
    visited: HashSet<u64, BuildHasherDefault<Identity>>,
    /// The fingerprint of the current state.
    state: u64,
    /// Whether the program asks if threads have ended, so that the time of an end is observable.
    observes_ends: bool,
    refusal: Option<Refusal>,
    search: Search,
}

impl Explorer for Graphs {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        if !self.branches.advance() {
            return false;
        }
        prefix.clear();
        prefix.extend(self.branches.taken());
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        self.search.points = self.search.points.max(self.branches.depth() as u64);
        self.search.blocked += u64::from(trace.ending == Ending::Abandoned);
        if self.refusal.is_none() {
            self.refusal = loops(trace);
        }
        if !self.observes_ends && asks_for_ends(trace) {
            self.observes_ends = true;
            self.visited.clear();
            self.branches.restart();
        }
    }

    fn restart(&mut self) -> bool {
        *self = Graphs::default();
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal.clone()
    }

    fn search(&self) -> Option<Search> {
        Some(self.search)
    }
}

impl Chooser for Graphs {
    fn needs(&self) -> Needs {
        Needs { fingerprint: true, idle_rounds: IdleRounds::Cut, ..Needs::default() }
    }

    fn at_state(&mut self, fingerprint: u64) {
        self.state = fingerprint;
    }

    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        match at {
            Point::Thread(threads) => return self.choose_thread(threads),
            Point::Value { by, bound } => {
                self.refusal = Refusal::of_choice(by, *bound);
                if self.refusal.is_some() {
                    return Pick::Abandon;
                }
            }
            Point::Source { .. } | Point::Place { .. } => {}
        }
        self.branches.push(Branch::new((0..at.options()).map(|option| at.choice(option))));
        Pick::Take(0)
    }
}

impl Graphs {
    fn choose_thread(&mut self, threads: &Threads<'_>) -> Pick {
        let pending = |thread: &ThreadId| &threads.pending[thread.index()];
        let only = match threads.enabled {
            [_] => Some(0),
            enabled => enabled.iter().position(|thread| self.is_unobserved(pending(thread))),
        };
        let is_forced = |only: usize| !has_choice(&pending(&threads.enabled[only]).op);
        // Where there is one way to continue, the next point shows just as well whether the state was visited.
        if !only.is_some_and(is_forced) && !self.visited.insert(self.state) {
            return Pick::Abandon;
        }
        match only {
            Some(only) => {
                self.branches.push(Branch::only(Choice::Thread(threads.enabled[only])));
                Pick::Take(only)
            }
            None => {
                let threads = threads.enabled.iter().map(|&thread| Choice::Thread(thread));
                self.branches.push(Branch::new(threads));
                Pick::Take(0)
            }
        }
    }

    /// Returns whether no other thread can observe when this operation is performed.
    fn is_unobserved(&self, pending: &Pending) -> bool {
        match pending.op.action() {
            Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. }
            | Action::Atomic(AtomicOp::Store { .. })
            | Action::Thread(ThreadOp::Spawn | ThreadOp::Join) => true,
            Action::Thread(ThreadOp::Exit) => !self.observes_ends,
            Action::Thread(ThreadOp::IsFinished)
            | Action::Atomic(
                AtomicOp::Load { .. } | AtomicOp::Update { .. } | AtomicOp::CompareExchange { .. },
            )
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_) => false,
        }
    }
}

/// Returns whether performing this operation may ask for a choice.
fn has_choice(op: &Op) -> bool {
    op.is_atomic() || op.is_choose()
}

/// Returns whether a thread asked, or is about to ask, if another has ended.
pub(crate) fn asks_for_ends(trace: &Trace) -> bool {
    let asks = |op: &Op| op.is_thread() && op.thread() == ThreadOp::IsFinished;
    trace.events.iter().any(|event| asks(&event.op))
        || trace.pending.iter().any(|pending| asks(&pending.op))
}
