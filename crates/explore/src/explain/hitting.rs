//! Least hitting sets: the fewest elements of which every clause has at least one.
//!
//! Exact, by increasing size. Of elements that hit the same clauses only the best is kept, and none that hits fewer
//! clauses than another.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

/// Sets with more elements are not looked for.
const MAX_SIZE: usize = 8;
/// The most steps of one search.
const MAX_STEPS: u64 = 300_000;

/// The most clauses.
pub(super) const MAX_CLAUSES: usize = 256;

/// One bit for each clause.
type Bits = [u64; MAX_CLAUSES / 64];

/// Clauses, by their elements.
pub(super) struct Clauses<E> {
    numbers: HashMap<E, usize>,
    elements: Vec<E>,
    /// By element: the clauses that have it.
    hits: Vec<Bits>,
    count: usize,
}

impl<E: Copy + Eq + Hash> Clauses<E> {
    pub(super) fn new() -> Clauses<E> {
        Clauses { numbers: HashMap::new(), elements: Vec::new(), hits: Vec::new(), count: 0 }
    }

    /// Adds a clause. There are fewer than [`MAX_CLAUSES`].
    pub(super) fn add(&mut self, clause: &[E]) {
        for &element in clause {
            let place = *self.numbers.entry(element).or_insert_with(|| {
                self.elements.push(element);
                self.hits.push(Bits::default());
                self.elements.len() - 1
            });
            self.hits[place][self.count / 64] |= 1 << (self.count % 64);
        }
        self.count += 1;
    }

    /// Returns a least set that hits every clause, one with a small sum of ranks. Returns `None` if the search takes too
    /// long, or a clause is empty.
    pub(super) fn least_hitting_set(&self, rank: impl Fn(E) -> usize) -> Option<Vec<E>> {
        let usable = self.usable(rank);
        let mut search =
            Search { clauses: self, usable: &usable, chosen: Vec::new(), best: None, steps: 0 };
        for size in 0..=MAX_SIZE {
            search.extend(&Bits::default(), size);
            if search.steps > MAX_STEPS {
                return None;
            }
            if let Some((_, best)) = search.best {
                return Some(best.into_iter().map(|element| self.elements[element]).collect());
            }
        }
        None
    }

    /// Returns the elements that a least set may need, with their ranks.
    fn usable(&self, rank: impl Fn(E) -> usize) -> Vec<(usize, usize)> {
        let mut best: HashMap<&Bits, (usize, usize)> = HashMap::new();
        for (element, hits) in self.hits.iter().enumerate() {
            let rank = rank(self.elements[element]);
            let known = best.entry(hits).or_insert((element, rank));
            if rank < known.1 {
                *known = (element, rank);
            }
        }
        let mut kept: Vec<(usize, usize)> = best.into_values().collect();
        let size = |element: usize| self.hits[element].iter().map(|word| word.count_ones()).sum();
        kept.sort_unstable_by_key(|&(element, _)| (Reverse::<u32>(size(element)), element));
        let mut maximal: Vec<(usize, usize)> = Vec::new();
        for (element, rank) in kept {
            let is_part = |&(other, _): &(usize, usize)| {
                self.hits[element].iter().zip(&self.hits[other]).all(|(a, b)| a & !b == 0)
            };
            if !maximal.iter().any(is_part) {
                maximal.push((element, rank));
            }
        }
        maximal
    }
}

struct Search<'c, E> {
    clauses: &'c Clauses<E>,
    /// Elements and their ranks.
    usable: &'c [(usize, usize)],
    chosen: Vec<(usize, usize)>,
    best: Option<(usize, Vec<usize>)>,
    steps: u64,
}

impl<E> Search<'_, E> {
    /// Extends the chosen elements, which hit `done`, by at most `left` others.
    fn extend(&mut self, done: &Bits, left: usize) {
        self.steps += 1;
        let has = |bits: &Bits, clause: usize| bits[clause / 64] >> (clause % 64) & 1 == 1;
        let Some(open) = (0..self.clauses.count).find(|&clause| !has(done, clause)) else {
            let rank = self.chosen.iter().map(|chosen| chosen.1).sum();
            if self.best.as_ref().is_none_or(|best| rank < best.0) {
                let set = self.chosen.iter().map(|chosen| chosen.0).collect();
                self.best = Some((rank, set));
            }
            return;
        };
        if left == 0 || self.steps > MAX_STEPS {
            return;
        }
        for &chosen in self.usable {
            let hits = &self.clauses.hits[chosen.0];
            if has(hits, open) {
                let done = std::array::from_fn(|word| done[word] | hits[word]);
                self.chosen.push(chosen);
                self.extend(&done, left - 1);
                self.chosen.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use raddle_core::Rng;

    use super::*;

    #[test]
    fn sets_are_least() {
        let mut rng = Rng::new(3);
        for _ in 0..300 {
            let clauses: Vec<Vec<u32>> = (0..1 + rng.below(6))
                .map(|_| (0..8).filter(|_| rng.below(3) == 0).collect())
                .collect();
            let rank = |element: u32| (element * 7 % 5) as usize;
            // Brute force over all subsets.
            let is_hit = |set: u32| clauses.iter().all(|c| c.iter().any(|e| set >> e & 1 == 1));
            let least = (0..256u32).filter(|&set| is_hit(set)).map(u32::count_ones).min();
            let mut all = Clauses::new();
            clauses.iter().for_each(|clause| all.add(clause));
            let found = all.least_hitting_set(rank);
            assert!(found.iter().all(|set| is_hit(set.iter().map(|element| 1 << element).sum())));
            assert_eq!(found.map(|set| set.len() as u32), least, "{clauses:?}");
        }
    }
}
