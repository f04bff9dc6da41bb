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
use super::set::{Set, Wide};

/// Clocks, by what is known of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels<S> {
    /// Those that have drawn since the last choice.
    fresh: S,
    /// The lowest last; only the first `height` count, the others keep their memory.
    levels: Vec<Level<S>>,
    height: usize,
    /// The level of those that stand on no other.
    top: f64,
    /// So many drew together at the last choice, and `top` is when the first of them came, but that
    /// has not been drawn. It need not be if all draw again. Zero if `top` is known.
    unasked: usize,
    /// Scratch: who stands below the time that has been reached.
    below: S,
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

impl<S: Set> Levels<S> {
    /// Nobody has a clock.
    pub(super) fn clear(&mut self) {
        self.fresh.clear();
        self.height = 0;
    }

    /// One of them draws, again or for the first time.
    #[inline(always)]
    pub(super) fn draw(&mut self, member: usize) {
        self.fresh.insert(member);
    }

    /// All of these draw.
    #[inline(always)]
    pub(super) fn draw_all(&mut self, members: &S) {
        self.fresh.add_all(members);
    }

    /// Whose clock is the first of those of `all`, who are `count`. They are then known to be later,
    /// if they do not draw.
    #[inline(always)]
    pub(super) fn first(&mut self, all: &S, count: usize, draws: &mut Draws) -> First {
        if self.fresh.covers(all) {
            self.fresh.clear();
            self.height = 0;
            self.unasked = count;
            return First::AnyOfAll;
        }
        self.find_top(draws);
        let mut left = draws.time();
        let mut time = 0.0;
        let mut below = mem::take(&mut self.below);
        below.become_common(&self.fresh, all);
        self.fresh.clear();
        let first = loop {
            let standing = below.count();
            let lowest = self.levels[..self.height].last();
            let next = lowest.map_or(self.top, |level| level.time);
            let passed = standing as f64 * (next - time);
            if left < passed {
                time += left / standing as f64;
                self.push(time, &below, standing);
                break First::Is(below.nth(draws.below(standing)));
            }
            left -= passed;
            time = next;
            let Some(level) = lowest else {
                self.top = time + left / count as f64;
                break First::AnyOfAll;
            };
            below.add(&level.set, all);
            self.height -= 1;
        };
        self.below = below;
        first
    }

    #[inline(always)]
    fn find_top(&mut self, draws: &mut Draws) {
        if self.unasked > 0 {
            let count = mem::take(&mut self.unasked);
            self.top = draws.time() / count as f64;
        }
    }

    /// One of these, who are `count`, was first at `time`: the others stand there.
    #[inline(always)]
    fn push(&mut self, time: f64, set: &S, count: usize) {
        if self.height == self.levels.len() {
            self.levels.push(Level { time, set: S::default() });
        }
        let level = &mut self.levels[self.height];
        level.time = time;
        level.set.clone_from(set);
        // There are no others if there was one. Without a branch, which could not be foreseen.
        self.height += usize::from(count > 1);
    }

    /// The level of one who has a clock and is not to be asked for a while.
    pub(super) fn level(&mut self, member: usize, draws: &mut Draws) -> f64 {
        if self.fresh.has(member) {
            self.fresh.remove(member);
            return 0.0;
        }
        self.find_top(draws);
        let mut lowest_first = self.levels[..self.height].iter().rev();
        lowest_first.find(|level| level.set.has(member)).map_or(self.top, |level| level.time)
    }

    /// Puts one who was not asked for a while, while all those of `others` had clocks, back on its
    /// level.
    pub(super) fn put_back(&mut self, member: usize, time: f64, others: &S, draws: &mut Draws) {
        if time == 0.0 {
            return self.fresh.insert(member);
        }
        self.find_top(draws);
        self.levels.truncate(self.height);
        let mut level = Level { time, set: S::default() };
        let mut place = self.levels.partition_point(|other| other.time > time);
        if time > self.top {
            // Who stood on the top by standing nowhere else stands there in person now.
            level = Level { time: mem::replace(&mut self.top, time), set: others.clone() };
            level.set.remove(member);
            place = 0;
        } else {
            level.set.insert(member);
        }
        self.levels.insert(place, level);
        self.height += 1;
    }
}

impl From<Levels<u64>> for Levels<Wide> {
    fn from(few: Levels<u64>) -> Levels<Wide> {
        let wide = |level: Level<u64>| Level { time: level.time, set: level.set.into() };
        Levels {
            fresh: few.fresh.into(),
            levels: few.levels.into_iter().map(wide).collect(),
            height: few.height,
            top: few.top,
            unasked: few.unasked,
            below: Wide::default(),
        }
    }
}
