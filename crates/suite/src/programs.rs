//! Programs with known bugs, each also in a form without the bug, written from the descriptions that
//! papers give of them. Every one is a function of its form and of one size.
//!
//! One file holds one program or a family of small ones; where a paper tells of several bugs in one, each
//! is an entry of its own. Memory that is a point only where several threads can be at it is
//! [`Shared`](raddle::cell::Shared); what a lock protects is inside the lock, or in an atomic of `std`,
//! which raddle does not see ("quiet").

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
pub(crate) mod pcr;
mod pct_figures;
mod qsort;
mod region_ownership;
mod reorder;
mod running_example;
mod safe_stack;
mod spidermonkey;
mod stealing;
pub(crate) mod weak;
mod work_stealing;

/// A program, and what is known about it.
pub(crate) struct Program {
    /// The word that names it on the command line and in a row.
    pub(crate) name: &'static str,
    pub(crate) origin: Origin,
    /// What it does and what is wrong with its bugged form, for people.
    pub(crate) about: &'static str,
    /// How the bug shows.
    pub(crate) failure: Failure,
    /// What its cause is.
    pub(crate) class: Class,
    /// Which operations have to be points for the bug to show.
    pub(crate) granularity: Granularity,
    pub(crate) space: Space,
    pub(crate) size: Size,
    /// Threads alive at once at most, main included, at a size.
    pub(crate) threads: fn(u32) -> u32,
    /// One execution.
    pub(crate) body: fn(Form, u32),
}

/// Where a program comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
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

/// How a bug shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A thread panics.
    Assertion,
    /// Threads wait for one another.
    Deadlock,
    /// Threads spin for ever, although every one that can go on does.
    Livelock,
}

/// What kind of mistake a bug is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// What should be one step is several.
    Atomicity,
    /// Something comes before what it should come after.
    Order,
    /// Locks are taken in orders that do not go together.
    Locking,
    /// Nobody is told, or too early.
    Wakeup,
    /// Something is used that is gone.
    Lifetime,
    /// No matter of interleavings: every execution fails.
    Always,
}

/// Whether executions can go round in circles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Acyclic,
    /// Threads spin, with a yield in every round: without fairness an execution need not end.
    Cyclic,
}

/// What the size of a program counts.
pub(crate) struct Size {
    pub(crate) counts: &'static str,
    pub(crate) least: u32,
    pub(crate) usual: u32,
    pub(crate) most: u32,
}

impl Size {
    /// A program that has one size only.
    pub(crate) const FIXED: Size = Size { counts: "", least: 1, usual: 1, most: 1 };
}

/// Which form of a program to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Bugged,
    Fixed,
}

/// The programs that stand for themselves, by origin; SCTBench's first in the order of the POS paper's
/// Table 3, then the others. See [`all`].
pub(crate) static PROGRAMS: &[Program] = &[
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

/// All programs, also those that belong to something larger.
pub(crate) fn all() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().chain(pcr::SUBJECTS.iter().map(|subject| &subject.program))
}

/// Finds a program by its name.
pub(crate) fn find(name: &str) -> Result<&'static Program, String> {
    all().find(|program| program.name == name).ok_or_else(|| {
        let weak = weak::PROGRAMS.iter().map(|program| program.name);
        let known: Vec<_> = all().map(|program| program.name).chain(weak).collect();
        format!("no program `{name}`; there are {}", known.join(", "))
    })
}

/// The PCT paper's work-stealing queue with 4, 8, 16, 32 or 64 items; its size is the number of stealers.
pub(crate) fn stealing_with(items: u32) -> Result<&'static Program, String> {
    match items {
        4 => find("pct-wsq"),
        8 => Ok(&work_stealing::MORE_ITEMS[0]),
        16 => Ok(&work_stealing::MORE_ITEMS[1]),
        32 => Ok(&work_stealing::MORE_ITEMS[2]),
        64 => Ok(&work_stealing::MORE_ITEMS[3]),
        _ => Err(format!("no work-stealing queue with {items} items; there are 4, 8, 16, 32, 64")),
    }
}

impl Program {
    /// Operations one execution may have. Far more than a fair execution needs that makes progress, and
    /// enough for priorities that let a thread spin for a while.
    pub(crate) const MAX_STEPS: usize = 20_000;

    /// Whether this is a size that the program has.
    pub(crate) fn admits(&self, size: u32) -> Result<u32, String> {
        let Size { counts, least, most, .. } = self.size;
        if (least..=most).contains(&size) {
            Ok(size)
        } else {
            Err(format!("{}: the size counts {counts}, from {least} to {most}", self.name))
        }
    }

    /// The program as raddle takes it.
    pub(crate) fn closure(&'static self, form: Form, size: u32) -> impl Fn() + Send + Sync {
        move || (self.body)(form, size)
    }
}

impl Origin {
    pub(crate) fn word(self) -> &'static str {
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
    pub(crate) fn word(self) -> &'static str {
        match self {
            Failure::Assertion => "assertion",
            Failure::Deadlock => "deadlock",
            Failure::Livelock => "livelock",
        }
    }

    /// Whether a finding is of this kind.
    pub(crate) fn is(self, finding: &Finding) -> bool {
        match self {
            Failure::Assertion => matches!(finding, Finding::Panic(_)),
            Failure::Deadlock => matches!(finding, Finding::Deadlock(_)),
            Failure::Livelock => matches!(finding, Finding::StepLimit { .. }),
        }
    }
}

impl Class {
    pub(crate) fn word(self) -> &'static str {
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
    /// Takes a lock that only the fixed form has.
    fn guard(self, lock: &Mutex<()>) -> Option<MutexGuard<'_, ()>> {
        match self {
            Form::Bugged => None,
            Form::Fixed => Some(lock.lock().unwrap()),
        }
    }
}

impl Space {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Space::Acyclic => "acyclic",
            Space::Cyclic => "cyclic",
        }
    }
}

/// Starts a thread for each of the bodies, in order; all share one thing.
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
