//! The one question the engine asks, and who answers it.

use crate::{Choice, Event, EventId, Pending, Schedule, ThreadId};

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
    /// may name a thread more than once. Empty unless [`Chooser::WATCHES_CHANGES`].
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
    /// This thread, and again for up to `steps` steps in all without asking. The engine asks
    /// earlier if the thread cannot go on, a thread is spawned, or one that
    /// [`interrupts`](Chooser::interrupts) can go on.
    Run {
        /// The option.
        option: usize,
        /// How many steps, at least one.
        steps: u32,
    },
    /// None: this run is not worth going on with.
    Abandon,
}

/// An algorithm that acts inside one run.
pub trait Chooser {
    /// Whether [`Threads::changed`] is looked at. If not, the engine need not keep it.
    const WATCHES_CHANGES: bool = true;

    /// Whether what has happened in the run is looked at. If not, it is kept from the chooser.
    const WATCHES_PAST: bool = true;

    /// Whether [`Pick::Run`] is ever answered.
    const GRANTS_LEASES: bool = false;

    /// Whether [`stand`](Chooser::stand) is told anything.
    const WATCHES_FINGERPRINT: bool = false;

    /// Whether its answer at thread points is a [`draw`](Chooser::draw), which depends on nothing but how many can
    /// go on and the draws before it in the same run. It is asked for that alone, before the running thread has
    /// announced what it does next if that is simpler, and not at the end of a run's last thread. Whether each
    /// [`Pending`] operation is enabled is not kept for it.
    const DRAWS: bool = false;

    /// Before each thread point after the plan's prefix: the fingerprint of what has happened. Two
    /// runs that stand at the same have the same ways to go on.
    #[inline(always)]
    fn stand(&mut self, fingerprint: u64) {
        let _ = fingerprint;
    }

    /// Answers the point `at`; `past` is everything that has happened in this run.
    ///
    /// Called at every point after the plan's prefix, even those with one option, unless it only
    /// [draws](Chooser::DRAWS).
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick;

    /// As [`choose`](Chooser::choose) at a thread point, which most are: they need not be told apart.
    #[inline(always)]
    fn choose_thread(&mut self, at: &Threads<'_>, past: &[Event]) -> Pick {
        self.choose(&Point::Thread(*at), past)
    }

    /// One of so many options, which are not none. Only for those who [say so](Chooser::DRAWS).
    #[inline(always)]
    fn draw(&mut self, options: usize) -> usize {
        let _ = options;
        unreachable!("raddle invariant broken: a chooser that does not draw")
    }

    /// Whether `thread`, which can go on now, ends what [`Pick::Run`] granted to another. Asked at least once
    /// in the time granted; the answer is the same for all of it.
    #[inline(always)]
    fn interrupts(&mut self, thread: ThreadId) -> bool {
        let _ = thread;
        true
    }
}

/// How a run goes: first as `prefix` says, then as `then` chooses.
#[derive(Clone, Debug, Default)]
pub struct Plan<C> {
    /// Choices already made.
    pub prefix: Schedule,
    /// Who makes the others.
    pub then: C,
}
