//! Partial order sampling (Yuan, Yang and Gu, CAV 2018), Algorithm 4.
//!
//! Every pending operation has a random priority and the highest goes next. After each step those
//! that race with it draw again. Three variants by what races: nothing ([`Pos::basic`], BasicPOS),
//! any two accesses of one object ([`Pos::plain`], POS), all but two that only read
//! ([`Pos::default`], POS*).
//!
//! Promise: every partial order has a chance that depends on how many events race, not on how many
//! there are.
//!
//! As in the authors' implementation, spawns and joins are performed at once, without a priority,
//! and all priorities are drawn again after 1,000 voluntary pauses. So are exits, as long as nobody
//! asks whether a thread has ended: they are no events in the paper, and only delay joins.
//!
//! Priorities are kept in a row by thread, with what each pending operation touches beside them, so
//! that one pass of a few instructions for each thread draws again and finds the highest. A disabled
//! operation never keeps a priority (what disabled it raced with it), except in BasicPOS, where none
//! is ever drawn again.

use alloc::vec::Vec;

use raddle_core::{
    Chooser, Event, Op, Pick, Point, Stamp, ThreadId, ThreadOp, Threads, Touch, Trace,
};

use crate::{Rng, Sampler};

/// All priorities are drawn again after so many pauses.
const PAUSES: u32 = 1000;

/// The priority of what is performed at once.
const AT_ONCE: i32 = i32::MAX;

/// The rows have a multiple of so many places, so that no pass has a remainder.
const STRIDE: usize = 8;

/// Which pending operations draw again after an event.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Races {
    /// None.
    None,
    /// Those that access the same object.
    Accesses,
    /// Those that conflict with it.
    Conflicts,
}

/// The chooser by priorities of operations.
#[derive(Clone, Debug)]
pub struct Pos {
    races: Races,
    rng: Rng,
    /// By thread: the priority of its pending operation, zero if that is not enabled.
    rank: Vec<i32>,
    /// By thread: what its pending operation touches, if that has a priority to be drawn again.
    stamp: Vec<Stamp>,
    /// By thread: something that no other thread has.
    lane: Vec<u32>,
    /// By thread, in BasicPOS: the priority of a disabled operation that had one, or zero.
    kept: Vec<i32>,
    /// By thread: where it was among the enabled when last looked for.
    place: Vec<u32>,
    /// How many events have been acted on.
    seen: usize,
    pauses: u32,
    /// Whether some thread has asked whether another has ended.
    exits_matter: bool,
}

impl Default for Pos {
    /// POS*: two accesses that only read do not race.
    fn default() -> Pos {
        Pos::with(Races::Conflicts)
    }
}

impl Pos {
    /// BasicPOS: no priority is drawn again.
    pub fn basic() -> Pos {
        Pos::with(Races::None)
    }

    /// POS: any two accesses of one object race.
    pub fn plain() -> Pos {
        Pos::with(Races::Accesses)
    }

    fn with(races: Races) -> Pos {
        Pos {
            races,
            rng: Rng::new(0),
            rank: Vec::new(),
            stamp: Vec::new(),
            lane: Vec::new(),
            kept: Vec::new(),
            place: Vec::new(),
            seen: 0,
            pauses: 0,
            exits_matter: false,
        }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, threads: usize) {
        let room = threads.next_multiple_of(STRIDE);
        for thread in self.lane.len()..room {
            self.lane.push((thread as u32).wrapping_mul(0x9e37_79b9));
        }
        self.rank.resize(room, 0);
        self.stamp.resize(room, Stamp::NONE);
        self.kept.resize(room, 0);
        self.place.resize(room, 0);
    }

    /// Takes note of what `thread` has pending, and whether it can go on.
    #[inline(always)]
    fn settle(&mut self, thread: ThreadId, threads: &Threads<'_>) {
        let at = thread.index();
        let pending = &threads.pending[at];
        if !pending.enabled {
            if self.races == Races::None {
                self.kept[at] = self.kept[at].max(self.rank[at]);
            }
            self.rank[at] = 0;
            self.stamp[at] = Stamp::NONE;
        } else if self.rank[at] == 0 {
            if pending.op.is_thread() && self.is_at_once(&pending.op) {
                self.rank[at] = AT_ONCE;
            } else {
                let kept = core::mem::take(&mut self.kept[at]);
                self.rank[at] = if kept == 0 { positive(self.rng.bits() as u32) } else { kept };
                self.stamp[at] = Stamp::of(&pending.op);
            }
        }
    }

    /// Whether this, on a thread, is performed without a priority.
    fn is_at_once(&mut self, op: &Op) -> bool {
        match op.thread() {
            ThreadOp::Spawn | ThreadOp::Join => true,
            ThreadOp::Exit => !self.exits_matter,
            ThreadOp::IsFinished => {
                self.exits_matter = true;
                false
            }
        }
    }

    /// Forgets the pending operation of `thread`: it has been performed.
    #[inline(always)]
    fn forget(&mut self, thread: ThreadId) {
        self.rank[thread.index()] = 0;
        self.kept[thread.index()] = 0;
        self.stamp[thread.index()] = Stamp::NONE;
    }

    /// Every pending operation draws anew.
    #[cold]
    #[inline(never)]
    fn draw_all(&mut self, threads: &Threads<'_>) {
        self.pauses = 0;
        self.rank.fill(0);
        self.kept.fill(0);
        self.stamp.fill(Stamp::NONE);
        for &thread in threads.enabled {
            self.settle(thread, threads);
        }
    }

    /// The highest priority, after those that `touch` meets have drawn again.
    #[inline(never)]
    fn draw_met(&mut self, touch: Touch) -> i32 {
        let bits = self.rng.bits();
        let (before, between) = (bits as u32, (bits >> 32) as u32);
        let mut best = 0;
        let others = self.stamp.iter().zip(&self.lane);
        for (rank, (&stamp, &lane)) in self.rank.iter_mut().zip(others) {
            let drawn = positive(scramble(lane ^ before, between));
            *rank = if touch.meets(stamp) { drawn } else { *rank };
            best = best.max(*rank);
        }
        best
    }

    /// The thread with this priority.
    #[inline(always)]
    fn thread_with(&self, rank: i32) -> usize {
        let holds = |row: &[i32]| row.iter().fold(false, |found, &other| found | (other == rank));
        let row = self.rank.chunks_exact(STRIDE).position(holds).unwrap_or(0) * STRIDE;
        row + self.rank[row..].iter().position(|&other| other == rank).unwrap_or(0)
    }

    /// Where `thread` stands among the enabled.
    #[inline(always)]
    fn option(&mut self, thread: usize, enabled: &[ThreadId]) -> usize {
        let place = self.place[thread] as usize;
        if enabled.get(place).is_some_and(|other| other.index() == thread) {
            return place;
        }
        let place = enabled.iter().position(|other| other.index() == thread);
        let place = place.expect("raddle invariant broken: a thread with a priority is enabled");
        self.place[thread] = place as u32;
        place
    }
}

impl Chooser for Pos {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        if threads.pending.len() > self.rank.len() {
            self.make_room(threads.pending.len());
        }
        let mut touch = None;
        match past {
            [.., last] if past.len().wrapping_sub(self.seen) == 1 => {
                self.forget(last.id.thread);
                self.settle(last.id.thread, threads);
                for &thread in threads.changed {
                    self.settle(thread, threads);
                }
                touch = match self.races {
                    Races::None => None,
                    Races::Accesses => Some(Touch::any(last)),
                    Races::Conflicts => Some(Touch::conflicting(last)),
                };
                if last.op.gave_way(last.effect) {
                    self.pauses += 1;
                    if self.pauses == PAUSES {
                        self.draw_all(threads);
                    }
                }
            }
            // The first point, or the first one after prescribed choices.
            _ => self.draw_all(threads),
        }
        self.seen = past.len();
        if let [only] = threads.enabled {
            // It is the only option, though perhaps not the only one that could go on.
            if let Some(touch) = touch.filter(|touch| !touch.meets_nothing()) {
                self.draw_met(touch);
            }
            debug_assert!(self.rank[only.index()] > 0);
            return Pick::Take(0);
        }
        let best = match touch {
            Some(touch) if !touch.meets_nothing() => self.draw_met(touch),
            Some(_) | None => self.rank.iter().fold(0, |best, &rank| best.max(rank)),
        };
        let thread = self.thread_with(best);
        Pick::Take(self.option(thread, threads.enabled))
    }
}

impl Sampler for Pos {
    const DRAWS_ALIKE: bool = true;

    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        // The first point of a run draws everything.
        self.seen = usize::MAX;
    }

    fn learn(&mut self, _trace: &Trace) {}
}

/// A priority from random bits.
#[inline(always)]
fn positive(bits: u32) -> i32 {
    ((bits >> 1) as i32).max(1)
}

/// Bob Jenkins' hash of a word, with `between` in its middle: without multiplications, so that
/// several are worked out at once.
#[inline(always)]
fn scramble(word: u32, between: u32) -> u32 {
    let mut a = word;
    a = a.wrapping_add(0x7ed5_5d16).wrapping_add(a << 12);
    a = (a ^ 0xc761_c23c) ^ (a >> 19);
    a = a.wrapping_add(between).wrapping_add(a << 5);
    a = a.wrapping_add(0xd3a2_646c) ^ (a << 9);
    a = a.wrapping_add(0xfd70_46c5).wrapping_add(a << 3);
    (a ^ 0xb55a_4f09) ^ (a >> 16)
}
