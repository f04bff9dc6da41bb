//! What sampling rules out.

use alloc::string::String;

/// A bound on the probability that a bug has escaped all runs of probabilistic concurrency testing.
///
/// Holds for a bug of the given depth in executions with no more threads and steps than given. Only
/// qualifying runs count: made for bugs of that depth or more, with these numbers fixed before the run and
/// not exceeded in it, and without measures against starvation.
#[derive(Clone, PartialEq, Debug)]
pub struct Guarantee {
    /// The strategy of the runs, as its word.
    pub strategy: String,
    /// The maximal depth of the bug.
    pub depth: u32,
    /// The maximal number of threads of an execution.
    pub threads: u32,
    /// The maximal number of counted steps of an execution, or of one of its phases.
    pub steps: u64,
    /// Whether the bound holds only for bugs within one phase: between points at which all threads but one
    /// have ended.
    pub in_one_phase: bool,
    /// For weak memory: how many of the newest stores a communication may read. Then `steps` counts
    /// communication events, and `depth` counts those that communicate.
    pub history: Option<u32>,
    /// The number of qualifying runs.
    pub runs: u64,
    /// The upper bound of the probability.
    pub escape: f64,
}
