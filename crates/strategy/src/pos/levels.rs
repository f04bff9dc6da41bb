//! The earliest of many clocks, without drawing the clocks.
//!
//! A clock is an exponential time. All that is known of a clock that was not the earliest is a lower
//! bound, its level: the time at which another was the earliest. The remaining time is exponential again,
//! whatever the level. So clocks are not stored, only levels and the members of each.
//!
//! The earliest clock is found by going up from zero. Between two levels, the earliest of the n clocks
//! below is an exponential time divided by n away, and each of them is equally likely. The others are
//! then known to be later: they are members of a new level at that time.
//!
//! Members of a level stay in its set when they draw again, because a member's lowest level counts. No
//! member is raised past a level that is kept: going up removes the levels passed.

use alloc::vec::Vec;
use core::mem;

use super::draws::Draws;
use super::set::Set;

/// Clocks, by what is known of them.
#[derive(Clone, Debug)]
pub(super) struct Levels<S> {
    /// The members that have drawn since the last choice.
    fresh: S,
    /// The lowest last. Levels behind `lowest` only keep their memory.
    levels: Vec<Level<S>>,
    lowest: usize,
    /// The number of members that drew together at the last choice, if the time of the highest level, the
    /// earliest of them, is not drawn yet. It is never drawn if all draw again. Otherwise zero.
    undrawn: usize,
}

#[derive(Clone, Debug)]
struct Level<S> {
    time: f64,
    set: S,
}

/// The member with the earliest clock.
pub(super) enum First {
    /// Any member, with equal probability.
    AnyOfAll,
    /// This member.
    Is(usize),
}

impl<S: Set> Default for Levels<S> {
    fn default() -> Levels<S> {
        let highest = Level { time: 0.0, set: S::default() };
        Levels { fresh: S::default(), levels: alloc::vec![highest], lowest: 0, undrawn: 0 }
    }
}

impl<S: Set> Levels<S> {
    /// Removes all clocks.
    pub(super) fn clear(&mut self) {
        self.fresh.clear();
        self.lowest = 0;
        self.undrawn = 0;
    }

    /// Lets a member draw, again or for the first time.
    #[inline(always)]
    pub(super) fn draw(&mut self, member: usize) {
        self.fresh.insert(member);
    }

    /// Lets all `members` draw if `they` do.
    #[inline(always)]
    pub(super) fn draw_if(&mut self, they: bool, members: &S) {
        self.fresh.add_if(they, members);
    }

    /// Returns the member of `all`, which has `count` members, with the earliest clock. The others are then
    /// known to be later, until they draw.
    #[inline(always)]
    pub(super) fn first(&mut self, all: &S, count: usize, draws: &mut Draws) -> First {
        let mut below = mem::take(&mut self.fresh);
        let first = if below.covers(all) {
            self.lowest = 0;
            self.levels[0].set.clone_from(all);
            self.undrawn = count;
            First::AnyOfAll
        } else {
            below.keep(all);
            self.climb(&mut below, all, count, draws)
        };
        below.clear();
        self.fresh = below;
        first
    }

    /// Goes up from zero, where the members of `below` are.
    #[inline(always)]
    fn climb(&mut self, below: &mut S, all: &S, count: usize, draws: &mut Draws) -> First {
        self.find_highest(draws);
        let mut left = draws.time();
        let mut time = 0.0;
        let mut lowest = self.lowest;
        loop {
            let members = below.count();
            let level = &self.levels[lowest];
            let passed = members as f64 * (level.time - time);
            if left < passed {
                self.lowest = lowest;
                self.add_lowest(time + left / members as f64, below, members);
                return First::Is(below.nth(draws.below(members)));
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
        if self.undrawn > 0 {
            let count = mem::take(&mut self.undrawn);
            self.levels[0].time = draws.time() / count as f64;
        }
    }

    /// Adds a level at `time`, below all others, for `set`, of whose `count` members one was the earliest there.
    #[inline(always)]
    fn add_lowest(&mut self, time: f64, set: &S, count: usize) {
        let next = self.lowest + 1;
        if next >= self.levels.len() {
            self.add_level();
        }
        let level = &mut self.levels[next];
        level.time = time;
        level.set.clone_from(set);
        // A single member leaves no others. Without a branch, which would mispredict.
        self.lowest += usize::from(count > 1);
    }

    #[cold]
    #[inline(never)]
    fn add_level(&mut self) {
        self.levels.push(Level { time: 0.0, set: S::default() });
    }

    /// Removes a member that is disabled, and returns its level.
    pub(super) fn level(&mut self, member: usize, draws: &mut Draws) -> f64 {
        if self.fresh.has(member) {
            self.fresh.remove(member);
            return 0.0;
        }
        self.find_highest(draws);
        let mut lowest_first = self.levels[..=self.lowest].iter().rev();
        let level = lowest_first.find(|level| level.set.has(member));
        level.expect("raddle invariant broken: a clock without a level").time
    }

    /// Adds a member at the level that it had when it was removed.
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
    /// Converts to another kind of sets.
    pub(super) fn into_sets<T: Set + From<S>>(self) -> Levels<T> {
        let level = |level: Level<S>| Level { time: level.time, set: level.set.into() };
        Levels {
            fresh: self.fresh.into(),
            levels: self.levels.into_iter().map(level).collect(),
            lowest: self.lowest,
            undrawn: self.undrawn,
        }
    }
}
