//! The failures of a check that continues after the first.

use raddle_results::{Cause, Failure, Failures};

use crate::wilson;

/// Failures of further causes are only counted.
const MAX_CAUSES: usize = 32;

/// Failing runs, counted by cause.
#[derive(Default)]
pub(super) struct Census {
    /// Each with its word, in the order found.
    causes: Vec<(String, Cause)>,
    /// The runs that failed for other causes.
    others: u64,
    /// By member of a portfolio: the runs that failed.
    by_member: Vec<u64>,
}

impl Census {
    /// Counts a run of a member of a portfolio that failed for the cause `word`. Calls `describe` if the
    /// cause is new.
    pub(super) fn add(&mut self, word: String, member: usize, describe: impl FnOnce() -> Failure) {
        if self.by_member.len() <= member {
            self.by_member.resize(member + 1, 0);
        }
        self.by_member[member] += 1;
        match self.causes.iter().position(|(known, _)| *known == word) {
            Some(known) => self.causes[known].1.runs += 1,
            None if self.causes.len() == MAX_CAUSES => self.others += 1,
            None => self.causes.push((word, Cause { failure: describe(), runs: 1 })),
        }
    }

    /// Returns the first failure.
    pub(super) fn first(&self) -> Option<&Failure> {
        self.causes.first().map(|(_, cause)| &cause.failure)
    }

    /// Returns the number of runs of a member that failed.
    pub(super) fn of_member(&self, member: usize) -> u64 {
        self.by_member.get(member).copied().unwrap_or(0)
    }

    /// Returns the counts after `runs` runs.
    pub(super) fn sum(self, runs: u64) -> Failures {
        let failing = self.by_member.iter().sum();
        let causes = self.causes.into_iter().map(|(_, cause)| cause).collect();
        Failures { failing, runs, interval: wilson(failing, runs), causes, others: self.others }
    }
}
