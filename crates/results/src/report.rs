//! What a check did, and what its result means.

use std::borrow::Cow;
use std::time::Duration;

use raddle_core::{Guarantee, MemoryModel, Site};

use crate::{Coverage, Failure, Failures, PatternSearch, Warning};

/// The number of threads that a check may leave behind because they cannot be cleared away. Each takes some 10 KB and two
/// mappings of memory, of which Linux allows 65,530.
pub const MAX_LEAKED: u64 = 4096;

/// The number of threads that all checks of a process may leave behind. From there on a check ends early when it leaves
/// one behind.
pub const MAX_LEAKED_BY_PROCESS: u64 = 6 * MAX_LEAKED;

/// The result of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the check.
    pub name: Cow<'static, str>,
    /// The word that names the strategy.
    pub strategy: Cow<'static, str>,
    /// The memory model.
    pub memory: MemoryModel,
    /// The seed of all randomness.
    pub seed: u64,
    /// The verdict.
    pub verdict: Verdict,
    /// The number of runs, without those that only confirmed something and those that are `incomplete`.
    pub executions: u64,
    /// The number of events of all runs.
    pub steps: u64,
    /// The number of different equivalence classes seen.
    pub classes: u64,
    /// Whether `classes` was counted; otherwise it is an estimate.
    pub classes_exact: bool,
    /// The number of runs that were discarded because they reached the step limit.
    pub discarded: u64,
    /// Whether objects were freed by the last `std::sync::Arc`, whose drops are no steps, in a way that would be wrong
    /// if the drops of the `Arc` did not order it.
    pub unseen_drops: bool,
    /// The number of threads that could not be cleared away after their run. A check ends early at [`MAX_LEAKED`]. If it
    /// left threads behind when all checks together had reached [`MAX_LEAKED_BY_PROCESS`], this is the number of all.
    pub leaked: u64,
    /// The number of runs that were made again with their steps in another, equivalent order, to look for
    /// state that raddle does not see. They are not among `executions`.
    pub equivalents: u64,
    /// The number of runs of other strategies that `auto` made first. They are not among `executions`.
    pub probes: u64,
    /// Whether a search ended, but claims nothing: the time did not suffice to look for state that raddle does not see.
    pub unchecked: bool,
    /// The difference that shows that threads share state that raddle does not see.
    pub hidden_state: Option<Box<HiddenState>>,
    /// What raddle did not see or explore, in the runs that were looked at.
    pub blind_spots: BlindSpots,
    /// The runs that are no whole executions of the program.
    pub incomplete: Incomplete,
    /// The duration of the check.
    pub elapsed: Duration,
    /// The maximal number of threads alive in a run, main included.
    pub threads: u32,
    /// The phases of the check, in order, if the strategy has several.
    pub phases: Vec<Phase>,
    /// The cost of a systematic search.
    pub search: Option<Search>,
    /// The memory-access patterns seen, if coverage was requested.
    pub coverage: Option<Box<Coverage>>,
    /// The work of a search for memory-access patterns.
    pub patterns: Option<Box<PatternSearch>>,
    /// Bounds for bugs that were not found, from the runs that allow one.
    pub guarantees: Vec<Guarantee>,
    /// The estimated probability that the next run belongs to a class not seen before (Good and Turing:
    /// classes seen once, divided by runs). Only if all runs have the same distribution.
    pub unseen: Option<f64>,
    /// Suspicious behaviour of executions that do not fail; each kind once.
    pub warnings: Vec<Warning>,
    /// The conditions that are to hold in some execution and that one came to, in the order of their places.
    pub conditions: Vec<Condition>,
    /// Whether the check fails if one of `conditions` never held.
    pub conditions_required: bool,
    /// The command that runs the check again, if it is known.
    pub rerun: Option<String>,
    /// All failures, if the check continued after the first.
    pub failures: Option<Box<Failures>>,
}

impl Report {
    /// Returns the failure, if there is one.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.verdict {
            Verdict::Failed(failure) => Some(failure),
            Verdict::Exhausted
            | Verdict::Bounded(_)
            | Verdict::Sampled
            | Verdict::NothingToExplore => None,
        }
    }

    /// Returns whether the check failed: an execution fails, or a condition never held that had to.
    pub fn has_failed(&self) -> bool {
        let is_unmet = self.conditions.iter().any(|condition| !condition.held);
        self.failure().is_some() || self.conditions_required && is_unmet
    }
}

/// A condition that is to hold in some execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The name that the program gave it.
    pub name: String,
    /// The place in the program.
    pub site: Site,
    /// Whether it held in an execution.
    pub held: bool,
}

/// The numbers of runs in which a thread was stopped, by reason.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Incomplete {
    /// Runs in which something that the program assumed did not hold.
    pub assumed: u64,
    /// Runs of a search in which a thread waited in a loop, and what it waited for changed later. Other runs
    /// show what follows.
    pub waits: u64,
    /// Runs that were cut off by the time limit.
    pub out_of_time: u64,
}

impl Incomplete {
    /// Returns the number of all such runs.
    pub fn total(&self) -> u64 {
        self.assumed + self.waits + self.out_of_time
    }
}

/// The verdict of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// Every execution was tried and none fails.
    Exhausted,
    /// Every execution within these bounds was tried and none fails.
    Bounded(Bounds),
    /// None of the executions tried fails.
    Sampled,
    /// There is only one execution, and it does not fail.
    NothingToExplore,
    /// An execution fails.
    Failed(Box<Failure>),
}

/// Two runs with the same steps in equivalent orders that do not end alike: threads share state that raddle
/// does not see.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HiddenState {
    /// The number of the first run, counted from one.
    pub execution: u64,
    /// The step that differs, in the first run.
    pub before: String,
    /// The same step in the second run.
    pub after: String,
}

/// What raddle does not see of a program, or does not explore.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct BlindSpots {
    /// The largest number of spawned threads that ended without an operation in one run.
    pub silent_threads: u32,
    /// Whether threads share an atomic variable with orderings weaker than `SeqCst`, while executions are
    /// sequentially consistent.
    pub weak_orderings: bool,
    /// Whether a thread waits in a loop that reads the clock. A search then claims nothing: how often the loop goes round
    /// depends on the time that steps take.
    pub clock_loops: bool,
    /// Whether threads waited in loops and rounds were left out in which they only wait.
    pub idle_rounds: bool,
}

impl BlindSpots {
    /// Adds the blind spots of other runs.
    pub fn merge(&mut self, other: BlindSpots) {
        self.silent_threads = self.silent_threads.max(other.silent_threads);
        self.weak_orderings |= other.weak_orderings;
        self.clock_loops |= other.clock_loops;
        self.idle_rounds |= other.idle_rounds;
    }
}

/// The bounds of a search.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// The maximal number of preemptions: switches away from a thread that could have continued.
    pub preemptions: Option<u32>,
    /// The maximal number of deviations from the scheduler's default order.
    pub delays: Option<u32>,
    /// How many more times than other enabled threads a thread may yield.
    pub unfairness: Option<u32>,
}

/// A part of a check.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    /// The word that names the strategy of this phase.
    pub strategy: String,
    /// The number of executions.
    pub executions: u64,
    /// The number of failing executions. Counted only if the check continued after the first failure.
    pub failing: u64,
    /// How the phase ended.
    pub end: PhaseEnd,
}

/// How a phase of a check ended.
#[derive(Copy, Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum PhaseEnd {
    /// Every execution was tried.
    Exhausted,
    /// Every execution within these bounds was tried.
    Bounded(Bounds),
    /// There are too many executions: about this many.
    TooMany(f64),
    /// An execution did not end within the steps that can be searched.
    TooLong,
    /// Equivalent executions differ: threads share state that raddle does not see.
    HiddenState,
    /// A thread waits in a loop that reads the clock, so what happens depends on the time that steps take.
    Clock,
    /// The runs or the time allotted were used up.
    OutOfBudget,
    /// The phase found the failure that is reported first.
    Failed,
}

/// The cost and progress of a systematic search.
#[derive(Copy, Clone, PartialEq, Debug, Default)]
pub struct Search {
    /// The number of runs abandoned because everything still reachable from them had been tried.
    pub blocked: u64,
    /// The maximal number of points kept at once.
    pub points: u64,
    /// The maximal number of steps planned at once (the size of all wakeup trees).
    pub planned: u64,
    /// The estimated number of all executions; `None` before the first run.
    pub estimate: Option<f64>,
}

/// The progress of a check that is still running.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Progress {
    /// The number of runs made.
    pub executions: u64,
    /// The approximate number of different equivalence classes seen.
    pub classes: u64,
    /// The estimated number of all runs, if a search can tell.
    pub total: Option<f64>,
}
