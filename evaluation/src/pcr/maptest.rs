//! MAPTest (Wang et al., ASE 2019), as far as it is a baseline: tests made at random from the operations of a
//! class, a prefix and two suffixes, with those operations preferred that have shown few patterns so far.
//!
//! Deviation: the tool knows from the bytecode which operations can show a pattern. Here a pair of operations is
//! preferred the fewer tests had it, and the more new patterns the last of them showed.

use std::borrow::Cow;

use raddle::Accesses;
use raddle_core::Ending;
use raddle_explore::MapCoverage;
use raddle_programs::Form;
use raddle_programs::pcr::{Subject, Test};
use raddle_strategy::{Rng, mix};

use super::watch::watch;

/// The maximum number of operations of a prefix.
const LONGEST_PREFIX: usize = 3;

/// Makes tests.
pub(super) struct MapTest {
    operations: Vec<&'static str>,
    /// For each pair of operations how many tests had it, and how many new patterns the last one showed.
    pairs: Vec<(u64, u64)>,
    rng: Rng,
}

impl MapTest {
    pub(super) fn new(operations: Vec<&'static str>, seed: u64) -> MapTest {
        let pairs = vec![(0, 0); operations.len() * operations.len()];
        MapTest { operations, pairs, rng: Rng::new(seed) }
    }

    /// The next test, with the number of its pair.
    pub(super) fn next(&mut self) -> (usize, Test) {
        // Drawn in proportion, in whole numbers.
        let weight = |&(tests, new): &(u64, u64)| (1 + new) * 1_000 / (1 + tests) + 1;
        let all: u64 = self.pairs.iter().map(weight).sum();
        let mut left = self.rng.below(all as usize) as u64;
        let drawn = self.pairs.iter().position(|pair| {
            let is_here = left < weight(pair);
            left = left.saturating_sub(weight(pair));
            is_here
        });
        let pair = drawn.expect("the weights add up");
        let count = self.operations.len();
        let (first, second) = (self.operations[pair / count], self.operations[pair % count]);
        let length = self.rng.below(LONGEST_PREFIX + 1);
        let prefix =
            (0..length).map(|_| self.operations[self.rng.below(count)]).collect::<Vec<_>>();
        let suffixes = [Cow::Owned(vec![first]), Cow::Owned(vec![second])];
        (pair, Test { prefix: Cow::Owned(prefix), suffixes })
    }

    /// How many new patterns a test with this pair has shown.
    pub(super) fn learn(&mut self, pair: usize, new: u64) {
        let (tests, last) = &mut self.pairs[pair];
        *tests += 1;
        *last = new;
    }
}

/// After how many tests, each under one random schedule, the first fails.
pub(super) fn first_failure(
    subject: &'static Subject,
    seed: u64,
    most: u64,
) -> Result<Option<u64>, String> {
    let mut maker = MapTest::new((subject.operations)(), seed);
    let mut coverage = MapCoverage::new(Accesses::BySite);
    for schedules in 1..=most {
        let (pair, test) = maker.next();
        let before = coverage.covered();
        let mut fails = false;
        let run = subject.run;
        watch(
            "random",
            mix(seed, schedules),
            &move || run(Form::Bugged, &test, 2),
            &mut |trace| {
                fails = matches!(trace.ending, Ending::Panicked(_));
                coverage.learn(trace);
                false
            },
        )?;
        if fails {
            return Ok(Some(schedules));
        }
        maker.learn(pair, coverage.covered() - before);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shows_new_patterns_is_tried_more_often() {
        let mut maker = MapTest::new(vec!["a", "b"], 1);
        let mut drawn = [0u64; 4];
        for _ in 0..2_000 {
            let (pair, test) = maker.next();
            assert!(test.prefix.len() <= LONGEST_PREFIX);
            drawn[pair] += 1;
            maker.learn(pair, if pair == 2 { 50 } else { 0 });
        }
        assert!(drawn[2] > 2 * drawn[0] && drawn.iter().all(|&count| count > 50), "{drawn:?}");
    }
}
