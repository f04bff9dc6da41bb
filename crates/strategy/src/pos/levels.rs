//! Which of many clocks is the first, of clocks that nobody has looked at.
//!
//! A clock is an exponential time. All that is ever known of one that has not been the first is a
//! lower bound, its level: that it was not the first at that time. What is left is an exponential
//! time again, whatever the level. So clocks are not kept, only levels, and who stands on each.
//!
//! The first of all is found by going up from zero. Between two levels, the first of the n clocks
//! that stand below is an exponential time over n away; and when it comes, it is any of them alike.
//! The others are then known to come later: they stand on a level at that time.
//!
//! Those on a level need not be taken off it when they draw again, because the lowest level on which
//! somebody stands is the one that counts. Nobody is ever raised past a level that is kept: going up
//! removes the levels passed.

use alloc::vec::Vec;
use core::mem;

use super::draws::Draws;
use super::set::Set;

/// Clocks, by what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Levels<S> {
    /// Those that have drawn since the last choice.
    fresh: S,
    /// The lowest last. Those behind `lowest` only keep their memory.
    levels: Vec<Level<S>>,
    lowest: usize,
    /// So many drew together at the last choice, and the highest level is when the first of them came,
    /// but that has not been drawn. It need not be if all draw again. Zero if it is known.
    unasked: usize,
}

#[derive(Clone, Debug)]
struct Level<S> {
    time: f64,
    set: S,
}

/// Whose clock is the first.
pub(super) enum First {
    /// Any of those that have clocks, alike.
    AnyOfAll,
    /// This one.
    Is(usize),
}

impl<S: Set> Default for Levels<S> {
    fn default() -> Levels<S> {
        let highest = Level { time: 0.0, set: S::default() };
        Levels { fresh: S::default(), levels: alloc::vec![highest], lowest: 0, unasked: 0 }
    }
}

impl<S: Set> Levels<S> {
    /// Nobody has a clock.
    pub(super) fn clear(&mut self) {
        self.fresh.clear();
        self.lowest = 0;
        self.unasked = 0;
    }

    /// One of them draws, again or for the first time.
    #[inline(always)]
    pub(super) fn draw(&mut self, member: usize) {
        self.fresh.insert(member);
    }

    /// If `they` do, all of these draw.
    #[inline(always)]
    pub(super) fn draw_if(&mut self, they: bool, members: &S) {
        self.fresh.add_if(they, members);
    }

    /// Whose clock is the first of those of `all`, who are `count`. They are then known to be later,
    /// if they do not draw.
    #[inline(always)]
    pub(super) fn first(&mut self, all: &S, count: usize, draws: &mut Draws) -> First {
        let mut below = mem::take(&mut self.fresh);
        let first = if below.covers(all) {
            self.lowest = 0;
            self.levels[0].set.clone_from(all);
            self.unasked = count;
            First::AnyOfAll
        } else {
            below.keep(all);
            self.climb(&mut below, all, count, draws)
        };
        below.clear();
        self.fresh = below;
        first
    }

    /// Goes up from zero, where those `below` stand.
    #[inline(always)]
    fn climb(&mut self, below: &mut S, all: &S, count: usize, draws: &mut Draws) -> First {
        self.find_highest(draws);
        let mut left = draws.time();
        let mut time = 0.0;
        let mut lowest = self.lowest;
        loop {
            let standing = below.count();
            let level = &self.levels[lowest];
            let passed = standing as f64 * (level.time - time);
            if left < passed {
                self.lowest = lowest;
                self.stand(time + left / standing as f64, below, standing);
                return First::Is(below.nth(draws.below(standing)));
            }
            left -= passed;
            time = level.time;
            if lowest == 0 {
                self.lowest = 0;
                self.levels[0].time = time + left / count as f64;
                self.levels[0].set.clone_from(all);
                return First::AnyOfAll;
            }
            below.add(&level.set, all);
            lowest -= 1;
        }
    }

    #[inline(always)]
    fn find_highest(&mut self, draws: &mut Draws) {
        if self.unasked > 0 {
            let count = mem::take(&mut self.unasked);
            self.levels[0].time = draws.time() / count as f64;
        }
    }

    /// One of these, who are `count`, was first at `time`, below all levels: the others stand there.
    #[inline(always)]
    fn stand(&mut self, time: f64, set: &S, count: usize) {
        let next = self.lowest + 1;
        if next >= self.levels.len() {
            self.add_level();
        }
        let level = &mut self.levels[next];
        level.time = time;
        level.set.clone_from(set);
        // There are no others if there was one. Without a branch, which could not be foreseen.
        self.lowest += usize::from(count > 1);
    }

    #[cold]
    #[inline(never)]
    fn add_level(&mut self) {
        self.levels.push(Level { time: 0.0, set: S::default() });
    }

    /// The level of one who has a clock and is not to be asked for a while.
    pub(super) fn level(&mut self, member: usize, draws: &mut Draws) -> f64 {
        if self.fresh.has(member) {
            self.fresh.remove(member);
            return 0.0;
        }
        self.find_highest(draws);
        let mut lowest_first = self.levels[..=self.lowest].iter().rev();
        let level = lowest_first.find(|level| level.set.has(member));
        level.expect("raddle invariant broken: who has a clock stands somewhere").time
    }

    /// Puts one who was not asked for a while back on its level.
    pub(super) fn put_back(&mut self, member: usize, time: f64, draws: &mut Draws) {
        if time == 0.0 {
            return self.fresh.insert(member);
        }
        self.find_highest(draws);
        self.levels.truncate(self.lowest + 1);
        let place = self.levels.partition_point(|level| level.time > time);
        let mut set = S::default();
        set.insert(member);
        self.levels.insert(place, Level { time, set });
        self.lowest += 1;
    }
}

impl<S: Set> Levels<S> {
    /// The same with another kind of sets.
    pub(super) fn into_sets<T: Set + From<S>>(self) -> Levels<T> {
        let level = |level: Level<S>| Level { time: level.time, set: level.set.into() };
        Levels {
            fresh: self.fresh.into(),
            levels: self.levels.into_iter().map(level).collect(),
            lowest: self.lowest,
            unasked: self.unasked,
        }
    }
}
