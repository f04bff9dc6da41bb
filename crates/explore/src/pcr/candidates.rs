//! Patterns that other orders of a run's events would exhibit (Alg. 3 of the paper).
//!
//! Candidates are composed from accesses of the run, in any order; the rules filter those that are
//! impossible or lead to nothing new. Deviations: the accesses of a pair to one variable are at most
//! [`REACH`] accesses to it apart; the third access of a pattern is one of the [`NEAR`] before or after
//! the first in its thread; patterns with two variables pair consecutive accesses of a thread only.

use raddle_analysis::{MapCoverage, data_access, number};
use raddle_core::{Access, Effect, Event, EventId, ObjectKind, Trace};

/// The largest distance of two accesses to one variable, in accesses to it.
const REACH: usize = 64;

/// The largest distance of two accesses of one thread to one variable, in its accesses to it.
const NEAR: usize = 2;

/// The number of accesses of a thread that are examined for another variable.
const RECENT: usize = 8;

/// An access of a run.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct SharedAccess {
    pub(crate) position: u32,
    pub(crate) thread: u32,
    pub(crate) object: u32,
    pub(crate) access: Access,
    /// Its number in the coverage.
    pub(crate) number: u32,
    /// The number of earlier accesses of its thread to its object.
    pub(crate) rank: u32,
}

/// The accesses of a run to shared objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    pub(crate) accesses: Vec<SharedAccess>,
    /// By object, and by thread and object.
    by_object: Vec<Vec<u32>>,
    by_both: std::collections::HashMap<(u32, u32), Vec<u32>>,
    by_thread: Vec<Vec<u32>>,
}

/// The threads that access an object.
#[derive(Clone, Debug, Default)]
struct Owner {
    first: Option<u32>,
    is_shared: bool,
    is_written: bool,
}

/// Returns every access of a run, and the pending ones as if they were performed last.
fn accesses(trace: &Trace) -> Vec<(u32, Event, Access)> {
    let events = trace.events.iter().copied();
    let pending = trace.pending.iter().map(|pending| {
        let done = trace.events.iter().filter(|event| event.id.thread == pending.thread).count();
        let id = EventId { thread: pending.thread, index: done as u32 };
        Event { id, op: pending.op, effect: Effect::None, site: pending.site }
    });
    let is_event = |position: usize| position < trace.events.len();
    let access = |(position, event): (usize, Event)| {
        let object = event.op.object();
        let info = trace.objects.get(object.index())?;
        let is_variable = matches!(info.kind, ObjectKind::Atomic(_) | ObjectKind::Cell);
        // An access to a variable never blocks; if it is pending, the run was cut off.
        (is_event(position) || !is_variable).then_some(())?;
        let access = data_access(event.op, event.effect)?;
        Some((position as u32, event, access))
    };
    events.chain(pending).enumerate().filter_map(access).collect()
}

/// Accesses in an order, of a pattern or of none.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    pub(crate) pattern: Option<u8>,
    steps: [SharedAccess; 4],
    length: u8,
}

impl Candidate {
    /// Makes a candidate of these accesses, in this order.
    pub(crate) fn new(steps: &[SharedAccess]) -> Candidate {
        let mut all = [steps[0]; 4];
        all[..steps.len()].copy_from_slice(steps);
        let mut roles = [(0, 0, Access::Read); 4];
        for (role, step) in roles.iter_mut().zip(steps) {
            *role = (step.thread, step.object, step.access);
        }
        let pattern = number(&roles[..steps.len()]);
        Candidate { pattern, steps: all, length: steps.len() as u8 }
    }

    /// Returns the accesses.
    pub(crate) fn steps(&self) -> &[SharedAccess] {
        &self.steps[..usize::from(self.length)]
    }
}

impl Shared {
    /// Returns the accesses of `trace` to objects that several threads access, at least one to write,
    /// including pending accesses to objects other than variables.
    pub(crate) fn new(trace: &Trace, coverage: &mut MapCoverage) -> Shared {
        let accesses = accesses(trace);
        let mut owners = vec![Owner::default(); trace.objects.len()];
        for (_, event, access) in &accesses {
            let owner = &mut owners[event.op.object().index()];
            let thread = event.id.thread.0;
            owner.is_shared |= *owner.first.get_or_insert(thread) != thread;
            owner.is_written |= *access == Access::Update;
        }
        let mut shared = Shared::default();
        shared.by_object.resize(trace.objects.len(), Vec::new());
        for (position, event, access) in &accesses {
            let owner = &owners[event.op.object().index()];
            if owner.is_shared && owner.is_written {
                shared.push(*position, event, *access, coverage);
            }
        }
        shared
    }

    fn push(&mut self, position: u32, event: &Event, access: Access, coverage: &mut MapCoverage) {
        let (thread, object) = (event.id.thread.0, event.op.object().0);
        let index = self.accesses.len() as u32;
        let mine = self.by_both.entry((thread, object)).or_default();
        let rank = mine.len() as u32;
        mine.push(index);
        self.by_object[object as usize].push(index);
        if self.by_thread.len() <= thread as usize {
            self.by_thread.resize(thread as usize + 1, Vec::new());
        }
        self.by_thread[thread as usize].push(index);
        let number = coverage.number(event, access);
        self.accesses.push(SharedAccess { position, thread, object, access, number, rank });
    }

    /// Returns whether threads share nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// Calls `each` with every candidate.
    pub(crate) fn candidates(&self, mut each: impl FnMut(&Candidate)) {
        for list in &self.by_object {
            for (index, &first) in list.iter().enumerate() {
                for &second in list[index + 1..].iter().take(REACH) {
                    let (first, second) = (self.at(first), self.at(second));
                    if first.thread != second.thread {
                        each(&Candidate::new(&[first, second]));
                        each(&Candidate::new(&[second, first]));
                        self.threes(first, second, &mut each);
                        self.threes(second, first, &mut each);
                    }
                }
            }
        }
        self.fours(&mut each);
    }

    fn at(&self, index: u32) -> SharedAccess {
        self.accesses[index as usize]
    }

    /// Returns the access of the same thread to the same object, this many accesses later.
    pub(crate) fn next(&self, access: SharedAccess) -> Option<SharedAccess> {
        let mine = &self.by_both[&(access.thread, access.object)];
        mine.get(access.rank as usize + 1).map(|&index| self.at(index))
    }

    /// Calls `each` with the candidates that begin with `first` and `second`, of another thread.
    fn threes(&self, first: SharedAccess, second: SharedAccess, each: &mut impl FnMut(&Candidate)) {
        let mine = &self.by_both[&(first.thread, first.object)];
        let rank = first.rank as usize;
        let near = rank.saturating_sub(NEAR)..(rank + NEAR + 1).min(mine.len());
        for third in near.filter(|&third| third != rank) {
            each(&Candidate::new(&[first, second, self.at(mine[third])]));
        }
    }

    /// Calls `each` with the candidates of two variables: two consecutive accesses of one thread, and two of
    /// another.
    fn fours(&self, each: &mut impl FnMut(&Candidate)) {
        let pairs: Vec<Vec<(SharedAccess, SharedAccess)>> =
            (0..self.by_thread.len()).map(|thread| self.consecutive(thread)).collect();
        for (thread, mine) in pairs.iter().enumerate() {
            for (other, theirs) in pairs.iter().enumerate() {
                if thread == other {
                    continue;
                }
                for &(a1, a2) in mine {
                    let (low, high) =
                        (a1.position.saturating_sub(REACH as u32), a2.position + REACH as u32);
                    let from = theirs.partition_point(|(b1, _)| b1.position < low);
                    for &(b1, b2) in theirs[from..].iter().take_while(|(b1, _)| b1.position <= high)
                    {
                        let is_same = (b1.object, b2.object) == (a1.object, a2.object);
                        let is_crossed = (b2.object, b1.object) == (a1.object, a2.object);
                        if is_same || is_crossed {
                            each(&Candidate::new(&[a1, b1, b2, a2]));
                            each(&Candidate::new(&[a1, b1, a2, b2]));
                        }
                    }
                }
            }
        }
    }

    /// Returns pairs of accesses of a thread to different objects, with no access to either of them between.
    fn consecutive(&self, thread: usize) -> Vec<(SharedAccess, SharedAccess)> {
        let mine = &self.by_thread[thread];
        let mut pairs = Vec::new();
        for (index, &first) in mine.iter().enumerate() {
            let first = self.at(first);
            let mut passed = Vec::with_capacity(RECENT);
            for &second in mine[index + 1..].iter().take(RECENT) {
                let second = self.at(second);
                if second.object == first.object {
                    break;
                }
                if !passed.contains(&second.object) {
                    pairs.push((first, second));
                    passed.push(second.object);
                }
            }
        }
        pairs
    }
}
