//! Every execution graph once: depth-first over threads, sources and places, with a memory of where it
//! has been.
//!
//! Under a weak memory model an execution is a graph: who read from whom, and the order of the stores.
//! Many interleavings lead to one graph, and already its beginnings meet: two runs whose fingerprints
//! agree at a thread point have the same ways to go on. Nothing is branched off the second from there on.
//! It is led to its end if that is near, because unwinding threads takes longer than a few steps, and
//! given up otherwise.
//!
//! Steps that nobody else can tell the time of are taken at once, without trying others before them:
//! fences (their effect is on their own thread), spawns, joins of ended threads, pauses, choices of
//! numbers. Ends of threads are, too, unless the program asks whether a thread has ended; when a run
//! shows that it does, the search begins anew. Stores that read nothing are such steps as well: in whatever
//! order an execution's events are taken, one that comes after all that its thread did before it and
//! reads from nobody can as well come first. Its place among the stores is a choice of its own, and whoever reads the variable
//! later can still read an older store.
//!
//! Promise: when it ends, every consistent execution has been run to its end. The number of different
//! beginnings is the limit; memory for their fingerprints is needed.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use raddle_core::{
    Action, AtomicOp, Choice, Chooser, Event, Op, Pending, Pick, Plan, Point, ThreadId, ThreadOp,
    Threads, Trace,
};
use raddle_results::Search;

use crate::branches::{Branch, Branches};
use crate::classes::AsItIs;
use crate::refusal::circles;
use crate::{Explorer, Refusal};

/// A run that has come to where another was may make so many steps to its end.
const NEAR: u32 = 64;

/// A memory of more beginnings is not kept after the search.
const MOST_KEPT: usize = 1024;

/// The search.
#[derive(Clone, Debug, Default)]
pub struct Graphs {
    branches: Branches<Choice>,
    refusal: Option<Refusal>,
    search: Search,
}

/// Takes the first option everywhere, remembers the others, and gives up where it has been.
#[derive(Clone, Debug, Default)]
pub struct GraphsChooser {
    met: Vec<Branch<Choice>>,
    visited: HashSet<u64, BuildHasherDefault<AsItIs>>,
    standing: u64,
    /// Whether somebody asks whether threads have ended, so that it matters when they do.
    minds_ends: bool,
    refusal: Option<Refusal>,
    /// If this run has come to where another was, how many steps it may still make.
    left: Option<u32>,
}

impl Chooser for GraphsChooser {
    const WATCHES_CHANGES: bool = false;
    const WATCHES_FINGERPRINT: bool = true;

    fn stand(&mut self, fingerprint: u64) {
        self.standing = fingerprint;
    }

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        if self.left.is_some() {
            return self.lead_out(at);
        }
        match at {
            Point::Thread(threads) => return self.choose_thread(threads, past),
            Point::Value { by, bound } => {
                self.refusal = Refusal::of_choice(by, *bound);
                if self.refusal.is_some() {
                    return Pick::Abandon;
                }
            }
            Point::Source { .. } | Point::Place { .. } => {}
        }
        self.met.push(Branch::new((0..at.options()).map(|option| at.choice(option))));
        Pick::Take(0)
    }

    fn choose_thread(&mut self, at: &Threads<'_>, _past: &[Event]) -> Pick {
        if self.left.is_some() {
            return self.lead_out(&Point::Thread(*at));
        }
        let pending = |thread: &ThreadId| &at.pending[thread.index()];
        let only = match at.enabled {
            [_] => Some(0),
            enabled => enabled.iter().position(|thread| self.is_private(pending(thread))),
        };
        let is_forced = |only: usize| !asks(&pending(&at.enabled[only]).op);
        // Where there is one way to go, the next point shows as well whether another run was here.
        if !only.is_some_and(is_forced) && !self.visited.insert(self.standing) {
            self.left = Some(NEAR);
            return self.lead_out(&Point::Thread(*at));
        }
        // Each is pushed where it is made: put together elsewhere, it would be copied by wider moves than it was
        // written by.
        match only {
            Some(only) => {
                self.met.push(Branch::only(Choice::Thread(at.enabled[only])));
                Pick::Take(only)
            }
            None => {
                self.met.push(Branch::new(at.enabled.iter().map(|&thread| Choice::Thread(thread))));
                Pick::Take(0)
            }
        }
    }
}

impl GraphsChooser {
    /// Goes on by any way, with the newest of everything.
    fn lead_out(&mut self, at: &Point<'_>) -> Pick {
        match &mut self.left {
            Some(0) => return Pick::Abandon,
            Some(left) => *left -= 1,
            None => {}
        }
        Pick::Take(match at {
            Point::Thread(_) | Point::Value { .. } => 0,
            Point::Source { options, .. } | Point::Place { options, .. } => options.len() - 1,
        })
    }

    /// Whether nobody can tell when this is performed.
    fn is_private(&self, pending: &Pending) -> bool {
        match pending.op.action() {
            Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. }
            | Action::Atomic(AtomicOp::Store { .. })
            | Action::Thread(ThreadOp::Spawn | ThreadOp::Join) => true,
            Action::Thread(ThreadOp::Exit) => !self.minds_ends,
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
            | Action::Channel(_) => false,
        }
    }
}

impl Explorer for Graphs {
    type Then = GraphsChooser;

    fn chooser(&self) -> GraphsChooser {
        // Enough for a small test, so that a check of it need not grow them.
        GraphsChooser {
            met: Vec::with_capacity(16),
            visited: HashSet::with_capacity_and_hasher(14, BuildHasherDefault::default()),
            ..GraphsChooser::default()
        }
    }

    fn renew(&self, used: &mut GraphsChooser) {
        used.met.clear();
        used.visited.clear();
        used.standing = 0;
        used.minds_ends = false;
        used.refusal = None;
        used.left = None;
    }

    fn next(&mut self, plan: &mut Plan<GraphsChooser>) -> bool {
        if !self.branches.advance() {
            return false;
        }
        plan.prefix.clear();
        plan.prefix.extend(self.branches.taken());
        true
    }

    fn learn(&mut self, _run: u64, trace: &Trace, plan: &mut Plan<GraphsChooser>) {
        self.branches.append(&mut plan.then.met);
        self.search.points = self.search.points.max(self.branches.depth() as u64);
        self.search.blocked += u64::from(plan.then.left.take().is_some());
        self.refusal = plan.then.refusal.or_else(|| circles(trace));
        if !plan.then.minds_ends && asks_for_ends(trace) {
            plan.then.minds_ends = true;
            plan.then.visited.clear();
            self.branches = Branches::default();
        }
    }

    fn finish(&mut self, plan: &mut Plan<GraphsChooser>) {
        self.branches.leave(&mut plan.then.met);
        if plan.then.visited.capacity() > MOST_KEPT {
            plan.then.visited = HashSet::default();
        }
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    fn search(&self) -> Option<Search> {
        Some(self.search)
    }
}

/// Whether there may be a choice when this is performed.
fn asks(op: &Op) -> bool {
    op.is_atomic() || op.is_choose()
}

/// Whether a thread asks, or is about to ask, whether another has ended.
fn asks_for_ends(trace: &Trace) -> bool {
    let asks = |op: &Op| op.is_thread() && op.thread() == ThreadOp::IsFinished;
    trace.events.iter().any(|event| asks(&event.op))
        || trace.pending.iter().any(|pending| asks(&pending.op))
}
