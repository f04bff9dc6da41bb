//! Points, at which a run can continue in several ways, and choosers, which decide there.

use crate::{Choice, Event, EventId, Pending, Rng, ThreadId};

/// A state of a run with several possible continuations.
#[derive(Copy, Clone, Debug)]
pub enum Point<'a> {
    /// The choice of the thread that performs its pending operation.
    Thread(Threads<'a>),
    /// The choice of the store that a load or read-modify-write reads.
    Source {
        /// The access.
        by: &'a Pending,
        /// The stores it may read, oldest first. The initial value is [`EventId::INITIAL`].
        options: &'a [EventId],
    },
    /// The choice of a store's place in modification order.
    Place {
        /// The store.
        by: &'a Pending,
        /// The stores it may come right after, oldest first. The last option makes it the newest store.
        options: &'a [EventId],
    },
    /// The choice of a number below `bound`.
    Value {
        /// The operation that asks for the number.
        by: &'a Pending,
        /// The number of options.
        bound: u32,
    },
}

/// The threads at a thread point.
#[derive(Copy, Clone, Debug)]
pub struct Threads<'a> {
    /// The last announced operation of every thread, by [`ThreadId`], including disabled ones. Entries
    /// of threads that have not started or have ended are not enabled.
    pub pending: &'a [Pending],
    /// The enabled threads, in no particular order.
    pub enabled: &'a [ThreadId],
    /// The threads whose pending operation or enabledness changed since the last thread point;
    /// may name a thread more than once. Empty unless [`Needs::changes`].
    pub changed: &'a [ThreadId],
}

impl Point<'_> {
    /// Returns the number of options; at least one.
    #[inline(always)]
    pub fn options(&self) -> usize {
        match self {
            Point::Thread(threads) => threads.enabled.len(),
            Point::Source { options, .. } | Point::Place { options, .. } => options.len(),
            Point::Value { bound, .. } => *bound as usize,
        }
    }

    /// Returns the index of the option that is this entry of a schedule. Returns `None` if there is no such option.
    pub fn option(&self, choice: Choice) -> Option<usize> {
        match (self, choice) {
            // There may be billions.
            (Point::Value { bound, .. }, Choice::Value(value)) => {
                (value < *bound).then_some(value as usize)
            }
            (Point::Value { .. }, _) => None,
            (Point::Thread(_) | Point::Source { .. } | Point::Place { .. }, _) => {
                (0..self.options()).find(|&index| self.choice(index) == choice)
            }
        }
    }

    /// Returns the option at `index` as an entry of a schedule.
    #[inline]
    pub fn choice(&self, index: usize) -> Choice {
        match self {
            Point::Thread(threads) => Choice::Thread(threads.enabled[index]),
            Point::Source { options, .. } => Choice::Source(options[index]),
            Point::Place { options, .. } => Choice::Place(options[index]),
            Point::Value { .. } => Choice::Value(index as u32),
        }
    }
}

/// An answer to a point.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Pick {
    /// Takes the option with this index.
    Take(usize),
    /// Runs this thread for up to `steps` steps without asking again: a *lease*. The engine asks
    /// earlier if the thread blocks, a thread is spawned, or a blocked thread becomes enabled that
    /// [`interrupts`](Chooser::interrupts).
    Run {
        /// The index of the option.
        option: usize,
        /// The number of steps, at least one.
        steps: u32,
    },
    /// Takes none of the options: the run is abandoned.
    Abandon,
}

/// An algorithm that makes the choices of one run.
pub trait Chooser {
    /// Returns what the engine has to keep up to date for this chooser. Asked once per run.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Receives the fingerprint of the run so far, before each thread point after the plan's prefix.
    /// Runs at equal fingerprints have equal continuations. Called only if [`Needs::fingerprint`].
    fn at_state(&mut self, fingerprint: u64) {
        let _ = fingerprint;
    }

    /// Answers the point `at`. `past` holds the events of this run so far.
    ///
    /// Called at every point after the plan's prefix, including those with one option.
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick;

    /// Returns whether the run has to go on with further operations of `thread`, which has closed an idle round. If it has
    /// not, the thread waits.
    fn continues(&self, thread: ThreadId) -> bool {
        let _ = thread;
        false
    }

    /// Receives the stores that the read-modify-write about to be performed could read if it did not write: another one
    /// has read them already. Called before every read-modify-write under a weak memory model, if [`Needs::taken`] and
    /// [`asks_taken`](Chooser::asks_taken).
    fn taken(&mut self, stores: &[EventId]) {
        let _ = stores;
    }

    /// Returns whether the access about to be performed may read or come right after the newest store, which is its only
    /// option. The run is given up if not. Called before such accesses under a weak memory model, if [`Needs::taken`].
    fn accepts_newest(&self) -> bool {
        true
    }

    /// Returns whether the stores that are [`taken`](Chooser::taken) matter for the access about to be performed.
    fn asks_taken(&self) -> bool {
        true
    }

    /// Returns whether the lease just granted ends when `thread` becomes enabled. Called once for each thread when the
    /// lease is granted. A chooser may always return true; it is then asked more often.
    fn interrupts(&self, thread: ThreadId) -> bool {
        let _ = thread;
        true
    }
}

/// What the engine keeps up to date for a [`Chooser`] besides the options.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// [`Threads::changed`].
    pub changes: bool,
    /// Calls of [`Chooser::at_state`].
    pub fingerprint: bool,
    /// Calls of [`Chooser::taken`].
    pub taken: bool,
    /// What becomes of threads that wait in loops.
    pub idle_rounds: IdleRounds,
}

/// What becomes of a thread in an *idle round*: it announces an operation in a local state that it had before, and has
/// changed nothing since. Substrates that cannot tell local states let it go on.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum IdleRounds {
    /// The thread waits until another thread changes something that it looked at. Only long runs are examined.
    #[default]
    AwaitedIfLong,
    /// The thread waits until another thread changes something that it looked at.
    Awaited,
    /// The thread goes no further in this run.
    Cut,
    /// The thread continues.
    Performed,
}

/// The source of the choices of one run after the plan's prefix.
pub enum Choices<'a> {
    /// A uniform draw among the options of each point. The engine draws without a call per step.
    Uniform(Rng),
    /// A chooser.
    Chooser(&'a mut dyn Chooser),
}
