//! One order of locks, as a repair of a deadlock.
//!
//! In the changed program a thread acquires some locks earlier: together with the first lock that comes after them in the
//! order. A run of the program shows that as follows. From the moment that a thread acquires the later lock, it also has
//! those that it would have acquired before, and no other thread acquires them.
//!
//! Promise: the runs that keep to this are those of the changed program, but for runs in which a thread waits while it
//! already has some of the early locks. These add no failure. Nobody can use what the thread has, so they are equivalent to
//! runs in which it acquires all at once; and a thread that has some of the locks waits only for locks that come later in the
//! order, so that such waits come to an end. The latter is checked in every run: who has one of the locks performs nothing
//! that may wait, but for acquisitions of these locks in the order. If a run does otherwise, nothing is claimed.

use std::collections::{HashMap, HashSet};

use raddle_core::locks::{Change, change};
use raddle_core::{
    Action, CondvarOp, Ending, Event, MutexOp, ObjectId, ParkOp, Pending, SemaphoreOp, ThreadId,
    ThreadOp, Trace,
};

use super::causes::{Found, counterparts};
use super::labels::{Deed, Label, Labelled};

/// Locks of a cycle, each of which a thread has while it waits for the next one, and the last thread for the first.
pub(super) struct Cycle {
    /// The locks, in the failing run.
    pub(super) locks: Vec<ObjectId>,
}

/// An order of locks, and how it changes the program.
#[derive(Clone, Default)]
pub(super) struct LockOrder {
    /// The place of each acquired lock in the order.
    ranks: HashMap<Label, usize>,
    /// The locks that a thread has to have before it acquires this one.
    early: HashMap<Label, Vec<usize>>,
    /// What was moved: the acquisition that comes first now, and the one that it came after.
    pub(super) moved: Vec<(Label, Label)>,
    state: State,
    /// Whether a run did what the promise does not allow.
    is_broken: bool,
}

/// What a run has come to.
#[derive(Clone, Default)]
struct State {
    /// By place in the order: the object in this run, if it is known.
    objects: Vec<Option<ObjectId>>,
    /// By place: the thread that has acquired the lock.
    holders: Vec<Option<ThreadId>>,
    /// By place: the thread that has it although it has not acquired it yet.
    early: Vec<Option<ThreadId>>,
    /// What threads did while they had one of the locks.
    done: HashSet<Deed>,
}

impl State {
    fn new(locks: usize) -> State {
        State {
            objects: vec![None; locks],
            holders: vec![None; locks],
            early: vec![None; locks],
            done: HashSet::new(),
        }
    }

    fn has_any(&self, thread: ThreadId) -> bool {
        self.holders.contains(&Some(thread))
    }

    /// Returns whether a thread other than this one has the lock at a place.
    fn is_taken(&self, rank: usize, thread: ThreadId) -> bool {
        [self.holders[rank], self.early[rank]].iter().flatten().any(|holder| *holder != thread)
    }

    fn rank_of(&self, object: ObjectId) -> Option<usize> {
        self.objects.iter().position(|known| *known == Some(object))
    }
}

/// Returns the cycle of mutexes in which a run ends, if it ends in one.
pub(super) fn cycle(run: &Trace) -> Option<Cycle> {
    if run.ending != Ending::Deadlock {
        return None;
    }
    let waits = |thread: ThreadId| {
        let pending = run.pending.iter().find(|pending| pending.thread == thread)?;
        let waits = pending.op.action() == Action::Mutex(MutexOp::Lock);
        waits.then(|| pending.op.object())
    };
    let holdings = raddle_core::locks::Holdings::after(run);
    let holder = |lock: ObjectId| {
        holdings.all().iter().find(|held| held.lock == lock).map(|held| held.thread)
    };
    for first in run.pending.iter().map(|pending| pending.thread) {
        let (mut thread, mut locks) = (first, Vec::new());
        while let Some(lock) = waits(thread) {
            locks.push(lock);
            let Some(next) = holder(lock).filter(|_| locks.len() <= run.pending.len()) else {
                break;
            };
            if next == first {
                let is_cycle = locks.len() > 1;
                return is_cycle.then_some(Cycle { locks });
            }
            thread = next;
        }
    }
    None
}

/// Returns the orders in which the locks of a cycle can be acquired instead, those with the fewest changes first.
pub(super) fn orders(found: &Found, cycle: &Cycle) -> Vec<(Vec<ObjectId>, LockOrder)> {
    let whole = |run: &&Labelled| run.trace.ending == Ending::Finished;
    let Some(run) = found.others().filter(whole).max_by_key(|run| run.trace.events.len()) else {
        return Vec::new();
    };
    let mut orders: Vec<(Vec<ObjectId>, LockOrder)> = (0..cycle.locks.len())
        .map(|first| {
            let mut locks = cycle.locks.clone();
            locks.rotate_left(first);
            let order = order(run, &found.failing, &locks);
            (locks, order)
        })
        .filter(|(_, order)| !order.moved.is_empty())
        .collect();
    orders.sort_by_key(|(_, order)| order.moved.len());
    orders
}

/// Returns what an order changes, as a run shows it.
fn order(run: &Labelled, failing: &Labelled, locks: &[ObjectId]) -> LockOrder {
    let to_failing = counterparts(failing, run);
    let mut order = LockOrder { state: State::new(locks.len()), ..LockOrder::default() };
    let mut held: Vec<(ThreadId, usize, Label)> = Vec::new();
    for (event, &label) in run.trace.events.iter().zip(&run.labels) {
        let object = to_failing.get(&event.op.object());
        let rank = object.and_then(|object| locks.iter().position(|lock| lock == object));
        let (Some(rank), thread) = (rank, event.id.thread) else { continue };
        match change(event) {
            Some(Change::Acquired { .. }) => {
                order.ranks.insert(label, rank);
                let later = held.iter().filter(|one| one.0 == thread && one.1 > rank);
                for (place, (_, _, outer)) in later.enumerate() {
                    order.early.entry(*outer).or_default().push(rank);
                    if place == 0 {
                        order.moved.push((label, *outer));
                    }
                }
                held.push((thread, rank, label));
            }
            Some(Change::Released) => held.retain(|one| (one.0, one.1) != (thread, rank)),
            None => {}
        }
    }
    order
}

impl LockOrder {
    /// Returns what threads do when they acquire one of the locks.
    pub(super) fn deeds(&self) -> impl Iterator<Item = Deed> + '_ {
        self.ranks.keys().map(|label| label.deed)
    }

    /// Returns whether every run kept to what the promise needs.
    pub(super) fn is_kept(&self) -> bool {
        !self.is_broken
    }

    /// Begins a run.
    pub(super) fn begin(&mut self) {
        self.state = State::new(self.state.objects.len());
    }

    /// Returns whether a thread has to wait before it does this. `label` is known of what the order names.
    pub(super) fn holds(&self, pending: &Pending, label: Option<Label>) -> bool {
        if pending.op.action() != Action::Mutex(MutexOp::Lock) {
            return false;
        }
        let rank = label.and_then(|label| self.ranks.get(&label).copied());
        let rank = rank.or_else(|| self.state.rank_of(pending.op.object()));
        let early = label.and_then(|label| self.early.get(&label)).into_iter().flatten().copied();
        rank.into_iter().chain(early).any(|rank| self.state.is_taken(rank, pending.thread))
    }

    /// Advances by an event. `label` is known of what the order names.
    pub(super) fn observe(&mut self, event: &Event, deed: Deed, label: Option<Label>) {
        let (thread, object) = (event.id.thread, event.op.object());
        let rank = label.and_then(|label| self.ranks.get(&label).copied());
        if let Some(rank) = rank {
            let known = *self.state.objects[rank].get_or_insert(object);
            // The order would be one of other locks.
            self.is_broken |= known != object;
        }
        let rank = rank.or_else(|| self.state.rank_of(object));
        match (change(event), rank) {
            (Some(Change::Acquired { blocks, .. }), Some(rank)) => {
                let comes_later = |held: &usize| self.state.holders[*held] == Some(thread);
                let is_in_order = self.state.early[rank] == Some(thread)
                    || !(rank + 1..self.state.holders.len()).any(|held| comes_later(&held));
                self.is_broken |= !blocks || !is_in_order;
                self.state.holders[rank] = Some(thread);
                self.state.early[rank] = None;
                for &early in label.and_then(|label| self.early.get(&label)).into_iter().flatten() {
                    if self.state.holders[early] != Some(thread) {
                        self.state.early[early] = Some(thread);
                    }
                }
            }
            (Some(Change::Released), Some(rank)) => {
                self.state.holders[rank] = None;
                if !self.state.has_any(thread) {
                    let own = self.state.early.iter_mut().filter(|holder| **holder == Some(thread));
                    own.for_each(|holder| *holder = None);
                    self.state.done.retain(|done| done.thread != thread);
                }
            }
            _ => {
                let is_repeated = self.state.has_any(thread) && !self.state.done.insert(deed);
                self.is_broken |= self.state.has_any(thread) && (is_repeated || may_wait(event));
            }
        }
        let is_tried = event.op.action() == Action::Mutex(MutexOp::TryLock);
        self.is_broken |= is_tried && rank.is_some();
    }
}

/// Returns whether an operation may wait for another thread. Loops that wait are recognised by what they repeat.
fn may_wait(event: &Event) -> bool {
    match event.op.action() {
        Action::Thread(op) => match op {
            ThreadOp::Join => true,
            ThreadOp::Spawn | ThreadOp::Exit | ThreadOp::IsFinished => false,
        },
        Action::Mutex(op) => op == MutexOp::Lock,
        Action::Condvar(op) => !matches!(op, CondvarOp::NotifyOne | CondvarOp::NotifyAll),
        Action::Park(op) => op != ParkOp::Unpark,
        Action::Semaphore(op) => op != SemaphoreOp::Post,
        Action::Atomic(_) | Action::Cell(_) | Action::Fence(_) | Action::Choose { .. } => false,
        Action::RwLock(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Channel(_)
        | Action::Futex(_)
        | Action::Pause(_) => true,
    }
}
