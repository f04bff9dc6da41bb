//! Programs whose bug is a memory ordering: the nine benchmarks of PCTWM (Gao, Chakraborty and Ozkan,
//! ASPLOS 2023), and the classic programs of weak memory.
//!
//! The bugged form differs from the fixed one in memory orderings and fences only, so under sequential
//! consistency both do the same. Where the ordering left out would have ordered accesses to plain
//! memory, an interleaving is enough to see the data race. Otherwise a thread has to read what is out of
//! date, which takes RC11.
//!
//! Every loop ends: a thread that has tried so often gives up and leaves the rest of its work undone. With
//! one try a program is small enough for exhaustive search, with many it behaves as if it waited.
//! Nodes of queues, stacks and lists are told by their number, zero being none.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicU32, Ordering};
use raddle::thread::{self, JoinHandle};
use raddle::{Finding, hint};

use super::{Form, Size};

mod arc_drop;
mod barrier;
mod chase_lev;
mod dekker;
mod hazard;
mod mcs;
mod mpmc;
mod ms_queue;
mod peterson;
mod publication;
mod rwlock;
mod seqlock;
mod spsc;
mod ticket_lock;
mod treiber;

/// A program, and what is known about it.
pub(crate) struct Program {
    /// The word that names it on the command line and in a row.
    pub(crate) name: &'static str,
    pub(crate) origin: Origin,
    /// What it does and which ordering its bugged form lacks, for people.
    pub(crate) about: &'static str,
    /// How the bug shows.
    pub(crate) failure: Failure,
    /// Under which memory model the bug shows.
    pub(crate) model: Model,
    pub(crate) space: Space,
    /// Threads alive at once at most, main included.
    pub(crate) threads: u32,
    /// How often a thread tries. `least` is meant for exhaustive search, `usual` for sampling.
    pub(crate) tries: Size,
    /// One execution.
    pub(crate) body: fn(Instance),
}

/// Where a program comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Origin {
    /// The evaluation of PCTWM, with its figures.
    Pctwm(Published),
    /// What is written about weak memory again and again.
    Classic,
}

/// What the PCTWM paper says of a benchmark, as printed: for `cldeque` at depth 1 its tables disagree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Published {
    /// Events (k), table 1.
    pub(crate) events: u32,
    /// Communication events (k_com), table 1.
    pub(crate) communication: u32,
    /// The depth of the bug (d), table 1.
    pub(crate) depth: u32,
    /// How often it is found, in percent, and the history depth (h) that was best, at the depths d, d + 1
    /// and d + 2: table 2.
    pub(crate) by_depth: [(f64, u32); 3],
    /// The depth at which the history depth is varied, and how often the bug is found at the history
    /// depths 1 to 4: table 3.
    pub(crate) by_history: (u32, [f64; 4]),
}

/// How a bug shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Plain accesses that nothing orders.
    Race,
    /// A thread panics.
    Assertion,
    /// One or the other, by the execution.
    Either,
}

/// The strictest memory model under which a bug shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// An interleaving will do, memory orderings deciding what is a race.
    Sc,
    /// A thread has to read something out of date, or stores to take effect in another order than they
    /// were made.
    Rc11,
}

/// Whether a program is small enough, with the least number of tries, to search all its interleavings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Small,
    Large,
}

/// All of them: PCTWM's in the order of its tables, then the others by name.
pub(crate) const PROGRAMS: &[Program] = &[
    dekker::FENCES,
    ms_queue::PCTWM,
    barrier::PROGRAM,
    chase_lev::RESIZED,
    mcs::GATE,
    mpmc::PACKED,
    rwlock::LINUX,
    rwlock::RELAXED_DATA,
    seqlock::TWO_WRITERS,
    arc_drop::PROGRAM,
    chase_lev::LAST_ITEM,
    dekker::ACCESSES,
    hazard::PROGRAM,
    mcs::UNLOCK,
    mpmc::RING,
    ms_queue::LINK,
    peterson::PROGRAM,
    publication::PLAIN,
    publication::ATOMIC,
    rwlock::SMALL,
    seqlock::FENCED,
    spsc::PROGRAM,
    ticket_lock::PROGRAM,
    treiber::PROGRAM,
];

/// Finds a program by its name.
pub(crate) fn find(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.name == name)
}

/// Tries for programs that wait in loops.
const WAITING: Size = Size { counts: "tries", least: 1, usual: 100, most: 1_000 };

/// Tries for programs that try again only if another thread got ahead of them.
const RETRYING: Size = Size { counts: "tries", least: 2, usual: 10, most: 1_000 };

/// Programs that try nothing twice.
const ONCE: Size = Size { counts: "tries", least: 1, usual: 1, most: 1 };

/// What to run of a program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instance {
    pub(crate) form: Form,
    pub(crate) tries: u32,
    /// Relaxed stores that each thread makes before anything else, to a variable of its own: events that
    /// have nothing to do with the bug (figure 6 of the PCTWM paper).
    pub(crate) extra_stores: u32,
}

impl Program {
    /// The program as raddle takes it.
    pub(crate) fn closure(&'static self, instance: Instance) -> impl Fn() + Send + Sync {
        move || (self.body)(instance)
    }
}

impl Failure {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Failure::Race => "race",
            Failure::Assertion => "assertion",
            Failure::Either => "race or assertion",
        }
    }

    /// Whether a finding is of this kind.
    pub(crate) fn is(self, finding: &Finding) -> bool {
        let (race, panic) =
            (matches!(finding, Finding::Race { .. }), matches!(finding, Finding::Panic(_)));
        match self {
            Failure::Race => race,
            Failure::Assertion => panic,
            Failure::Either => race || panic,
        }
    }
}

impl Model {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Rc11 => "rc11",
        }
    }
}

impl Space {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Space::Small => "small",
            Space::Large => "large",
        }
    }
}

impl Instance {
    /// The ordering of an access, by form.
    fn order(self, bugged: Ordering, fixed: Ordering) -> Ordering {
        match self.form {
            Form::Bugged => bugged,
            Form::Fixed => fixed,
        }
    }

    /// A thread of the program.
    fn spawn<T: Send + 'static>(self, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        thread::spawn(move || {
            let unread = AtomicU32::new(0);
            for number in 0..self.extra_stores {
                unread.store(number, Ordering::Relaxed);
            }
            body()
        })
    }

    /// Waits until `ready`; false if it gives up.
    fn wait(self, mut ready: impl FnMut() -> bool) -> bool {
        self.retry(|| ready().then_some(())).is_some()
    }

    /// Tries something until there is a result; `None` if it gives up.
    fn retry<R>(self, mut attempt: impl FnMut() -> Option<R>) -> Option<R> {
        for _ in 1..self.tries {
            let result = attempt();
            if result.is_some() {
                return result;
            }
            hint::spin_loop();
        }
        attempt()
    }
}

/// What threads return, in order.
fn join<T>(threads: Vec<JoinHandle<T>>) -> Vec<T> {
    let returned = |thread: JoinHandle<T>| thread.join().expect("a panic ends the execution");
    threads.into_iter().map(returned).collect()
}

/// Has threads count by a plain counter in critical sections: `sections` is given the number of the
/// thread and a function to call in each section, and must not let two threads call it at once.
fn exclude<F>(instance: Instance, threads: u32, sections: F)
where
    F: Fn(usize, &dyn Fn()) + Send + Sync + 'static,
{
    let shared = Arc::new((Shared::new(0), sections));
    let handles = (0..threads as usize)
        .map(|me| {
            let shared = shared.clone();
            instance.spawn(move || {
                let (counter, sections) = &*shared;
                let entered = std::cell::Cell::new(0);
                sections(me, &|| {
                    counter.set(counter.get() + 1);
                    entered.set(entered.get() + 1);
                });
                entered.get()
            })
        })
        .collect();
    let entered: u32 = join(handles).into_iter().sum();
    assert_eq!(shared.0.get(), entered, "two threads were in their critical sections at once");
}
