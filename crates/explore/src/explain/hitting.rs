//! Least hitting sets: the fewest elements of which every clause has at least one.
//!
//! Exact, by increasing size. Of elements that hit the same clauses only the best is kept, and none that hits fewer
//! clauses than another.

use std::collections::HashMap;
use std::hash::Hash;

/// Sets with more elements are not looked for.
const MAX_SIZE: usize = 8;
/// The most steps of one search.
const MAX_STEPS: u64 = 300_000;

/// Returns a least set that hits every clause, with the smallest sum of ranks. Returns `None` if the search takes too long,
/// or a clause is empty.
pub(super) fn least_hitting_set<E: Copy + Eq + Hash>(
    clauses: &[Vec<E>],
    rank: impl Fn(E) -> usize,
) -> Option<Vec<E>> {
    let (elements, hits) = by_element(clauses);
    let ranks: Vec<usize> = elements.iter().map(|&element| rank(element)).collect();
    let mut search = Search {
        usable: usable(&hits, &ranks),
        hits,
        ranks,
        clauses: clauses.len(),
        chosen: Vec::new(),
        best: None,
        steps: 0,
    };
    let none = vec![0; clauses.len().div_ceil(64)];
    for size in 0..=MAX_SIZE {
        search.extend(&none, size);
        if search.steps > MAX_STEPS {
            return None;
        }
        if let Some((_, best)) = search.best {
            return Some(best.into_iter().map(|element| elements[element]).collect());
        }
    }
    None
}

/// One bit for each clause.
type Bits = Vec<u64>;

/// Returns the elements, and the clauses that each of them hits.
fn by_element<E: Copy + Eq + Hash>(clauses: &[Vec<E>]) -> (Vec<E>, Vec<Bits>) {
    let words = clauses.len().div_ceil(64);
    let mut numbers: HashMap<E, usize> = HashMap::new();
    let (mut elements, mut hits): (Vec<E>, Vec<Bits>) = (Vec::new(), Vec::new());
    for (number, clause) in clauses.iter().enumerate() {
        for &element in clause {
            let place = *numbers.entry(element).or_insert_with(|| {
                elements.push(element);
                hits.push(vec![0; words]);
                elements.len() - 1
            });
            hits[place][number / 64] |= 1 << (number % 64);
        }
    }
    (elements, hits)
}

/// Returns the elements that a best least set may need.
fn usable(hits: &[Bits], ranks: &[usize]) -> Vec<usize> {
    let mut best: HashMap<&Bits, usize> = HashMap::new();
    for element in 0..hits.len() {
        let known = best.entry(&hits[element]).or_insert(element);
        if ranks[element] < ranks[*known] {
            *known = element;
        }
    }
    let mut kept: Vec<usize> = best.into_values().collect();
    kept.sort_unstable();
    let is_part = |one: &Bits, other: &Bits| one.iter().zip(other).all(|(a, b)| a & !b == 0);
    let is_maximal = |&element: &usize| {
        !kept.iter().any(|&other| other != element && is_part(&hits[element], &hits[other]))
    };
    kept.iter().copied().filter(is_maximal).collect()
}

struct Search {
    hits: Vec<Bits>,
    ranks: Vec<usize>,
    usable: Vec<usize>,
    clauses: usize,
    chosen: Vec<usize>,
    best: Option<(usize, Vec<usize>)>,
    steps: u64,
}

impl Search {
    /// Extends the chosen elements, which hit `done`, by at most `left` others.
    fn extend(&mut self, done: &Bits, left: usize) {
        self.steps += 1;
        let is_open = |clause: &usize| done[clause / 64] >> (clause % 64) & 1 == 0;
        let Some(open) = (0..self.clauses).find(is_open) else {
            let rank = self.chosen.iter().map(|&element| self.ranks[element]).sum();
            if self.best.as_ref().is_none_or(|best| rank < best.0) {
                self.best = Some((rank, self.chosen.clone()));
            }
            return;
        };
        if left == 0 || self.steps > MAX_STEPS {
            return;
        }
        for place in 0..self.usable.len() {
            let element = self.usable[place];
            if self.hits[element][open / 64] >> (open % 64) & 1 == 1 {
                let done = done.iter().zip(&self.hits[element]).map(|(a, b)| a | b).collect();
                self.chosen.push(element);
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
    fn sets_are_least_and_best() {
        let mut rng = Rng::new(3);
        for _ in 0..300 {
            let clauses: Vec<Vec<u32>> = (0..1 + rng.below(6))
                .map(|_| (0..8).filter(|_| rng.below(3) == 0).collect())
                .collect();
            let rank = |element: u32| (element * 7 % 5) as usize;
            // Brute force over all subsets.
            let is_hit = |set: u32| clauses.iter().all(|c| c.iter().any(|e| set >> e & 1 == 1));
            let cost = |set: u32| {
                let ranks = (0..8).filter(|e| set >> e & 1 == 1).map(rank);
                (set.count_ones() as usize, ranks.sum::<usize>())
            };
            let least = (0..256u32).filter(|&set| is_hit(set)).map(cost).min();
            let found = least_hitting_set(&clauses, rank);
            let found = found.map(|set| (set.len(), set.into_iter().map(rank).sum::<usize>()));
            // An element that hits fewer clauses may have a better rank.
            assert_eq!(found.map(|cost| cost.0), least.map(|cost| cost.0), "{clauses:?}");
        }
    }
}
