//! Selectively uniform random walk (Zhao et al., ASPLOS 2025).
//!
//! In each run one object is of interest, drawn with a probability proportional to its accesses. A
//! thread that is about to access it is held back unless it is the intended one, which is drawn by the
//! number of accesses that each thread (including those it will still spawn) has left. All other
//! operations have random priorities, drawn again for a thread after each of its steps.
//!
//! Promise: if the numbers are right and no thread blocks, all orders of the accesses to the object of
//! interest have equal probability.
//!
//! Deviations:
//! - The numbers come from the first run, so the promise starts with the second. A thread that is about
//!   to access the object counts as having at least one access left.
//! - Objects have other ids in every run. The object of interest is recognised by the first operation on
//!   it that has the thread and the position of an operation on it in the first run. If the program does
//!   something else there, another object is of interest in that run, which does no harm.
//! - Objects that only one thread uses, and the lives of threads, are never of interest.
//! - Looks that a thread repeats while it waits in a loop are no accesses, see [`Repeats`].
//! - Threads that spin may wait for one that is held back. If no thread accesses the object for as many
//!   steps as the first run had, none is of interest for the rest of the run.

use alloc::vec::Vec;

use raddle_core::{
    Choices, Chooser, Effect, Event, ObjectId, ObjectKind, Pending, Pick, Point, ThreadId,
    ThreadOp, Threads, Trace,
};

use crate::repeats::Repeats;
use crate::{Rng, Sampler};

/// The chooser for one object at a time.
#[derive(Clone, Debug)]
pub struct Surw {
    rng: Rng,
    profile: Profile,
    /// The profile's object that is of interest.
    interest: Option<usize>,
    /// The id of that object in this run, once it is known.
    object: Option<ObjectId>,
    /// By thread: the accesses left, including those of threads still to be spawned.
    left: Vec<u64>,
    /// By thread: its priority.
    rank: Vec<u64>,
    /// By thread: whether it is held back because another one is intended.
    held: Vec<bool>,
    /// By thread: the number of events it has performed.
    done: Vec<u32>,
    intended: Option<ThreadId>,
    /// The number of steps since the object was accessed.
    idle: usize,
    seen: usize,
    repeats: Repeats,
}

/// What is known from the first run.
#[derive(Clone, Debug, Default)]
struct Profile {
    /// By thread and position: the object.
    touched: Vec<Vec<ObjectId>>,
    /// The objects that several threads accessed.
    objects: Vec<Interest>,
    /// The accesses to all of them.
    accesses: usize,
    /// The number of steps of the run.
    steps: usize,
    /// By thread: its parent.
    parent: Vec<ThreadId>,
}

/// An object that may be of interest.
#[derive(Clone, Debug)]
struct Interest {
    object: ObjectId,
    accesses: usize,
    /// By thread: the number of its accesses.
    by: Vec<u64>,
}

impl Default for Surw {
    fn default() -> Surw {
        Surw {
            rng: Rng::new(0),
            profile: Profile::default(),
            interest: None,
            object: None,
            left: Vec::new(),
            rank: Vec::new(),
            held: Vec::new(),
            done: Vec::new(),
            intended: None,
            idle: 0,
            seen: 0,
            repeats: Repeats::default(),
        }
    }
}

impl Surw {
    fn make_room(&mut self, threads: usize) {
        let room = self.rank.len().max(threads);
        self.left.resize(room, 0);
        self.held.resize(room, false);
        self.done.resize(room, 0);
        while self.rank.len() < room {
            let rank = self.rng.bits();
            self.rank.push(rank);
        }
    }

    /// Handles the events since the last point.
    fn count(&mut self, past: &[Event]) {
        for event in &past[self.seen.min(past.len())..] {
            let thread = event.id.thread.index();
            self.done[thread] += 1;
            self.rank[thread] = self.rng.bits();
            let is_repeated = self.repeats.note(event);
            if self.object == Some(event.op.object()) {
                let accesses = u64::from(!is_repeated);
                self.left[thread] = self.left[thread].saturating_sub(accesses);
                self.intended = None;
                self.idle = 0;
                self.held.fill(false);
            }
            self.idle += 1;
            if event.op.is_thread() {
                if let (ThreadOp::Spawn, Effect::Value(child)) = (event.op.thread(), event.effect) {
                    self.divide(event.id.thread, ThreadId(child as u32));
                }
            }
        }
        self.seen = past.len();
    }

    /// Handles a spawn: the accesses of the child, and the intention, were counted with its parent.
    fn divide(&mut self, parent: ThreadId, child: ThreadId) {
        let all = self.left[parent.index()];
        let of_child = self.left[child.index()].min(all);
        self.left[parent.index()] = all - of_child;
        if self.intended == Some(parent) && (self.rng.below(all.max(1) as usize) as u64) < of_child
        {
            self.intended = Some(child);
        }
    }

    /// Returns whether this is an access to the object of interest.
    fn is_of_interest(&mut self, pending: &Pending) -> bool {
        let Some(interest) = self.interest else { return false };
        let object = pending.op.object();
        // In another run, the life of a thread may be at the position of the object.
        if object == ObjectId::NONE || pending.op.is_thread() {
            return false;
        }
        match self.object {
            Some(known) => known == object,
            None => {
                let thread = pending.thread.index();
                let touched = self.profile.touched.get(thread);
                let there = touched.and_then(|all| all.get(self.done[thread] as usize));
                let found = there == Some(&self.profile.objects[interest].object);
                if found {
                    self.object = Some(object);
                }
                found
            }
        }
    }

    /// Returns the option with the highest priority among the threads that are not held back and that `may`
    /// run. `None` if there is none.
    fn highest(&self, enabled: &[ThreadId], may: impl Fn(ThreadId) -> bool) -> Option<usize> {
        let mut best: Option<(usize, u64)> = None;
        for (option, &thread) in enabled.iter().enumerate() {
            let rank = self.rank[thread.index()];
            let is_better = best.is_none_or(|(_, other)| rank > other);
            if is_better && !self.held[thread.index()] && may(thread) {
                best = Some((option, rank));
            }
        }
        best.map(|(option, _)| option)
    }

    /// Returns the next option if only the intended thread may access the object. Holds back the threads of
    /// higher priority that are about to access it.
    fn hold_back(&mut self, threads: &Threads<'_>) -> Option<usize> {
        let (object, intended) = (self.object, self.intended);
        let may = |thread: ThreadId| {
            let pending = &threads.pending[thread.index()];
            Some(pending.op.object()) != object || Some(thread) == intended
        };
        let next = self.highest(threads.enabled, may);
        let rank = next.map(|option| self.rank[threads.enabled[option].index()]);
        for &thread in threads.enabled {
            if !may(thread) && rank.is_none_or(|rank| self.rank[thread.index()] > rank) {
                self.held[thread.index()] = true;
            }
        }
        next
    }

    /// Ends the interest in an object for this run: threads seem to wait for one that is held back.
    #[cold]
    fn give_up(&mut self) {
        (self.interest, self.object, self.intended) = (None, None, None);
        self.held.fill(false);
    }

    /// Draws the thread that is to access the object next.
    fn intend(&mut self, pending: &[Pending]) -> Option<ThreadId> {
        let (object, left, done) = (self.object, &self.left, &self.done);
        let weight = |pending: &Pending| {
            let thread = pending.thread.index();
            let left = left[thread];
            if object == Some(pending.op.object()) && pending.enabled {
                // The thread is about to access the object, whatever was counted.
                left.max(1)
            } else if done[thread] > 0 || pending.enabled {
                left
            } else {
                // A thread that is not spawned yet is counted with its parent.
                0
            }
        };
        let total: u64 = pending.iter().map(weight).sum();
        let drawn = self.rng.below(total.max(1) as usize) as u64;
        let mut sum = 0;
        let thread = pending.iter().find(|pending| {
            sum += weight(pending);
            drawn < sum
        });
        thread.map(|pending| pending.thread)
    }
}

impl Chooser for Surw {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        self.make_room(threads.pending.len());
        self.count(past);
        if self.idle > self.profile.steps && self.interest.is_some() {
            self.give_up();
        }
        loop {
            if let Some(best) = self.highest(threads.enabled, |_| true) {
                let thread = threads.enabled[best];
                if !self.is_of_interest(&threads.pending[thread.index()]) {
                    return Pick::Take(best);
                }
                if self.intended.is_none() {
                    self.intended = self.intend(threads.pending);
                }
                if let Some(next) = self.hold_back(threads) {
                    return Pick::Take(next);
                }
            }
            // The intended thread cannot reach the object.
            self.held.fill(false);
            self.intended = None;
        }
    }
}

impl Sampler for Surw {
    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.object = None;
        self.intended = None;
        self.idle = 0;
        self.seen = 0;
        self.repeats.clear();
        self.rank.clear();
        self.left.clear();
        self.held.clear();
        self.done.clear();
        self.interest = None;
        let Profile { objects, accesses, parent, .. } = &self.profile;
        if *accesses == 0 {
            return;
        }
        let mut drawn = self.rng.below(*accesses);
        let interest = objects.iter().position(|object| {
            let here = drawn < object.accesses;
            drawn = drawn.wrapping_sub(object.accesses);
            here
        });
        self.interest = interest;
        let Some(interest) = interest else { return };
        self.left.extend_from_slice(&objects[interest].by);
        for child in (1..self.left.len()).rev() {
            let parent = parent[child].index();
            if parent < child {
                self.left[parent] += self.left[child];
            }
        }
        self.make_room(self.left.len());
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn learn(&mut self, trace: &Trace) {
        if !self.profile.touched.is_empty() {
            return;
        }
        let profile = &mut self.profile;
        profile.steps = trace.events.len();
        let threads = trace.threads.iter().map(|info| info.id.index() + 1).max().unwrap_or(1);
        profile.touched.resize(threads, Vec::new());
        profile.parent.resize(threads, ThreadId::MAIN);
        for info in &trace.threads {
            profile.parent[info.id.index()] = info.parent;
        }
        let mut by = alloc::vec![alloc::vec![0u64; threads]; trace.objects.len()];
        let mut repeats = Repeats::default();
        for event in &trace.events {
            let object = event.op.object();
            profile.touched[event.id.thread.index()].push(object);
            let is_repeated = repeats.note(event);
            if let Some(by) = by.get_mut(object.index()).filter(|_| !is_repeated) {
                by[event.id.thread.index()] += 1;
            }
        }
        for (number, by) in by.into_iter().enumerate() {
            let is_life = matches!(trace.objects[number].kind, ObjectKind::Thread(_));
            if !is_life && by.iter().filter(|&&accesses| accesses > 0).count() > 1 {
                let accesses = by.iter().sum::<u64>() as usize;
                profile.accesses += accesses;
                profile.objects.push(Interest { object: ObjectId(number as u32), accesses, by });
            }
        }
    }
}
