//! Sets of small numbers, as bits: of one word, which stays in a register, and of many.
//!
//! Members are counted and found without branches, which would mispredict.

use alloc::vec::Vec;
use core::mem;

/// A set of small numbers.
pub(super) trait Set: Clone + Default {
    /// All members are below this number.
    const BOUND: usize;

    fn has(&self, member: usize) -> bool;

    fn insert(&mut self, member: usize);

    fn remove(&mut self, member: usize);

    fn clear(&mut self);

    /// Keeps only members of `other`.
    fn keep(&mut self, other: &Self);

    /// Adds the members of `other` that are also in `within`.
    fn add(&mut self, other: &Self, within: &Self);

    /// Adds the members of `other` if `they` is true.
    fn add_if(&mut self, they: bool, other: &Self);

    /// Returns whether all members of `other` are members.
    fn covers(&self, other: &Self) -> bool;

    fn count(&self) -> usize;

    /// Returns the member that `before` smaller members precede. There must be one.
    fn nth(&self, before: usize) -> usize;

    /// Returns the smallest number that is not a member.
    fn first_absent(&self) -> usize;

    /// Returns the smallest member.
    fn first(&self) -> Option<usize>;
}

/// A set of one word, of numbers below `BOUND`. Up to 16, its bytes are looked up in tables.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub(super) struct Word<const BOUND: usize>(u64);

/// The bound of sets that use tables.
pub(super) const SHORT: usize = 16;
/// The bound of sets of one word.
pub(super) const LONG: usize = u64::BITS as usize;

impl<const BOUND: usize> Set for Word<BOUND> {
    const BOUND: usize = BOUND;

    #[inline(always)]
    fn has(&self, member: usize) -> bool {
        self.0 >> (member % LONG) & 1 == 1
    }

    #[inline(always)]
    fn insert(&mut self, member: usize) {
        self.0 |= 1 << (member % LONG);
    }

    #[inline(always)]
    fn remove(&mut self, member: usize) {
        self.0 &= !(1 << (member % LONG));
    }

    #[inline(always)]
    fn clear(&mut self) {
        self.0 = 0;
    }

    #[inline(always)]
    fn keep(&mut self, other: &Self) {
        self.0 &= other.0;
    }

    #[inline(always)]
    fn add(&mut self, other: &Self, within: &Self) {
        self.0 |= other.0 & within.0;
    }

    #[inline(always)]
    fn add_if(&mut self, they: bool, other: &Self) {
        self.0 |= other.0 & u64::from(they).wrapping_neg();
    }

    #[inline(always)]
    fn covers(&self, other: &Self) -> bool {
        other.0 & !self.0 == 0
    }

    #[inline(always)]
    fn count(&self) -> usize {
        if BOUND <= SHORT {
            usize::from(COUNT[self.low()] + COUNT[self.high()])
        } else {
            self.0.count_ones() as usize
        }
    }

    #[inline(always)]
    fn nth(&self, before: usize) -> usize {
        if BOUND <= SHORT {
            let in_low = usize::from(COUNT[self.low()]);
            let is_high = usize::from(before >= in_low);
            let byte = self.0 as usize >> (8 * is_high) & 0xff;
            8 * is_high + nth_in_byte(byte, before - in_low * is_high)
        } else {
            nth_bit(self.0, before)
        }
    }

    #[inline(always)]
    fn first_absent(&self) -> usize {
        self.0.trailing_ones() as usize
    }

    #[inline(always)]
    fn first(&self) -> Option<usize> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros() as usize) }
    }
}

impl<const BOUND: usize> Word<BOUND> {
    #[inline(always)]
    fn low(self) -> usize {
        self.0 as usize & 0xff
    }

    #[inline(always)]
    fn high(self) -> usize {
        self.0 as usize >> 8 & 0xff
    }
}

impl From<Word<SHORT>> for Word<LONG> {
    fn from(short: Word<SHORT>) -> Word<LONG> {
        Word(short.0)
    }
}

impl From<Word<LONG>> for Wide {
    fn from(word: Word<LONG>) -> Wide {
        Wide(alloc::vec![word])
    }
}

/// A set of many words. Missing words are empty.
#[derive(Clone, Default, Debug)]
pub(super) struct Wide(Vec<Word<LONG>>);

impl Wide {
    fn make_room(&mut self, words: usize) {
        if self.0.len() < words {
            self.0.resize(words, Word(0));
        }
    }

    fn word(&self, at: usize) -> Word<LONG> {
        self.0.get(at).copied().unwrap_or(Word(0))
    }

    fn pairs<'a>(
        &'a mut self,
        other: &'a Wide,
    ) -> impl Iterator<Item = (&'a mut Word<LONG>, &'a Word<LONG>)> {
        self.0.iter_mut().zip(&other.0)
    }
}

impl Set for Wide {
    const BOUND: usize = usize::MAX;

    fn has(&self, member: usize) -> bool {
        self.word(member / LONG).has(member % LONG)
    }

    fn insert(&mut self, member: usize) {
        self.make_room(member / LONG + 1);
        self.0[member / LONG].insert(member % LONG);
    }

    fn remove(&mut self, member: usize) {
        if let Some(word) = self.0.get_mut(member / LONG) {
            word.remove(member % LONG);
        }
    }

    fn clear(&mut self) {
        self.0.fill(Word(0));
    }

    fn keep(&mut self, other: &Wide) {
        self.0.truncate(other.0.len());
        self.pairs(other).for_each(|(word, other)| word.keep(other));
    }

    fn add(&mut self, other: &Wide, within: &Wide) {
        self.make_room(other.0.len().min(within.0.len()));
        let triples = self.pairs(other).zip(&within.0);
        triples.for_each(|((word, other), within)| word.add(other, within));
    }

    fn add_if(&mut self, they: bool, other: &Wide) {
        if they {
            self.make_room(other.0.len());
            self.pairs(other).for_each(|(word, other)| word.0 |= other.0);
        }
    }

    fn covers(&self, other: &Wide) -> bool {
        other.0.iter().enumerate().all(|(at, other)| self.word(at).covers(other))
    }

    fn count(&self) -> usize {
        self.0.iter().map(Set::count).sum()
    }

    fn nth(&self, mut before: usize) -> usize {
        for (at, word) in self.0.iter().enumerate() {
            let here = word.count();
            if before < here {
                return at * LONG + word.nth(before);
            }
            before -= here;
        }
        unreachable!("raddle invariant broken: a set has fewer members than were counted")
    }

    fn first_absent(&self) -> usize {
        let full = self.0.iter().take_while(|word| word.0 == u64::MAX).count();
        full * LONG + self.word(full).first_absent()
    }

    fn first(&self) -> Option<usize> {
        let mut firsts = self.0.iter().enumerate();
        firsts.find_map(|(at, word)| Some(at * LONG + word.first()?))
    }
}

/// Returns the members of `set`, and empties it.
pub(super) fn drain<S: Set>(set: &mut S) -> impl Iterator<Item = usize> {
    let mut set = mem::take(set);
    core::iter::from_fn(move || {
        let member = set.first()?;
        set.remove(member);
        Some(member)
    })
}

const BYTES: u64 = u64::MAX / 0xff;

/// Returns the position of the set bit that `before` set bits precede.
#[inline(always)]
fn nth_bit(word: u64, before: usize) -> usize {
    const FIVES: u64 = BYTES * 0x55;
    const THREES: u64 = BYTES * 0x33;
    const HALVES: u64 = BYTES * 0x0f;
    const HIGHEST: u64 = BYTES * 0x80;
    // The bits set in each byte and the bytes below it.
    let pairs = word - ((word >> 1) & FIVES);
    let nibbles = (pairs & THREES) + ((pairs >> 2) & THREES);
    let sums = ((nibbles + (nibbles >> 4)) & HALVES).wrapping_mul(BYTES);
    // The bytes before it have a sum of at most `before`.
    let before = before as u64;
    let is_before = (((before * BYTES) | HIGHEST) - sums) & HIGHEST;
    let at = ((is_before >> 7).wrapping_mul(BYTES) >> 56) * 8;
    let rank = before - (sums << 8 >> at & 0xff);
    at as usize + nth_in_byte((word >> at & 0xff) as usize, rank as usize)
}

/// Returns the position of the set bit of a byte that `before` set bits precede.
#[inline(always)]
fn nth_in_byte(byte: usize, before: usize) -> usize {
    usize::from(NTH[(before & 7) << 8 | byte])
}

/// By byte: the number of set bits.
static COUNT: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).count_ones() as u8;
        byte += 1;
    }
    table
};

/// By the number of preceding set bits, and by byte: the position of the bit.
static NTH: [u8; 8 << 8] = {
    let mut table = [0; 8 << 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut before) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[before << 8 | byte] = bit as u8;
                before += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use alloc::collections::BTreeSet;

    /// Every operation, beside the same on sets of the library.
    fn agrees<S: Set>(bound: usize, rounds: usize) {
        let mut rng = Rng::new(bound as u64);
        let mut sets: [S; 3] = Default::default();
        let mut plain: [BTreeSet<usize>; 3] = Default::default();
        for _ in 0..rounds {
            let (to, one, other) = (rng.below(3), rng.below(3), rng.below(3));
            let member = rng.below(bound);
            let (a, b) = (sets[one].clone(), sets[other].clone());
            match rng.below(16) {
                0 => {
                    sets[to].keep(&a);
                    plain[to] = &plain[to] & &plain[one];
                }
                1 => {
                    sets[to].add(&a, &b);
                    plain[to] = &plain[to] | &(&plain[one] & &plain[other]);
                }
                2 => {
                    let they = member % 2 == 0;
                    sets[to].add_if(they, &a);
                    if they {
                        plain[to] = &plain[to] | &plain[one];
                    }
                }
                3 if rng.below(8) == 0 => {
                    let members: BTreeSet<usize> = drain(&mut sets[to]).collect();
                    assert_eq!(members, mem::take(&mut plain[to]));
                }
                4 if rng.below(8) == 0 => {
                    sets[to].clear();
                    plain[to].clear();
                }
                3..8 => {
                    sets[to].remove(member);
                    plain[to].remove(&member);
                }
                _ => {
                    sets[to].insert(member);
                    plain[to].insert(member);
                }
            }
            let (set, plain_set) = (&sets[to], &plain[to]);
            assert_eq!(set.has(member), plain_set.contains(&member));
            assert_eq!(set.count(), plain_set.len());
            assert_eq!(set.first(), plain_set.first().copied());
            assert_eq!(set.covers(&sets[other]), plain_set.is_superset(&plain[other]));
            assert_eq!(set.first_absent(), (0..).find(|n| !plain_set.contains(n)).unwrap());
            for (before, &member) in plain_set.iter().enumerate() {
                assert_eq!(set.nth(before), member, "{before} of {plain_set:?}");
            }
        }
    }

    #[test]
    fn sets_of_one_word_are_sets() {
        agrees::<Word<SHORT>>(SHORT, if cfg!(miri) { 40 } else { 20_000 });
        agrees::<Word<LONG>>(LONG, if cfg!(miri) { 40 } else { 20_000 });
    }

    #[test]
    fn wide_sets_are_sets() {
        agrees::<Wide>(64, if cfg!(miri) { 30 } else { 5_000 });
        agrees::<Wide>(300, if cfg!(miri) { 20 } else { 5_000 });
    }
}
