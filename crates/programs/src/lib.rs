//! Programs with known bugs, each also in a form without the bug, written from their descriptions in
//! papers. Every program is a function of its form and of one size.
//!
//! One file holds one program or a family of small ones. Where a paper reports several bugs in one
//! program, each bug is an entry of its own. Memory whose accesses are scheduling points is
//! [`Shared`](raddle::cell::Shared). Memory that a lock protects is inside the lock, or in an atomic of
//! `std`, which raddle does not see (a "quiet" variable).
#![forbid(unsafe_code)]

use raddle::sync::{Arc, Mutex, MutexGuard};
use raddle::thread::{self, JoinHandle};
use raddle::{Finding, Granularity};

mod always;
mod applications;
mod barriers;
mod bluetooth;
mod buffers;
mod critical_sections;
mod exception;
mod fair;
mod fft;
mod locks;
mod matrix;
mod mortal;
mod mrse;
mod nqueens;
pub mod pcr;
mod pct_figures;
mod qsort;
mod region_ownership;
mod reorder;
pub mod run;
mod running_example;
mod safe_stack;
mod spidermonkey;
mod stealing;
pub mod weak;
mod work_stealing;

/// A program, and what is known about it.
pub struct Program {
    /// The name on the command line and in tables.
    pub name: &'static str,
    /// The paper or benchmark suite that the program comes from.
    pub origin: Origin,
    /// A description of the program and of its bug.
    pub about: &'static str,
    /// The failure that the bug causes.
    pub failure: Failure,
    /// The class of the bug.
    pub class: Class,
    /// The operations that must be scheduling points to reveal the bug.
    pub granularity: Granularity,
    /// Whether executions can run forever.
    pub space: Space,
    /// The sizes that the program has.
    pub size: Size,
    /// The largest number of threads alive at once, main included, by size.
    pub threads: fn(u32) -> u32,
    /// Runs the program once.
    pub body: fn(Form, u32),
}

/// The origin of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Bounded partial order reduction (Coons, Musuvathi and McKinley, OOPSLA 2013).
    Bpor,
    /// Pattern constraint reduction (Zhao et al., TSE 2023).
    Pcr,
    /// A randomized scheduler with probabilistic guarantees of finding bugs (Burckhardt et al., ASPLOS
    /// 2010).
    Pct,
    /// Partial order aware concurrency sampling (Yuan, Yang and Gu, CAV 2018).
    Pos,
    /// SCTBench (Thomson, Donaldson and Betts, TOPC 2016), which the POS paper uses.
    SctBench,
}

/// The failure that a bug causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A thread panics.
    Assertion,
    /// The threads deadlock.
    Deadlock,
    /// The threads livelock: they spin forever under a fair scheduler.
    Livelock,
}

/// The class of a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A violation of atomicity.
    Atomicity,
    /// A violation of order: an operation comes before one that it depends on.
    Order,
    /// Locks are acquired in conflicting orders.
    Locking,
    /// A notification is missing or too early.
    Wakeup,
    /// An object is used after its destruction.
    Lifetime,
    /// Not a concurrency bug: every execution fails.
    Always,
}

/// Whether executions can contain cycles of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Every execution ends.
    Acyclic,
    /// Threads spin with a yield in every iteration. Without fairness an execution may not end.
    Cyclic,
}

/// The sizes of a program.
pub struct Size {
    /// What the size counts.
    pub counts: &'static str,
    /// The smallest size.
    pub least: u32,
    /// The default size.
    pub usual: u32,
    /// The largest size.
    pub most: u32,
}

impl Size {
    /// The size of a program that has only one.
    pub const FIXED: Size = Size { counts: "", least: 1, usual: 1, most: 1 };
}

/// Which form of a program to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The form with the bug.
    Bugged,
    /// The form without the bug.
    Fixed,
}

/// The programs that are not in [`pcr::SUBJECTS`], by origin. SCTBench's programs are in the order of the POS paper's
/// Table 3, and then the others. See [`all`].
pub static PROGRAMS: &[Program] = &[
    mrse::PROGRAM,
    fft::PROGRAM,
    exception::TWICE,
    exception::LOST,
    fair::PROGRAM,
    nqueens::GUARD,
    nqueens::WAKE,
    nqueens::SUM,
    matrix::GUARD,
    matrix::LOCKS,
    matrix::WAKE,
    region_ownership::PROGRAM,
    pct_figures::ORDER,
    pct_figures::ATOMICITY,
    pct_figures::DEADLOCK,
    pct_figures::DESTROYED,
    pct_figures::PREEMPTED,
    pct_figures::CONTROL_FLOW,
    pct_figures::LONG,
    barriers::PCT_SPLASH,
    work_stealing::STEALERS,
    work_stealing::ITEMS,
    applications::DRYAD,
    running_example::PROGRAM,
    buffers::STRING_BUFFER,
    reorder::TEN,
    reorder::TWENTY,
    critical_sections::TWO_STAGE_100,
    spidermonkey::COLLECTOR,
    safe_stack::PROGRAM,
    work_stealing::WSQ,
    work_stealing::STATE,
    work_stealing::INTERLOCKED_STATE,
    work_stealing::INTERLOCKED,
    reorder::FIVE,
    buffers::QUEUE,
    reorder::FOUR,
    qsort::PROGRAM,
    reorder::THREE,
    critical_sections::WRONG_LOCK,
    bluetooth::PROGRAM,
    spidermonkey::READ_TWICE,
    critical_sections::WRONG_LOCK_3,
    critical_sections::TWO_STAGE,
    locks::DEADLOCK,
    critical_sections::ACCOUNT,
    critical_sections::TOKEN_RING,
    buffers::CIRCULAR_BUFFER,
    locks::CARTER,
    applications::CTRACE,
    applications::PBZIP2,
    buffers::STACK,
    critical_sections::LAZY,
    barriers::STREAMCLUSTER_3,
    applications::AGET,
    barriers::BARNES,
    always::ARITHMETIC,
    locks::PHILOSOPHERS,
    always::FSBENCH,
    locks::PHASE,
    always::SYNC,
    always::SYNC_2,
    barriers::STREAMCLUSTER,
    barriers::STREAMCLUSTER_2,
    applications::FERRET,
    barriers::FFT,
    barriers::LU,
    spidermonkey::LAST_CONTEXT,
    spidermonkey::LATE_COLLECTOR,
    spidermonkey::MONITORS,
    spidermonkey::INTERRUPT,
];

/// Returns all programs, including those of [`pcr::SUBJECTS`].
pub fn all() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().chain(pcr::SUBJECTS.iter().map(|subject| &subject.program))
}

/// Finds a program by its name.
///
/// # Errors
/// Returns an error with all names if there is no such program.
pub fn find(name: &str) -> Result<&'static Program, String> {
    all().find(|program| program.name == name).ok_or_else(|| {
        let weak = weak::PROGRAMS.iter().map(|program| program.name);
        let known: Vec<_> = all().map(|program| program.name).chain(weak).collect();
        format!("no program `{name}`; there are {}", known.join(", "))
    })
}

/// Returns the PCT paper's work-stealing queue with 4, 8, 16, 32 or 64 items. Its size is the number of
/// stealers.
///
/// # Errors
/// Returns an error if there is no queue with this number of items.
pub fn stealing_with(items: u32) -> Result<&'static Program, String> {
    match items {
        4 => find("pct-wsq"),
        8 => Ok(&work_stealing::MORE_ITEMS[0]),
        16 => Ok(&work_stealing::MORE_ITEMS[1]),
        32 => Ok(&work_stealing::MORE_ITEMS[2]),
        64 => Ok(&work_stealing::MORE_ITEMS[3]),
        _ => Err(format!("no work-stealing queue with {items} items; there are 4, 8, 16, 32, 64")),
    }
}

/// Returns the work-stealing queue with this many items, whose stealers make half as many attempts each.
///
/// # Errors
/// Returns an error if there is no such queue.
pub fn stealing_half_of(items: u32) -> Result<&'static Program, String> {
    let place = [4, 8, 16, 32, 64].iter().position(|&known| known == items);
    let place = place.ok_or_else(|| {
        format!("no work-stealing queue with {items} items; there are 4, 8, 16, 32, 64")
    })?;
    Ok(&work_stealing::MORE_ATTEMPTS[place])
}

impl Program {
    /// The maximum number of steps of an execution. It is far more than a fair execution needs, and enough for priorities that
    /// let a thread spin for a while.
    pub const MAX_STEPS: usize = 20_000;

    /// Returns `size` if the program has it.
    ///
    /// # Errors
    /// Returns an error with the valid sizes if the program does not have this size.
    pub fn admits(&self, size: u32) -> Result<u32, String> {
        let Size { counts, least, most, .. } = self.size;
        if (least..=most).contains(&size) {
            Ok(size)
        } else {
            Err(format!("{}: the size counts {counts}, from {least} to {most}", self.name))
        }
    }

    /// Returns the program as a closure for `raddle::check`.
    pub fn closure(&'static self, form: Form, size: u32) -> impl Fn() + Send + Sync {
        move || (self.body)(form, size)
    }
}

impl Origin {
    /// Returns the word for the origin in lists.
    pub fn word(self) -> &'static str {
        match self {
            Origin::Bpor => "bpor",
            Origin::Pcr => "pcr",
            Origin::Pct => "pct",
            Origin::Pos => "pos",
            Origin::SctBench => "sctbench",
        }
    }
}

impl Failure {
    /// Returns the word for the failure in lists.
    pub fn word(self) -> &'static str {
        match self {
            Failure::Assertion => "assertion",
            Failure::Deadlock => "deadlock",
            Failure::Livelock => "livelock",
        }
    }

    /// Returns whether a finding is of this kind.
    pub fn is(self, finding: &Finding) -> bool {
        match self {
            Failure::Assertion => matches!(finding, Finding::Panic(_)),
            Failure::Deadlock => matches!(finding, Finding::Deadlock(_)),
            Failure::Livelock => {
                matches!(finding, Finding::StepLimit { .. } | Finding::WaitsForever { .. })
            }
        }
    }
}

impl Class {
    /// Returns the word for the class in lists.
    pub fn word(self) -> &'static str {
        match self {
            Class::Atomicity => "atomicity",
            Class::Order => "order",
            Class::Locking => "locking",
            Class::Wakeup => "wake-up",
            Class::Lifetime => "lifetime",
            Class::Always => "always",
        }
    }
}

impl Form {
    /// Acquires a lock that only the fixed form uses.
    fn guard(self, lock: &Mutex<()>) -> Option<MutexGuard<'_, ()>> {
        match self {
            Form::Bugged => None,
            Form::Fixed => Some(lock.lock().unwrap()),
        }
    }
}

impl Space {
    /// Returns the word for the space in lists.
    pub fn word(self) -> &'static str {
        match self {
            Space::Acyclic => "acyclic",
            Space::Cyclic => "cyclic",
        }
    }
}

/// Starts one thread for each body, in order. All threads share `shared`.
fn start<S: Send + Sync + 'static>(shared: &Arc<S>, bodies: &[fn(&S)]) -> Vec<JoinHandle<()>> {
    let start = |body: &fn(&S)| {
        let (shared, body) = (shared.clone(), *body);
        thread::spawn(move || body(&shared))
    };
    bodies.iter().map(start).collect()
}

/// Joins threads, in order.
fn join_all(threads: Vec<JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("a thread that panics ends the execution");
    }
}
