//! Programs with known bugs, each also in a form without the bug, written from the descriptions that
//! papers give of them. Every one is a function of its form and of one size.
//!
//! One file holds one program; where a paper tells of several bugs in it, each is an entry of its own.

use raddle::Finding;

mod exception;
mod fair;
mod fft;
mod matrix;
mod mrse;
mod nqueens;
pub(crate) mod pcr;
mod region_ownership;
mod stealing;

/// A program, and what is known about it.
pub(crate) struct Program {
    /// The word that names it on the command line and in a row.
    pub(crate) name: &'static str,
    pub(crate) origin: Origin,
    /// What it does and what is wrong with its bugged form, for people.
    pub(crate) about: &'static str,
    /// How the bug shows.
    pub(crate) failure: Failure,
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

/// Which form of a program to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Bugged,
    Fixed,
}

/// The programs that stand for themselves, by origin and name; see [`all`].
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
];

/// All programs, also those that belong to something larger.
pub(crate) fn all() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().chain(pcr::SUBJECTS.iter().map(|subject| &subject.program))
}

/// Finds a program by its name.
pub(crate) fn find(name: &str) -> Result<&'static Program, String> {
    all().find(|program| program.name == name).ok_or_else(|| {
        let known: Vec<_> = all().map(|program| program.name).collect();
        format!("no program `{name}`; there are {}", known.join(", "))
    })
}

impl Program {
    /// Operations one execution may have. Far more than a fair execution needs that makes progress.
    pub(crate) const MAX_STEPS: usize = 2_000;

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

impl Space {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Space::Acyclic => "acyclic",
            Space::Cyclic => "cyclic",
        }
    }
}

/// Joins threads, in order.
fn join_all(threads: Vec<raddle::thread::JoinHandle<()>>) {
    for thread in threads {
        thread.join().expect("a thread that panics ends the execution");
    }
}
