//! How many memory-access patterns have been seen, and how they were looked for.

use alloc::vec::Vec;

use crate::Site;

/// How many memory-access patterns have been seen (MAP-coverage).
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Coverage {
    /// What tells two accesses apart.
    pub by: Accesses,
    /// How many patterns were seen.
    pub covered: u64,
    /// How many there are, estimated from above: some can never be seen.
    pub total: f64,
    /// Each shared variable, with the patterns on it alone.
    pub variables: Vec<VariableCoverage>,
}

/// What tells two accesses apart.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Accesses {
    /// Their line in the source.
    #[default]
    BySite,
    /// Their thread, and how many events it had performed before.
    ByEvent,
}

/// The patterns on one variable.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct VariableCoverage {
    /// A line that accesses it.
    pub site: Site,
    /// How many accesses read it.
    pub reads: u64,
    /// How many write it.
    pub writes: u64,
    /// How many patterns were seen.
    pub covered: u64,
    /// How many there are, estimated from above.
    pub total: f64,
}

/// What a search for patterns has done.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct PatternSearch {
    /// How many patterns were put together from accesses of runs.
    pub generated: u64,
    /// How many of them each of the six filter rules left out: not defined, covered, against
    /// the order in a thread, no new state, interrupted, redundant.
    pub filtered: [u64; 6],
    /// How many could not be, because something known to be impossible is part of them.
    pub by_core: u64,
    /// For how many a solver found an order.
    pub solved: u64,
    /// For how many it found that there is none.
    pub unsat: u64,
    /// For how many it gave up.
    pub unknown: u64,
    /// How many were not asked about, because there were too many on one run.
    pub left_out: u64,
    /// How often a solver was asked in all.
    pub asked: u64,
    /// How much it was told: events, edges, and literals of constraints.
    pub told: u64,
    /// How many orders had been planned before.
    pub duplicates: u64,
    /// How many orders were run and did what they were made for.
    pub exhibited: u64,
    /// How many were followed until a thread had to wait for ever, or something failed.
    pub blocked: u64,
    /// How many were not followed: something that raddle does not see decides.
    pub missed: u64,
    /// Whether nothing is left to try.
    pub is_done: bool,
}
