//! Memory-access patterns: how many were seen, and how a search looked for them.

use raddle_core::Site;

/// The memory-access patterns that runs exhibited (MAP-coverage).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Coverage {
    /// What distinguishes two accesses.
    pub by: Accesses,
    /// The number of patterns seen.
    pub covered: u64,
    /// An upper estimate of the number of all patterns: some can never be seen.
    pub total: f64,
    /// The shared variables, each with the patterns on it alone.
    pub variables: Vec<VariableCoverage>,
}

/// What distinguishes two accesses.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Accesses {
    /// Their source line.
    #[default]
    BySite,
    /// Their thread, and the number of events it had performed before.
    ByEvent,
}

/// The patterns on one variable.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct VariableCoverage {
    /// A line that accesses the variable.
    pub site: Site,
    /// The number of accesses that read it.
    pub reads: u64,
    /// The number of accesses that write it.
    pub writes: u64,
    /// The number of patterns seen.
    pub covered: u64,
    /// An upper estimate of the number of all patterns.
    pub total: f64,
}

/// The work of a search for patterns with a solver.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct PatternSearch {
    /// The number of patterns composed from accesses of runs.
    pub generated: u64,
    /// The numbers of patterns that each of the six filter rules removed: undefined, covered, against
    /// program order, no new state, interrupted, redundant.
    pub filtered: [u64; 6],
    /// The number of patterns refuted because they contain a known contradiction.
    pub by_core: u64,
    /// The number of patterns for which the solver found an order.
    pub solved: u64,
    /// The number of patterns for which the solver proved that no order exists.
    pub unsat: u64,
    /// The number of patterns on which the solver gave up.
    pub unknown: u64,
    /// The number of patterns not given to the solver, because one run had too many.
    pub left_out: u64,
    /// The number of all calls of the solver.
    pub asked: u64,
    /// The size of all its input: events, edges, and literals of constraints.
    pub told: u64,
    /// The number of orders that had been planned before.
    pub duplicates: u64,
    /// The number of orders that were run and exhibited their pattern.
    pub exhibited: u64,
    /// The number of orders that were followed until a thread blocked forever or something failed.
    pub blocked: u64,
    /// The number of orders that were not followed: something raddle does not see decides.
    pub missed: u64,
    /// Whether nothing is left to try.
    pub is_done: bool,
}
