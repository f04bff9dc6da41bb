//! The number of distinct executions, in bounded memory.
//!
//! The count is exact up to a limit. Beyond it only fingerprints that end in a number of zero bits are
//! kept, and the others are estimated from them (Wegman's adaptive sampling; relative error about
//! 1/√limit).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

/// A set of fingerprints of bounded size.
#[derive(Clone, Debug)]
pub struct Classes {
    /// The fingerprints kept, and whether each was added more than once.
    kept: HashMap<u64, bool, BuildHasherDefault<Identity>>,
    limit: usize,
    /// Fingerprints are kept if this many of their low bits are zero.
    zeros: u32,
    /// The last fingerprint, which enters the table when another one follows. A program with one execution
    /// needs no table.
    last: Option<u64>,
    /// Whether the last one was added several times in a row.
    last_again: bool,
    /// The number of kept fingerprints that were added once.
    singles: u64,
    /// Some kept fingerprints that were added more than once, each at its [place](place_of): adding them again
    /// changes nothing, so that they need no lookup in the table. Other entries belong at another place. Empty
    /// at first.
    repeated: Box<[u64]>,
}

/// The number of kept fingerprints from which on `repeated` is used.
const MANY: usize = 64;

/// Returns the place of a fingerprint in `repeated`.
#[inline(always)]
fn place_of(fingerprint: u64) -> usize {
    (fingerprint >> 32) as usize & 1023
}

impl Classes {
    /// Makes a set that keeps up to `limit` fingerprints.
    pub fn new(limit: usize) -> Classes {
        Classes {
            kept: HashMap::default(),
            limit,
            zeros: 0,
            last: None,
            last_again: false,
            singles: 0,
            repeated: Box::default(),
        }
    }

    /// Adds a fingerprint.
    #[inline(always)]
    pub fn insert(&mut self, fingerprint: u64) {
        if matches!(self.last, Some(last) if last == fingerprint) {
            self.last_again = true;
            return;
        }
        let (repeated, place) = (&*self.repeated, place_of(fingerprint));
        if place < repeated.len() && repeated[place] == fingerprint {
            return;
        }
        self.insert_another(fingerprint);
    }

    #[inline(never)]
    fn insert_another(&mut self, fingerprint: u64) {
        self.keep_last();
        self.last = Some(fingerprint);
    }

    /// Adds all fingerprints of another set, of the same limit.
    pub fn merge(&mut self, other: &Classes) {
        self.keep_last();
        self.keep_fewer(other.zeros);
        let kept = other.kept.iter().map(|(&fingerprint, &again)| (fingerprint, again));
        for (fingerprint, again) in kept.chain(other.last.map(|last| (last, other.last_again))) {
            self.keep(fingerprint, again);
        }
    }

    /// Returns the number of fingerprints that were added exactly once.
    pub fn singles(&self) -> u64 {
        let singles = match self.kept_with_last() {
            // The last one is kept, too.
            Some(Some(again)) => self.singles - u64::from(!again),
            Some(None) => self.singles + u64::from(!self.last_again),
            None => self.singles,
        };
        singles << self.zeros
    }

    /// Returns the number of distinct fingerprints that were added.
    pub fn count(&self) -> u64 {
        let is_more = matches!(self.kept_with_last(), Some(None));
        (self.kept.len() as u64 + u64::from(is_more)) << self.zeros
    }

    /// Returns whether [`count`](Classes::count) is exact.
    pub fn is_exact(&self) -> bool {
        self.zeros == 0
    }

    /// Returns the table's entry of the last fingerprint, if that counts.
    fn kept_with_last(&self) -> Option<Option<bool>> {
        let last = self.last.filter(|&last| self.keeps(last))?;
        Some(self.kept.get(&last).copied())
    }

    #[inline]
    fn keeps(&self, fingerprint: u64) -> bool {
        fingerprint & ((1 << self.zeros) - 1) == 0
    }

    #[inline]
    fn keep_last(&mut self) {
        if let Some(last) = self.last.take() {
            let again = std::mem::take(&mut self.last_again);
            self.keep(last, again);
        }
    }

    /// Adds a fingerprint to the table if it counts. `again` says that it was added several times.
    #[inline]
    fn keep(&mut self, fingerprint: u64, again: bool) {
        if !self.keeps(fingerprint) {
            return;
        }
        match self.kept.entry(fingerprint) {
            Entry::Vacant(entry) => {
                entry.insert(again);
                self.singles += u64::from(!again);
            }
            Entry::Occupied(mut entry) => {
                self.singles -= u64::from(!entry.insert(true));
                self.remember(fingerprint);
            }
        }
        while self.kept.len() > self.limit {
            self.keep_fewer(self.zeros + 1);
        }
    }

    /// Records that a kept fingerprint was added again.
    fn remember(&mut self, fingerprint: u64) {
        if self.repeated.is_empty() {
            if self.kept.len() < MANY {
                return;
            }
            let of_another_place = |place: u64| !(place << 32);
            self.repeated = (0..1024).map(of_another_place).collect();
        }
        self.repeated[place_of(fingerprint)] = fingerprint;
    }

    /// Drops fingerprints with fewer zero bits than this.
    fn keep_fewer(&mut self, zeros: u32) {
        if zeros > self.zeros {
            self.zeros = zeros;
            let mask = (1 << zeros) - 1;
            self.kept.retain(|fingerprint, _| fingerprint & mask == 0);
            self.singles = self.kept.values().filter(|again| !**again).count() as u64;
        }
    }
}

/// The identity as a hash function. The table uses the high bits of fingerprints, sampling the low ones.
#[derive(Clone, Default)]
pub(crate) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("raddle invariant broken: only whole fingerprints are hashed")
    }

    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint.rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use raddle_strategy::mix;

    #[test]
    fn counts_exactly_up_to_the_limit() {
        let mut classes = Classes::new(1000);
        for round in 0..3000 {
            classes.insert(mix(1, round % 1000));
        }
        assert_eq!((classes.count(), classes.is_exact()), (1000, true));
        assert_eq!(classes.singles(), 0);
    }

    #[test]
    fn counts_as_a_plain_list_does_after_every_step() {
        let (mut classes, mut counts) = (Classes::new(1000), BTreeMap::new());
        for round in 0..2000 {
            // Few different ones, and most several times in a row.
            let fingerprint = mix(3, mix(4, round / 3) % 40);
            classes.insert(fingerprint);
            *counts.entry(fingerprint).or_insert(0) += 1;
            let singles = counts.values().filter(|&&count| count == 1).count() as u64;
            assert_eq!((classes.count(), classes.singles()), (counts.len() as u64, singles));
            if round % 7 == 0 {
                let mut merged = Classes::new(1000);
                merged.insert(mix(5, 1));
                merged.merge(&classes);
                assert_eq!(
                    (merged.count(), merged.singles()),
                    (counts.len() as u64 + 1, singles + 1)
                );
            }
        }
    }

    #[test]
    fn counts_what_came_once() {
        let mut classes = Classes::new(1000);
        for number in [1, 1, 2, 3, 2, 4, 5, 5, 5, 6, 7] {
            classes.insert(mix(2, number));
        }
        assert_eq!((classes.count(), classes.singles()), (7, 4));
        let mut many = Classes::new(4096);
        for round in 0..150_000 {
            many.insert(mix(1, round % 100_000));
        }
        assert!((45_000..55_000).contains(&many.singles()), "{}", many.singles());
    }

    #[test]
    fn estimates_beyond_it_in_bounded_memory() {
        let mut classes = Classes::new(4096);
        for round in 0..1_000_000 {
            classes.insert(mix(1, round));
        }
        assert!(!classes.is_exact() && classes.kept.len() <= 4096);
        assert!((900_000..1_100_000).contains(&classes.count()), "{}", classes.count());
    }

    #[test]
    fn sets_that_overlap_make_one() {
        for (count, limit) in [(1000, 1000), (100_000, 1024)] {
            let (mut whole, mut parts) =
                (Classes::new(limit), [(); 3].map(|()| Classes::new(limit)));
            for round in 0..count {
                whole.insert(mix(1, round));
                parts[round as usize % 2].insert(mix(1, round));
                parts[2].insert(mix(1, round / 5));
            }
            let [mut all, other, third] = parts;
            all.merge(&other);
            all.merge(&third);
            assert_eq!((all.count(), all.is_exact()), (whole.count(), whole.is_exact()));
        }
    }
}
