//! Programs whose bug is a memory ordering: the nine benchmarks of PCTWM (Gao, Chakraborty and Ozkan,
//! ASPLOS 2023), and the classic programs of weak memory.
//!
//! The bugged form differs from the fixed one only in memory orderings and fences, so both behave in the same way under
//! sequential consistency. If the missing ordering would have ordered accesses to plain memory, an interleaving is enough
//! to show the data race. Otherwise a thread must read a stale value, which needs RC11.
//!
//! Every loop ends: after a number of tries a thread gives up and skips the rest of its work. With one try a program is
//! small enough for exhaustive search. With many tries it behaves as if it waited. Nodes of queues, stacks and lists are
//! numbered from one, and zero is no node.

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
pub mod graphs;
mod hazard;
mod mcs;
mod mpmc;
mod ms_queue;
mod peterson;
mod publication;
pub mod run;
mod rwlock;
mod seqlock;
mod spsc;
mod ticket_lock;
mod treiber;

/// A program, and what is known about it.
pub struct Program {
    /// The name on the command line and in tables.
    pub name: &'static str,
    /// The paper that the program comes from, if it is one of PCTWM's.
    pub origin: Origin,
    /// A description of the program and of the missing ordering.
    pub about: &'static str,
    /// The failure that the bug causes.
    pub failure: Failure,
    /// The memory model under which the bug can occur.
    pub model: Model,
    /// Whether exhaustive search is possible.
    pub space: Space,
    /// The largest number of threads alive at once, main included.
    pub threads: u32,
    /// The number of tries of a thread. `least` is for exhaustive search, `usual` for sampling.
    pub tries: Size,
    /// Runs the program once.
    pub body: fn(Instance),
}

/// The origin of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Origin {
    /// The evaluation of PCTWM, with its figures.
    Pctwm(Published),
    /// A classic example of weak memory.
    Classic,
}

/// The PCTWM paper's figures for a benchmark, as printed. For `cldeque` at depth 1 its tables disagree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// Events (k), table 1.
    pub events: u32,
    /// Communication events (k_com), table 1.
    pub communication: u32,
    /// The depth of the bug (d), table 1.
    pub depth: u32,
    /// The rate of finding the bug, in percent, and the best history depth (h), at the depths d, d + 1 and d + 2: table 2.
    pub by_depth: [(f64, u32); 3],
    /// The depth at which the history depth is varied, and the rates at the history depths 1 to 4: table 3.
    pub by_history: (u32, [f64; 4]),
}

/// The failure that a bug causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Two plain accesses race.
    Race,
    /// A thread panics.
    Assertion,
    /// Two plain accesses race, or a thread panics.
    Either,
}

/// The strictest memory model under which a bug can occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// Sequential consistency. The memory orderings decide what is a race.
    Sc,
    /// RC11: a thread must read a stale value, or stores must take effect out of program order.
    Rc11,
}

/// Whether a program is small enough, with the least number of tries, to search all its interleavings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Small enough.
    Small,
    /// Too large.
    Large,
}

/// All programs: those of PCTWM in the order of its tables, then the others by name.
pub const PROGRAMS: &[Program] = &[
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

/// Finds a program by its name. Returns `None` if there is no such program.
pub fn find(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.name == name)
}

/// The tries of programs that wait in loops.
const WAITING: Size = Size { counts: "tries", least: 1, usual: 100, most: 1_000 };

/// The tries of programs that retry only after interference by another thread.
const RETRYING: Size = Size { counts: "tries", least: 2, usual: 10, most: 1_000 };

/// The tries of programs that do not retry.
const ONCE: Size = Size { counts: "tries", least: 1, usual: 1, most: 1 };

/// A variant of a program to run.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// Whether the program has its bug.
    pub form: Form,
    /// The number of tries after which a thread gives up.
    pub tries: u32,
    /// The number of relaxed stores that each thread first makes to a variable of its own. These events are irrelevant to the
    /// bug (figure 6 of the PCTWM paper).
    pub extra_stores: u32,
}

impl Program {
    /// Returns the program as a closure for `raddle::check`.
    pub fn closure(&'static self, instance: Instance) -> impl Fn() + Send + Sync {
        move || (self.body)(instance)
    }
}

impl Failure {
    /// Returns the word for the failure in lists.
    pub fn word(self) -> &'static str {
        match self {
            Failure::Race => "race",
            Failure::Assertion => "assertion",
            Failure::Either => "race or assertion",
        }
    }

    /// Returns whether a finding is of this kind.
    pub fn is(self, finding: &Finding) -> bool {
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
    /// Returns the word for the memory model in lists.
    pub fn word(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Rc11 => "rc11",
        }
    }
}

impl Space {
    /// Returns the word for the space in lists.
    pub fn word(self) -> &'static str {
        match self {
            Space::Small => "small",
            Space::Large => "large",
        }
    }
}

impl Instance {
    /// Returns the ordering of an access, by form.
    fn order(self, bugged: Ordering, fixed: Ordering) -> Ordering {
        match self.form {
            Form::Bugged => bugged,
            Form::Fixed => fixed,
        }
    }

    /// Starts a thread of the program.
    fn spawn<T: Send + 'static>(self, body: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        thread::spawn(move || {
            let unread = AtomicU32::new(0);
            for number in 0..self.extra_stores {
                unread.store(number, Ordering::Relaxed);
            }
            body()
        })
    }

    /// Waits until `ready` returns true. Returns false if the thread gives up.
    fn wait(self, mut ready: impl FnMut() -> bool) -> bool {
        self.retry(|| ready().then_some(())).is_some()
    }

    /// Calls `attempt` until it returns a result. Returns `None` if the thread gives up.
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

/// Joins threads and returns their results, in order.
fn join<T>(threads: Vec<JoinHandle<T>>) -> Vec<T> {
    let returned =
        |thread: JoinHandle<T>| thread.join().expect("no thread panicked while it held the lock");
    threads.into_iter().map(returned).collect()
}

/// Increments a plain counter in the critical sections of several threads. `sections` is called with the number of the
/// thread and a function to call in each section. It must ensure mutual exclusion of these calls.
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
