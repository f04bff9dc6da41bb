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
//! and all priorities are drawn again after 1,000 voluntary pauses. So are exits, which are no events
//! in the paper and only delay joins, unless somebody asks whether a thread has ended; and since that
//! may come after the exit, they have priorities in one of 16 runs anyway.
//!
//! A step costs about the same however many operations draw again. In place of a priority U an
//! operation has a clock −ln U, and the first goes next. Operations that draw again together are a
//! cohort, of which only the first is drawn: of k it is any one alike, at an exponential time over
//! k. When it is gone and the others keep their clocks, the next of them is first, an exponential
//! time over k−1 later. A disabled operation never keeps a clock (what disabled it raced with it),
//! except in BasicPOS, where none is ever drawn again.

use alloc::vec::Vec;

use raddle_core::dependence::conflict;
use raddle_core::{
    Access, Chooser, Event, ObjectId, Op, Pick, Point, ThreadId, ThreadOp, Threads, Trace,
};

use crate::tournament::Tournament;
use crate::{Rng, Sampler};

/// All priorities are drawn again after so many pauses.
const PAUSES: u32 = 1000;

/// Exits have priorities from the beginning in one of so many runs.
const SELDOM: usize = 16;

/// So many exponential times are worked out in advance.
const READY: usize = 4;

/// No group, or nobody, in place of a number.
const NONE: u32 = u32::MAX;

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
    /// The next exponential times, worked out in advance: whoever draws, several times a step, does
    /// not wait for them.
    ready: [f64; READY],
    /// How many were drawn.
    draws: usize,
    /// The clocks of all pending operations that have been drawn.
    clocks: Tournament,
    /// By thread.
    standing: Vec<Standing>,
    /// By object and access: the enabled operations.
    groups: Vec<Group>,
    /// By thread, in BasicPOS: the clock of a disabled operation that had one.
    kept: Vec<Option<f64>>,
    /// The group that drew last.
    drawn: u32,
    /// How many events have been acted on.
    seen: usize,
    pauses: u32,
    /// Whether exits have priorities.
    exits_matter: bool,
}

/// Which pending operations draw again: those that access an object in one of these ways.
#[derive(Copy, Clone, Debug)]
struct Met {
    object: ObjectId,
    reads: bool,
    updates: bool,
}

impl Met {
    const NOBODY: Met = Met { object: ObjectId::NONE, reads: false, updates: false };

    #[inline(always)]
    fn has(self, object: ObjectId, access: Access) -> bool {
        let is_met = match access {
            Access::Read => self.reads,
            Access::Update => self.updates,
        };
        self.object == object && is_met
    }
}

/// What is known of a thread's pending operation.
#[derive(Copy, Clone, Debug)]
struct Standing {
    is_enabled: bool,
    /// The group it is in, or `NONE`, and where.
    group: u32,
    position: u32,
    /// Where the thread was among the enabled when last looked for.
    place: u32,
}

/// Enabled operations that access one object in one way.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Their threads, the cohort first. The others have clocks of their own, or draw right away.
    members: Vec<u32>,
    /// How many have drawn together.
    cohort: usize,
    /// Which of these is the first, or `NONE`.
    holder: u32,
    /// Its clock.
    clock: f64,
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
            ready: [0.0; READY],
            draws: 0,
            clocks: Tournament::default(),
            standing: Vec::new(),
            groups: Vec::new(),
            kept: Vec::new(),
            drawn: NONE,
            seen: 0,
            pauses: 0,
            exits_matter: false,
        }
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, threads: usize) {
        let nowhere = Standing { is_enabled: false, group: NONE, position: 0, place: 0 };
        self.standing.resize(threads, nowhere);
        self.kept.resize(threads, None);
        self.clocks.make_room(threads);
    }

    #[cold]
    #[inline(never)]
    fn make_groups(&mut self, group: usize) {
        self.groups.resize_with(group + 1, || Group { holder: NONE, ..Group::default() });
    }

    /// An exponential time.
    #[inline(always)]
    fn draw(&mut self) -> f64 {
        self.draws = self.draws.wrapping_add(1);
        let next = &mut self.ready[self.draws % READY];
        core::mem::replace(next, exponential(self.rng.bits()))
    }

    /// Who draws again after `event`.
    #[inline(always)]
    fn met_by(&self, event: &Event) -> Met {
        let object = event.op.object();
        let (reads, updates) = match self.races {
            Races::None => (false, false),
            Races::Accesses => (object != ObjectId::NONE, object != ObjectId::NONE),
            Races::Conflicts => {
                let touched = (object, event.access());
                let meets = |access| conflict(touched, (object, access));
                (meets(Access::Read), meets(Access::Update))
            }
        };
        Met { object, reads, updates }
    }

    /// The pending operation of `thread` is enabled now. If it is one that draws again, that is left
    /// to its group.
    #[inline(always)]
    fn enter(&mut self, thread: usize, op: &Op, met: Met) {
        self.standing[thread].is_enabled = true;
        let kept = if self.races == Races::None { self.kept[thread].take() } else { None };
        if op.is_thread() && self.is_at_once(op) {
            return self.clocks.set_at_once(thread);
        }
        if let Some(clock) = kept {
            return self.clocks.set(thread, clock);
        }
        let (object, access) = (op.object(), op.access());
        if self.races != Races::None && object != ObjectId::NONE {
            let group = group_of(object, access);
            if group >= self.groups.len() {
                self.make_groups(group);
            }
            let members = &mut self.groups[group].members;
            let standing = &mut self.standing[thread];
            (standing.group, standing.position) = (group as u32, members.len() as u32);
            members.push(thread as u32);
            if met.has(object, access) {
                return;
            }
        }
        let clock = self.draw();
        self.clocks.set(thread, clock);
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

    /// The pending operation of `thread` was performed or disabled, by an event after which those
    /// `met` draw again.
    #[inline(always)]
    fn leave(&mut self, thread: usize, met: Met) {
        self.clocks.clear(thread);
        let standing = &mut self.standing[thread];
        standing.is_enabled = false;
        let number = core::mem::replace(&mut standing.group, NONE);
        if number == NONE {
            return;
        }
        let mut gap = standing.position as usize;
        let group = &mut self.groups[number as usize];
        if gap < group.cohort {
            // The last of the cohort fills the gap, and the last of all that one's.
            group.cohort -= 1;
            let moved = group.members[group.cohort];
            group.members[gap] = moved;
            self.standing[moved as usize].position = gap as u32;
            gap = group.cohort;
        }
        group.members.swap_remove(gap);
        if let Some(&moved) = group.members.get(gap) {
            self.standing[moved as usize].position = gap as u32;
        }
        if group.holder == thread as u32 {
            group.holder = NONE;
            let (object, access) = object_of(number);
            if !met.has(object, access) {
                self.draw_next(number as usize);
            }
        }
    }

    /// The first of a cohort is gone: another becomes the first, later.
    fn draw_next(&mut self, group: usize) {
        let cohort = self.groups[group].cohort;
        if cohort > 0 {
            let clock = self.groups[group].clock + self.draw() / cohort as f64;
            self.set_holder(group, cohort, clock);
        }
    }

    /// All in a group draw again.
    #[inline(always)]
    fn draw_group(&mut self, group: usize) {
        let Some(Group { members, cohort, holder, .. }) = self.groups.get(group) else { return };
        if members.is_empty() {
            return;
        }
        for &thread in &members[*cohort..] {
            // Those that came with this event have none.
            if self.clocks.get(thread as usize).is_some() {
                self.clocks.clear(thread as usize);
            }
        }
        if *holder != NONE {
            self.clocks.clear(*holder as usize);
        }
        let all = members.len();
        let clock = self.draw() / all as f64;
        self.set_holder(group, all, clock);
    }

    /// The first `cohort` of a group have drawn together, and one of them is first at `clock`.
    #[inline(always)]
    fn set_holder(&mut self, group: usize, cohort: usize, clock: f64) {
        self.drawn = group as u32;
        let chosen = self.rng.below(cohort);
        let group = &mut self.groups[group];
        let holder = group.members[chosen];
        (group.cohort, group.holder, group.clock) = (cohort, holder, clock);
        self.clocks.set(holder as usize, clock);
    }

    /// Acts on the last event.
    #[inline(always)]
    fn follow(&mut self, event: &Event, threads: &Threads<'_>) {
        let met = self.met_by(event);
        if !self.stays(event.id.thread, met, threads) {
            self.move_members(event.id.thread, met, threads);
        }
        if met.reads {
            self.draw_group(group_of(met.object, Access::Read));
        }
        if met.updates {
            self.draw_group(group_of(met.object, Access::Update));
        }
    }

    /// Whether `thread`, whose step it was, is about to do the like again and draws with its group, and
    /// nothing else changed: then no group has other members than before.
    #[inline(always)]
    fn stays(&self, thread: ThreadId, met: Met, threads: &Threads<'_>) -> bool {
        let [changed] = threads.changed else { return false };
        let pending = &threads.pending[thread.index()];
        let (object, access) = (pending.op.object(), pending.op.access());
        *changed == thread
            && pending.enabled
            && !pending.op.is_thread()
            && object != ObjectId::NONE
            && self.standing[thread.index()].group as usize == group_of(object, access)
            && met.has(object, access)
    }

    /// Takes note of whose pending operation or enabledness changed.
    #[inline(never)]
    fn move_members(&mut self, by: ThreadId, met: Met, threads: &Threads<'_>) {
        self.leave(by.index(), met);
        for &thread in threads.changed {
            let at = thread.index();
            let pending = &threads.pending[at];
            match (self.standing[at].is_enabled, pending.enabled) {
                (false, true) => self.enter(at, &pending.op, met),
                (true, false) => {
                    if self.races == Races::None {
                        self.kept[at] = self.clocks.get(at);
                    }
                    self.leave(at, met);
                }
                (false, false) | (true, true) => {}
            }
        }
    }

    /// Every pending operation draws anew.
    #[cold]
    #[inline(never)]
    fn draw_all(&mut self, threads: &Threads<'_>) {
        self.pauses = 0;
        for thread in 0..self.standing.len() {
            let standing = &mut self.standing[thread];
            standing.is_enabled = false;
            let group = core::mem::replace(&mut standing.group, NONE);
            if let Some(group) = self.groups.get_mut(group as usize) {
                group.members.clear();
                (group.cohort, group.holder) = (0, NONE);
            }
            self.clocks.clear(thread);
        }
        self.kept.fill(None);
        for &thread in threads.enabled {
            self.enter(thread.index(), &threads.pending[thread.index()].op, Met::NOBODY);
        }
    }

    /// Where `thread` stands among the enabled.
    #[inline(always)]
    fn option(&mut self, thread: usize, enabled: &[ThreadId]) -> usize {
        let place = self.standing[thread].place as usize;
        if enabled.get(place).is_some_and(|other| other.index() == thread) {
            return place;
        }
        let place = enabled.iter().position(|other| other.index() == thread);
        let place = place.expect("raddle invariant broken: a thread with a clock is enabled");
        self.standing[thread].place = place as u32;
        place
    }
}

impl Chooser for Pos {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.rng.below(at.options()));
        };
        if threads.pending.len() > self.standing.len() {
            self.make_room(threads.pending.len());
        }
        match past {
            [.., last] if past.len().wrapping_sub(self.seen) == 1 => {
                self.follow(last, threads);
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
        if threads.enabled.len() == 1 {
            // It is the only option, though perhaps not the only one that could go on.
            return Pick::Take(0);
        }
        let thread = match self.groups.get(self.drawn as usize) {
            // All draw together, as when all want one lock.
            Some(group) if group.cohort == threads.enabled.len() => group.holder as usize,
            Some(_) | None => self.clocks.first(),
        };
        Pick::Take(self.option(thread, threads.enabled))
    }
}

impl Sampler for Pos {
    const DRAWS_ALIKE: bool = true;

    fn begin(&mut self, seed: u64) {
        self.rng = Rng::new(seed);
        self.exits_matter = self.rng.below(SELDOM) == 0;
        self.ready = core::array::from_fn(|_| exponential(self.rng.bits()));
        self.draws = 0;
        // The first point of a run draws everything.
        self.seen = usize::MAX;
    }

    fn learn(&mut self, _trace: &Trace) {}
}

#[inline(always)]
fn group_of(object: ObjectId, access: Access) -> usize {
    object.index() * 2 + usize::from(matches!(access, Access::Update))
}

#[inline(always)]
fn object_of(group: u32) -> (ObjectId, Access) {
    let access = if group & 1 == 1 { Access::Update } else { Access::Read };
    (ObjectId(group / 2), access)
}

/// −ln U, to about six digits, from random bits.
#[inline(always)]
fn exponential(bits: u64) -> f64 {
    const LN_2: f64 = core::f64::consts::LN_2;
    // U is 2^−halvings times a number from 1 up to 2.
    let bits = bits | 1;
    let halvings = bits.leading_zeros() + 1;
    let mantissa = f64::from_bits((bits << (halvings - 1) << 1) >> 12 | 1f64.to_bits());
    // ln(1 + x) for x from 0 up to 1, by a polynomial that meets it at Chebyshev's points.
    let x = mantissa - 1.0;
    let (square, fourth) = (x * x, x * x * (x * x));
    let low =
        (2.554_673e-7 + 0.999_967_080_9 * x) + square * (-0.499_285_049_1 + 0.327_225_715_0 * x);
    let high = (-0.223_165_864_1 + 0.130_833_428_0 * x)
        + square * (-0.052_437_537_1 + 0.010_009_289_6 * x);
    f64::from(halvings) * LN_2 - (low + fourth * high)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn exponential_times_are_logarithms() {
        let mut rng = Rng::new(5);
        for round in 0..100_000 {
            let bits = rng.bits() >> (round % 64);
            let expected = -((bits | 1) as f64 / 2f64.powi(64)).ln();
            let found = exponential(bits);
            assert!((found - expected).abs() < 5e-7, "{bits}: {found}, not {expected}");
        }
    }
}
