//! The guarantee of a sampling strategy.

use alloc::string::String;

/// A bound on the probability that a bug has escaped all runs of probabilistic concurrency testing.
///
/// The bound holds for bugs of at most this depth in executions with at most this many threads and steps. Only
/// qualifying runs count. They search for bugs of that depth or more, without measures against starvation. These
/// numbers were fixed before the run and not exceeded in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Guarantee {
    /// The word that names the strategy of the runs.
    pub strategy: String,
    /// The maximal depth of the bug.
    pub depth: u32,
    /// The maximal number of threads of an execution.
    pub threads: u32,
    /// The maximal number of counted steps of an execution, or of one of its phases.
    pub steps: u64,
    /// Whether the bound holds only for bugs within one phase. Phases are separated by points at which one thread is
    /// alive.
    pub in_one_phase: bool,
    /// For weak memory, the number of newest stores that a communication may read. Then `steps` counts
    /// communication events, and `depth` those that communicate.
    pub history: Option<u32>,
    /// The number of qualifying runs.
    pub runs: u64,
    /// The upper bound of the probability.
    pub escape: f64,
}
