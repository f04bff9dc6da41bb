//! All runs that respect constraints.
//!
//! A depth-first search over thread points that gives runs up in states that were visited, as `graphs.rs` does. `dpor`
//! cannot be used: a panic cuts its run off, so that reversals with steps that never happened are not seen.
//!
//! Operations that no other thread can observe are taken at once. The promise holds under sequential consistency.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use raddle_core::{
    Action, Choice, Choices, Chooser, Ending, Event, Needs, ObjectId, Pending, Pick, Point,
    ThreadOp, Threads, Trace,
};

use super::guide::Guide;
use super::{Outcome, Trials};
use crate::branches::{Branch, Branches};
use crate::classes::Identity;
use crate::graphs::asks_for_ends;

/// Numbers with more values are not enumerated.
const MAX_VALUES: usize = 64;

/// What a sweep came to.
pub(super) enum Swept {
    /// All runs come to what was expected. This many were made to their end.
    All(u64),
    /// The last run comes to something else, or could not continue.
    Counterexample,
    /// Not all runs could be made.
    Unfinished,
}

/// Searches all runs that respect the constraints of `guide`, until one does not come to what is expected of all.
pub(super) fn sweep(trials: &mut dyn Trials, guide: &mut Guide<'_>, expected: Outcome) -> Swept {
    let mut search = Sweep {
        guide,
        branches: Branches::default(),
        visited: HashSet::default(),
        state: 0,
        observes_ends: false,
        is_eager: true,
        is_held: false,
        is_wide: false,
    };
    let (mut executions, mut prefix) = (0, Vec::new());
    while search.branches.advance() {
        prefix.clear();
        prefix.extend(search.branches.taken());
        search.guide.begin();
        search.is_held = false;
        let outcome = trials.run(&prefix, Choices::Chooser(&mut search));
        if search.is_wide {
            return Swept::Unfinished;
        }
        match outcome {
            None => return Swept::Unfinished,
            Some(Outcome::GivenUp) if search.is_held => return Swept::Counterexample,
            Some(outcome @ (Outcome::Same | Outcome::Other | Outcome::Passes)) => {
                if outcome != expected {
                    return Swept::Counterexample;
                }
                executions += 1;
            }
            Some(Outcome::GivenUp | Outcome::Stopped) => {}
            Some(Outcome::Incomplete) => return Swept::Unfinished,
        }
        let observes_ends = search.observes_ends || asks_for_ends(trials.trace());
        let is_eager = search.is_eager && !panics_after_unobserved(trials.trace());
        if (observes_ends, is_eager) != (search.observes_ends, search.is_eager) {
            (search.observes_ends, search.is_eager) = (observes_ends, is_eager);
            search.visited.clear();
            search.branches.restart();
            executions = 0;
        }
    }
    Swept::All(executions)
}

/// Returns whether a thread panicked after an operation that may have been taken at once. The panic can be observed: it
/// ends the run.
fn panics_after_unobserved(trace: &Trace) -> bool {
    let Ending::Panicked(panic) = &trace.ending else { return false };
    let last = trace.events.iter().rfind(|event| event.id.thread == panic.thread);
    last.is_none_or(|last| last.op.is_thread() || last.op.object() == ObjectId::NONE)
}

struct Sweep<'g, 'a> {
    guide: &'g mut Guide<'a>,
    branches: Branches<Choice>,
    /// The fingerprints of all states from which a run had several ways to continue.
    visited: HashSet<u64, BuildHasherDefault<Identity>>,
    /// The fingerprint of the current state.
    state: u64,
    /// Whether the program asks if threads have ended, so that the time of an end is observable.
    observes_ends: bool,
    /// Whether operations that no other thread can observe are taken at once.
    is_eager: bool,
    /// Whether every enabled thread was held back.
    is_held: bool,
    /// Whether a number has too many values.
    is_wide: bool,
}

impl Chooser for Sweep<'_, '_> {
    fn needs(&self) -> Needs {
        Needs { fingerprint: true, ..Needs::default() }
    }

    fn at_state(&mut self, fingerprint: u64) {
        self.state = fingerprint;
    }

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let only = match at {
            Point::Thread(threads) => return self.choose_thread(threads, past),
            Point::Value { by, .. } => self.guide.number(by, past),
            Point::Source { .. } | Point::Place { .. } => None,
        };
        let only = only.and_then(|number| at.option(Choice::Value(number)));
        if let Some(only) = only {
            self.branches.push(Branch::only(at.choice(only)));
            return Pick::Take(only);
        }
        if at.options() > MAX_VALUES {
            self.is_wide = true;
            return Pick::Abandon;
        }
        self.branches.push(Branch::new((0..at.options()).map(|option| at.choice(option))));
        Pick::Take(0)
    }
}

impl Sweep<'_, '_> {
    fn choose_thread(&mut self, threads: &Threads<'_>, past: &[Event]) -> Pick {
        let allowed = self.guide.allowed(threads, past);
        let pending = |option: usize| &threads.pending[threads.enabled[option].index()];
        let only = match allowed[..] {
            [] => {
                self.is_held = true;
                return Pick::Abandon;
            }
            [only] => Some(only),
            _ => allowed.iter().copied().find(|&option| self.is_unobserved(pending(option))),
        };
        if let Some(only) = only {
            self.branches.push(Branch::only(Choice::Thread(threads.enabled[only])));
            return Pick::Take(only);
        }
        if !self.visited.insert(self.state) {
            return Pick::Abandon;
        }
        let options = allowed.iter().map(|&option| Choice::Thread(threads.enabled[option]));
        self.branches.push(Branch::new(options));
        Pick::Take(allowed[0])
    }

    /// Returns whether no other thread can observe when this operation is performed.
    fn is_unobserved(&self, pending: &Pending) -> bool {
        match pending.op.action() {
            _ if !self.is_eager => false,
            Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. }
            | Action::Thread(ThreadOp::Spawn | ThreadOp::Join) => true,
            Action::Thread(ThreadOp::Exit) => !self.observes_ends,
            Action::Thread(ThreadOp::IsFinished)
            | Action::Atomic(_)
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
