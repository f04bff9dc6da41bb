//! The one question the engine asks, and who answers it.

use crate::{Choice, Event, EventId, Pending, Rng, ThreadId};

/// A place where a run can go on in several ways.
#[derive(Copy, Clone, Debug)]
pub enum Point<'a> {
    /// Which thread performs its pending operation?
    Thread(Threads<'a>),
    /// Which store does this load or read-modify-write read? Oldest first; the initial value goes by
    /// the name [`EventId::INITIAL`].
    Source {
        /// The access.
        by: &'a Pending,
        /// The stores it may read.
        options: &'a [EventId],
    },
    /// Right behind which other store does this one stand in the order of the variable's stores?
    /// Oldest first; the last option is the newest place.
    Place {
        /// The store.
        by: &'a Pending,
        /// The stores it may stand behind.
        options: &'a [EventId],
    },
    /// Which number below `bound`?
    Value {
        /// Who asks.
        by: &'a Pending,
        /// How many there are.
        bound: u32,
    },
}

/// The threads at a thread point.
#[derive(Copy, Clone, Debug)]
pub struct Threads<'a> {
    /// The last announced operation of every thread, by [`ThreadId`]; disabled ones too. Entries
    /// of threads that have not started or have ended are not enabled.
    pub pending: &'a [Pending],
    /// The threads that can go on, in no particular order.
    pub enabled: &'a [ThreadId],
    /// The threads whose pending operation or enabledness changed since the last thread point;
    /// may name a thread more than once. Empty unless [`Needs::changes`].
    pub changed: &'a [ThreadId],
}

impl Point<'_> {
    /// How many options there are; at least one.
    #[inline(always)]
    pub fn options(&self) -> usize {
        match self {
            Point::Thread(threads) => threads.enabled.len(),
            Point::Source { options, .. } | Point::Place { options, .. } => options.len(),
            Point::Value { bound, .. } => *bound as usize,
        }
    }

    /// The option at `index` as it stands in a schedule.
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
    /// This option.
    Take(usize),
    /// This thread, for up to `steps` steps without another question: a *lease*. The engine asks
    /// earlier if the thread blocks, a thread is spawned, or a blocked thread becomes enabled that
    /// [`interrupts`](Chooser::interrupts).
    Run {
        /// The option.
        option: usize,
        /// The number of steps, at least one.
        steps: u32,
    },
    /// None of the options: the run is given up.
    Abandon,
}

/// An algorithm that decides inside one run.
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

    /// Returns whether `thread` ends the lease just granted when it becomes enabled in its course. Asked once for each
    /// thread, when the lease is granted. A chooser may always return true: it is then asked more often.
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
}

/// Who answers the points of one run after the plan's prefix.
pub enum Choices<'a> {
    /// A uniform draw among the options of each point. The engine draws by itself: no call per step.
    Uniform(Rng),
    /// A chooser.
    Chooser(&'a mut dyn Chooser),
}
