//! The result of a check as plain data.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::{
    Coverage, Leak, ObjectId, Panic, PatternSearch, PlainAccess, Site, ThreadId, Trace, Warning,
};

/// What threads may see of each other's stores.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum MemoryModel {
    /// Sequential consistency: every load returns the newest value.
    #[default]
    Sc,
    /// RC11: what Rust's memory orderings allow, without load buffering.
    Rc11,
}

impl fmt::Display for MemoryModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemoryModel::Sc => "SC",
            MemoryModel::Rc11 => "RC11",
        })
    }
}

/// What a check found, and what a clean result means.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the check.
    pub name: Cow<'static, str>,
    /// The strategy, as its word.
    pub strategy: Cow<'static, str>,
    /// The memory model.
    pub memory: MemoryModel,
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
    /// What was done one after the other, if the strategy has several parts.
    pub phases: Vec<Phase>,
    /// What a systematic search took.
    pub search: Option<Search>,
    /// Which memory-access patterns were seen, if anybody asked.
    pub coverage: Option<Box<Coverage>>,
    /// What a search for them has done.
    pub patterns: Option<Box<PatternSearch>>,
    /// What is known of bugs that were not found, from the runs that allow to say it.
    pub guarantees: Vec<Guarantee>,
    /// About how likely the next run would have been of a class not seen before (Good and Turing:
    /// classes seen once, by runs). Only if all runs were drawn alike.
    pub unseen: Option<f64>,
    /// What is odd about executions that do not fail; each thing once.
    pub warnings: Vec<Warning>,
    /// All failures, if the check went on after the first.
    pub failures: Option<Box<Failures>>,
}

/// What came of going on after the first failure.
#[derive(Clone, Debug)]
pub struct Failures {
    /// How many runs failed.
    pub failing: u64,
    /// Of so many, without those set aside.
    pub runs: u64,
    /// The bounds of the probability that a run fails, with 95 % confidence (Wilson): for runs drawn
    /// alike, and about so for others.
    pub interval: (f64, f64),
    /// The causes, in the order found.
    pub causes: Vec<Cause>,
    /// How many of the failing runs had other causes, of which there were too many to keep.
    pub others: u64,
}

/// Failures of the same kind at the same place with the same message, numbers aside.
#[derive(Clone, Debug)]
pub struct Cause {
    /// The first of them.
    pub failure: Failure,
    /// How many there were.
    pub runs: u64,
}

/// How likely it is that a bug has escaped all runs of probabilistic concurrency testing.
///
/// For a bug of the given depth in executions of no more threads and steps than given. Counted are
/// the qualifying runs: made for bugs of that depth or more, with these numbers fixed before the run
/// and not exceeded in it, and without measures against starvation.
#[derive(Clone, PartialEq, Debug)]
pub struct Guarantee {
    /// How the runs were made, as its word.
    pub strategy: String,
    /// The depth of the bug at most.
    pub depth: u32,
    /// The threads of an execution at most.
    pub threads: u32,
    /// The counted steps of an execution at most, or of one of its phases.
    pub steps: u64,
    /// Whether this is only about bugs within one phase: between points at which all threads but one
    /// have ended.
    pub in_one_phase: bool,
    /// For weak memory: the steps are communication events, the depth counts those that communicate,
    /// each with one of so many newest stores.
    pub history: Option<u32>,
    /// How many runs qualify.
    pub runs: u64,
    /// The probability, at most.
    pub escape: f64,
}

/// How far a check has come that is still under way.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Progress {
    /// How many runs were made.
    pub executions: u64,
    /// How many different equivalence classes were seen, about.
    pub classes: u64,
    /// About how many runs it will be, where a search can tell.
    pub total: Option<f64>,
}

/// A part of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    /// How executions were chosen, as its word.
    pub strategy: String,
    /// How many there were.
    pub executions: u64,
    /// How many of them failed, where that is counted: if the check went on after the first failure.
    pub failing: u64,
    /// How it ended.
    pub end: PhaseEnd,
}

/// How a part of a check ended.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum PhaseEnd {
    /// Every execution was tried.
    Exhausted,
    /// Every execution within these bounds was tried.
    Bounded(Bounds),
    /// There would have been too many executions: about so many.
    TooMany(f64),
    /// An execution did not end within the steps that can be searched.
    TooLong,
    /// Its runs or its time were used up.
    OutOfBudget,
    /// It found the failure that is reported first.
    Failed,
}

/// What limits the executions that a search tries.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// How often a thread that could have gone on had to wait for another, at most.
    pub preemptions: Option<u32>,
    /// How often the scheduler left its usual order, at most.
    pub delays: Option<u32>,
    /// How much more often than others that could go on a thread gave way, at most.
    pub unfairness: Option<u32>,
}

/// What a systematic search took, and how far it is.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub struct Search {
    /// Runs given up half-way because everything they could still reach had been tried.
    pub blocked: u64,
    /// The most points kept at once.
    pub points: u64,
    /// The most steps planned at once (the size of all wakeup trees).
    pub planned: u64,
    /// About how many executions there are in all; none before the first run.
    pub estimate: Option<f64>,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Every execution was tried and none fails.
    Exhausted,
    /// Every execution within these bounds was tried and none fails.
    Bounded(Bounds),
    /// None of the executions tried fails.
    Sampled,
    /// There is only one execution, and it does not fail.
    NothingToExplore,
    /// A failure.
    Failed(Box<Failure>),
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
    /// Two threads access a plain variable, at least one to write, and nothing orders them.
    Race {
        /// The access that came first in this run.
        first: PlainAccess,
        /// The other.
        second: PlainAccess,
    },
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
    /// A run left something behind.
    Leak(Leak),
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
            Verdict::Exhausted
            | Verdict::Bounded(_)
            | Verdict::Sampled
            | Verdict::NothingToExplore => None,
        }
    }
}
