//! Sets of small numbers, as bits: of one word, which stays in a register, and of many.

use alloc::vec::Vec;
use core::mem;

const WORD: usize = u64::BITS as usize;

/// A set of small numbers.
pub(super) trait Set: Clone + Default {
    /// The numbers that can be members are below this.
    const BOUND: usize;

    fn has(&self, member: usize) -> bool;

    fn insert(&mut self, member: usize);

    fn remove(&mut self, member: usize);

    fn clear(&mut self);

    /// Becomes what `one` and `other` have in common.
    fn become_common(&mut self, one: &Self, other: &Self);

    /// Adds the members of `other` that are also in `within`.
    fn add(&mut self, other: &Self, within: &Self);

    /// Adds the members of `other`.
    fn add_all(&mut self, other: &Self);

    /// Whether all members of `other` are members.
    fn covers(&self, other: &Self) -> bool;

    fn count(&self) -> usize;

    /// The member that so many smaller ones come before; there must be one.
    fn nth(&self, before: usize) -> usize;

    /// The smallest number that is no member.
    fn first_absent(&self) -> usize;

    /// The smallest member.
    fn first(&self) -> Option<usize>;
}

impl Set for u64 {
    const BOUND: usize = WORD;

    #[inline(always)]
    fn has(&self, member: usize) -> bool {
        self >> (member % WORD) & 1 == 1
    }

    #[inline(always)]
    fn insert(&mut self, member: usize) {
        *self |= 1 << (member % WORD);
    }

    #[inline(always)]
    fn remove(&mut self, member: usize) {
        *self &= !(1 << (member % WORD));
    }

    #[inline(always)]
    fn clear(&mut self) {
        *self = 0;
    }

    #[inline(always)]
    fn become_common(&mut self, one: &u64, other: &u64) {
        *self = one & other;
    }

    #[inline(always)]
    fn add(&mut self, other: &u64, within: &u64) {
        *self |= other & within;
    }

    #[inline(always)]
    fn add_all(&mut self, other: &u64) {
        *self |= other;
    }

    #[inline(always)]
    fn covers(&self, other: &u64) -> bool {
        other & !self == 0
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.count_ones() as usize
    }

    #[inline(always)]
    fn nth(&self, before: usize) -> usize {
        nth_bit(*self, before)
    }

    #[inline(always)]
    fn first_absent(&self) -> usize {
        self.trailing_ones() as usize
    }

    #[inline(always)]
    fn first(&self) -> Option<usize> {
        if *self == 0 { None } else { Some(self.trailing_zeros() as usize) }
    }
}

/// As many words as it takes; those that are missing are empty.
#[derive(Clone, Default, Debug)]
pub(super) struct Wide(Vec<u64>);

impl Wide {
    fn make_room(&mut self, words: usize) {
        if self.0.len() < words {
            self.0.resize(words, 0);
        }
    }

    fn word(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }
}

impl From<u64> for Wide {
    fn from(word: u64) -> Wide {
        Wide(alloc::vec![word])
    }
}

impl Set for Wide {
    const BOUND: usize = usize::MAX;

    fn has(&self, member: usize) -> bool {
        self.word(member / WORD).has(member % WORD)
    }

    fn insert(&mut self, member: usize) {
        self.make_room(member / WORD + 1);
        self.0[member / WORD].insert(member % WORD);
    }

    fn remove(&mut self, member: usize) {
        if let Some(word) = self.0.get_mut(member / WORD) {
            word.remove(member % WORD);
        }
    }

    fn clear(&mut self) {
        self.0.fill(0);
    }

    fn become_common(&mut self, one: &Wide, other: &Wide) {
        self.0.clear();
        self.0.extend(one.0.iter().zip(&other.0).map(|(one, other)| one & other));
    }

    fn add(&mut self, other: &Wide, within: &Wide) {
        self.make_room(other.0.len().min(within.0.len()));
        for ((word, other), within) in self.0.iter_mut().zip(&other.0).zip(&within.0) {
            word.add(other, within);
        }
    }

    fn add_all(&mut self, other: &Wide) {
        self.make_room(other.0.len());
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            word.add_all(other);
        }
    }

    fn covers(&self, other: &Wide) -> bool {
        other.0.iter().enumerate().all(|(at, other)| self.word(at).covers(other))
    }

    fn count(&self) -> usize {
        self.0.iter().map(u64::count).sum()
    }

    fn nth(&self, mut before: usize) -> usize {
        for (at, word) in self.0.iter().enumerate() {
            let here = word.count();
            if before < here {
                return at * WORD + word.nth(before);
            }
            before -= here;
        }
        unreachable!("raddle invariant broken: a set has fewer members than were counted")
    }

    fn first_absent(&self) -> usize {
        let full = self.0.iter().take_while(|word| **word == u64::MAX).count();
        full * WORD + self.word(full).first_absent()
    }

    fn first(&self) -> Option<usize> {
        let (at, word) = self.0.iter().enumerate().find(|(_, word)| **word != 0)?;
        Some(at * WORD + word.trailing_zeros() as usize)
    }
}

/// The members of `set`, which becomes empty.
pub(super) fn drain<S: Set>(set: &mut S) -> impl Iterator<Item = usize> {
    let mut set = mem::take(set);
    core::iter::from_fn(move || {
        let member = set.first()?;
        set.remove(member);
        Some(member)
    })
}

const BYTES: u64 = u64::MAX / 0xff;

/// The place of the bit that so many set ones come before.
///
/// Without a branch: which one it is cannot be foreseen.
#[inline(always)]
fn nth_bit(word: u64, before: usize) -> usize {
    // Bits set in each byte and those below it.
    let pairs = word - (word >> 1 & BYTES * 0x55);
    let nibbles = (pairs & BYTES * 0x33) + (pairs >> 2 & BYTES * 0x33);
    let sums = ((nibbles + (nibbles >> 4)) & BYTES * 0x0f).wrapping_mul(BYTES);
    // The bytes that end before it have a sum of at most `before`.
    let before = before as u64;
    let is_before = ((before * BYTES | BYTES * 0x80) - sums) & BYTES * 0x80;
    let at = ((is_before >> 7).wrapping_mul(BYTES) >> 56) * 8;
    let rank = before - (sums << 8 >> at & 0xff);
    let byte = word >> at & 0xff;
    at as usize + usize::from(NTH_IN_BYTE[(rank as usize & 7) << 8 | byte as usize])
}

/// By how many come before, and by byte: the place of the bit.
static NTH_IN_BYTE: [u8; 8 << 8] = {
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
                    sets[to].become_common(&a, &b);
                    plain[to] = &plain[one] & &plain[other];
                }
                1 => {
                    sets[to].add(&a, &b);
                    plain[to] = &plain[to] | &(&plain[one] & &plain[other]);
                }
                2 => {
                    sets[to].add_all(&a);
                    plain[to] = &plain[to] | &plain[one];
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
        agrees::<u64>(64, if cfg!(miri) { 200 } else { 20_000 });
    }

    #[test]
    fn wide_sets_are_sets() {
        agrees::<Wide>(64, if cfg!(miri) { 100 } else { 5_000 });
        agrees::<Wide>(300, if cfg!(miri) { 50 } else { 5_000 });
    }
}
