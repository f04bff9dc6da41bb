//! Why a program cannot be searched, or a strategy cannot be used.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use raddle_core::{Ending, ObjectId, Pending, Site, ThreadId, Trace};

/// The most values of a choice that a search tries.
pub const WIDEST_CHOICE: u32 = 1 << 16;

/// A thread that yields this often without changing anything loops.
const LOOP_YIELDS: u32 = 100;

/// Why a check cannot be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The program chooses among too many values to try them all.
    ChoiceTooWide {
        /// The number of values.
        bound: u32,
        /// Where.
        site: Site,
    },
    /// The strategy knows sequential consistency only.
    NotWeak {
        /// The word of the strategy.
        strategy: Cow<'static, str>,
    },
    /// The strategy chooses the stores that loads read. Under sequential consistency there is no choice.
    OnlyWeak {
        /// The word of the strategy.
        strategy: Cow<'static, str>,
    },
    /// A thread loops, and a search of everything would not end.
    Loops {
        /// The thread.
        thread: ThreadId,
        /// Where it yields.
        site: Site,
    },
    /// A loop that seemed to wait counts its rounds, and the explorer cannot begin again.
    Counts {
        /// A place in the loop.
        site: Site,
    },
    /// There is only one thread, so that no accesses can be reordered.
    OneThread,
    /// The threads access nothing in common that one of them changes.
    NothingShared,
    /// The time limit cut the first execution off.
    NoExecutionInTime {
        /// The time limit.
        limit: Duration,
        /// The number of steps that were made.
        steps: u64,
    },
    /// Threads wait for a change of a variable by a futex, and the strategy knows values of variables only.
    Futex {
        /// Where.
        site: Site,
    },
    /// The check is to continue after a failure, and this strategy ends there.
    CannotKeepGoing {
        /// The word of the strategy.
        strategy: Cow<'static, str>,
    },
}

impl Refusal {
    /// Refuses a choice of too many values.
    pub(crate) fn of_choice(by: &Pending, bound: u32) -> Option<Refusal> {
        (bound > WIDEST_CHOICE).then_some(Refusal::ChoiceTooWide { bound, site: by.site })
    }

    /// Refuses to reorder accesses if threads wait by futexes.
    pub(crate) fn of_futexes(trace: &Trace) -> Option<Refusal> {
        let event = trace.events.iter().find(|event| event.op.futex().is_some())?;
        Some(Refusal::Futex { site: event.site })
    }

    /// Refuses to reorder accesses if there are none to reorder, unless the run failed.
    pub(crate) fn of_accesses(trace: &Trace, nothing_shared: bool) -> Option<Refusal> {
        if trace.ending != Ending::Finished || !nothing_shared {
            return None;
        }
        let is_alone = trace.threads.len() <= 1;
        Some(if is_alone { Refusal::OneThread } else { Refusal::NothingShared })
    }
}

/// Refuses a run in which a thread yields again and again, changing nothing.
pub(crate) fn loops(trace: &Trace) -> Option<Refusal> {
    if trace.events.len() < LOOP_YIELDS as usize {
        return None;
    }
    let mut idle: Vec<u32> = Vec::new();
    for event in &trace.events {
        let thread = event.id.thread;
        if idle.len() <= thread.index() {
            idle.resize(thread.index() + 1, 0);
        }
        let idle = &mut idle[thread.index()];
        if event.op.has_yielded(event.effect) {
            *idle += 1;
            if *idle == LOOP_YIELDS {
                return Some(Refusal::Loops { thread, site: event.site });
            }
        } else if event.op.object() != ObjectId::NONE && event.access().changes() {
            *idle = 0;
        }
    }
    None
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::ChoiceTooWide { bound, site } => write!(
                f,
                "a search tries every value of a choice, and {bound} at {site} are too many; choose \
                 among at most {WIDEST_CHOICE}, or sample executions with another strategy, such as \
                 `random`"
            ),
            Refusal::NotWeak { strategy } => write!(
                f,
                "the strategy `{strategy}` searches under sequential consistency only; under RC11 \
                 use `dpor` (every execution), `auto`, or sample executions, such as with `random`"
            ),
            Refusal::OnlyWeak { strategy } => write!(
                f,
                "the strategy `{strategy}` chooses which stores loads read, and under sequential \
                 consistency that is always the newest; set the memory model to RC11 \
                 (`Config::memory`, RADDLE_MEMORY=rc11) or use another strategy, such as `pct:2`"
            ),
            Refusal::Loops { thread, site } => write!(
                f,
                "a search of everything does not end: {thread} loops, having yielded {LOOP_YIELDS} times at \
                 {site} without changing anything that threads share, and each round differs: something \
                 counts, or the back end cannot tell; exclude long loops with a fair bound, `bpor:fair:1` \
                 or `bpor:2:fair:1`, or sample executions, such as with `random`"
            ),
            Refusal::Counts { site } => write!(
                f,
                "the loop at {site} seemed to wait, but something may count its rounds, on the heap or in a thread-local \
                 variable; this search cannot begin again, so use `dpor` on one OS thread, or sample executions, such as with \
                 `random`"
            ),
            Refusal::OneThread => f.write_str(
                "`pcr` and `mcr` change the order of accesses by different threads, and the first \
                 execution has only one thread; spawn the threads inside the check, with \
                 `raddle::thread`, or use another strategy, such as `random`",
            ),
            Refusal::NothingShared => f.write_str(
                "`pcr` and `mcr` change the order of accesses to what threads share, and in the first \
                 execution no two threads access anything in common that one of them changes; share \
                 data through `raddle::sync`, make plain accesses scheduling points if they are to \
                 be ordered (`Granularity::All`), or use another strategy, such as `random`",
            ),
            Refusal::NoExecutionInTime { limit, steps } => write!(
                f,
                "the first execution did not end within the time limit of {limit:?}, in which it made {steps} \
                 steps; allow more time (`Config::time`, RADDLE_TIME), make the test smaller, or limit its steps \
                 (`Config::max_steps`) if it does not end at all"
            ),
            Refusal::Futex { site } => write!(
                f,
                "`pcr` and `mcr` do not know futexes, such as at {site}; use another strategy, such as `dpor` or \
                 `random`"
            ),
            Refusal::CannotKeepGoing { strategy } => write!(
                f,
                "`{strategy}` ends at the first failure; to continue after it, sample executions with \
                 another strategy, such as `pos-star` or `random`"
            ),
        }
    }
}

impl std::error::Error for Refusal {}
