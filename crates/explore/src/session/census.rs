//! The failures of a session that goes on after the first.

use raddle_results::{Cause, Failure, Failures};

use crate::wilson;

/// Failures of more causes than this are only counted.
const MOST_CAUSES: usize = 32;

/// Failing runs, counted by cause.
#[derive(Default)]
pub(super) struct Census {
    /// With the word for each, in the order found.
    causes: Vec<(String, Cause)>,
    /// Runs that failed for causes not among these.
    others: u64,
    /// By part of the strategy: how many of its runs failed.
    by_part: Vec<u64>,
}

impl Census {
    /// Counts a run, made by this part of the strategy, that failed for this cause. `describe` is
    /// called if it is a new one.
    pub(super) fn add(&mut self, word: String, part: usize, describe: impl FnOnce() -> Failure) {
        if self.by_part.len() <= part {
            self.by_part.resize(part + 1, 0);
        }
        self.by_part[part] += 1;
        match self.causes.iter().position(|(known, _)| *known == word) {
            Some(known) => self.causes[known].1.runs += 1,
            None if self.causes.len() == MOST_CAUSES => self.others += 1,
            None => self.causes.push((word, Cause { failure: describe(), runs: 1 })),
        }
    }

    /// The first failure.
    pub(super) fn first(&self) -> Option<&Failure> {
        self.causes.first().map(|(_, cause)| &cause.failure)
    }

    /// How many runs of a part of the strategy failed.
    pub(super) fn of_part(&self, part: usize) -> u64 {
        self.by_part.get(part).copied().unwrap_or(0)
    }

    /// What came of `runs` runs.
    pub(super) fn sum(self, runs: u64) -> Failures {
        let failing = self.by_part.iter().sum();
        let causes = self.causes.into_iter().map(|(_, cause)| cause).collect();
        Failures { failing, runs, interval: wilson(failing, runs), causes, others: self.others }
    }
}
