//! The result of a check as plain data.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use crate::{ObjectId, Panic, Site, ThreadId, Trace};

/// What a check found, and what a clean result means.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the check.
    pub name: String,
    /// The strategy, as its word.
    pub strategy: String,
    /// The seed all randomness came from.
    pub seed: u64,
    /// The result.
    pub verdict: Verdict,
    /// How many runs were made, without those that only confirmed something.
    pub executions: u64,
    /// How many events they had in all.
    pub steps: u64,
    /// How many different equivalence classes were seen.
    pub classes: u64,
    /// Whether `classes` was counted; otherwise it is an estimate.
    pub classes_exact: bool,
    /// How many runs hit the step limit and were set aside.
    pub discarded: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// The most threads alive in a run, main included.
    pub threads: u32,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Every execution was tried and none fails.
    Exhausted,
    /// None of the executions tried fails.
    Sampled,
    /// There is only one execution, and it does not fail.
    NothingToExplore,
    /// A failure.
    Failed(alloc::boxed::Box<Failure>),
}

/// A failing execution.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What went wrong.
    pub finding: Finding,
    /// Which run it was, counted from one.
    pub execution: u64,
    /// The run.
    pub trace: Trace,
    /// The word that replays it.
    pub token: String,
    /// Whether replaying it gave the same failure.
    pub reproduced: bool,
}

/// A bug in the program under test.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A thread panicked.
    Panic(Panic),
    /// Threads wait for one another.
    Deadlock(Vec<Wait>),
    /// A run did not end within the step limit.
    StepLimit {
        /// The limit.
        steps: u64,
    },
    /// The same choices gave different runs: something outside raddle's control decides.
    Nondeterminism {
        /// The first step that differed, counted from zero.
        at: usize,
        /// What happened in the first run.
        first: String,
        /// What happened in the second.
        second: String,
    },
    /// A thread could not be cleared away after its run: a destructor waits for ever, or the
    /// program keeps catching raddle's unwinding.
    Stuck {
        /// The thread.
        thread: ThreadId,
        /// Where it is stuck.
        site: Site,
    },
}

/// A thread that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The thread.
    pub thread: ThreadId,
    /// What it waits for.
    pub object: ObjectId,
    /// Where it waits.
    pub site: Site,
    /// Who keeps it waiting, and where each took what it holds.
    pub holders: Vec<(ThreadId, Site)>,
    /// Whether it is part of a cycle of threads waiting for one another.
    pub in_cycle: bool,
}

impl Report {
    /// The failure, if there is one.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.verdict {
            Verdict::Failed(failure) => Some(failure),
            Verdict::Exhausted | Verdict::Sampled | Verdict::NothingToExplore => None,
        }
    }
}
