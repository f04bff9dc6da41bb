//! Partial order sampling (Yuan, Yang and Gu, CAV 2018), Algorithm 4.
//!
//! Every pending operation has a random priority and the highest is performed next. After each step the
//! operations that race with it draw again. Three variants by what races: nothing ([`Pos::basic`],
//! BasicPOS), any two accesses of one object ([`Pos::plain`], POS), all but two that only read
//! ([`Pos::default`], POS*).
//!
//! Promise: the probability of a partial order depends on the number of events that race, not on the
//! number of all events.
//!
//! As in the authors' implementation, spawns and joins are performed at once, without a priority, and all
//! priorities are drawn again after 1,000 voluntary pauses. Exits are performed at once too: they are no
//! events in the paper and only delay joins, unless the program asks whether a thread has ended. Since it
//! may ask after the exit, exits have priorities in one of 16 runs anyway.
//!
//! In place of a priority U an operation has a clock −ln U, an exponential time, and the earliest is
//! next. Clocks are never drawn as numbers: [`levels`] holds what is known of them. The cost of a step
//! hardly depends on the number of operations that draw again; if all do, it is a step of random walk. A
//! disabled operation does not keep its clock (what disabled it raced with it), except in BasicPOS, where
//! none is ever drawn again.

mod crowd;
mod draws;
mod levels;
mod set;

use alloc::vec::Vec;

use raddle_core::dependence::conflict;
use raddle_core::{
    Access, Choices, Chooser, Event, Needs, ObjectId, Op, Pick, Point, ThreadId, ThreadOp, Threads,
};

use crate::Sampler;
use crowd::{Crowd, Full, Waiting, place_of};
use draws::Draws;
use set::{LONG, SHORT, Set, Wide, Word};

/// All priorities are drawn again after this many pauses.
const MAX_PAUSES: u32 = 1000;

/// Exits have priorities from the beginning in one of this many runs.
const EXITS_MATTER_ONE_IN: usize = 16;

/// Which pending operations draw again after an event.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Races {
    /// None.
    None,
    /// The operations that access the same object.
    Accesses,
    /// The operations that conflict with it.
    Conflicts,
}

/// The chooser by priorities of operations.
#[derive(Clone, Debug)]
pub struct Pos {
    state: State,
    /// The operations that have clocks, while they are few.
    few: Crowd<Word<SHORT>>,
    /// In place of `few`, once they were more.
    more: Option<More>,
    /// The number of events already handled.
    seen: usize,
}

/// More operations that have clocks than a small set holds.
#[derive(Clone, Debug)]
enum More {
    OneWord(Crowd<Word<LONG>>),
    Many(Crowd<Wide>),
}

/// Everything but the operations that have clocks.
#[derive(Clone, Debug)]
struct State {
    races: Races,
    draws: Draws,
    /// The enabled threads that precede all that have clocks.
    at_once: Vec<ThreadId>,
    pauses: u32,
    /// Whether exits have priorities.
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
        let state = State {
            races,
            draws: Draws::new(0),
            at_once: Vec::new(),
            pauses: 0,
            exits_matter: false,
        };
        Pos { state, few: Crowd::default(), more: None, seen: 0 }
    }

    /// Chooses like [`State::choose`] for more than a few operations, also at a point at which the small set
    /// was full.
    #[cold]
    #[inline(never)]
    fn choose_of_more(&mut self, threads: &Threads<'_>, last: Option<&Event>) -> usize {
        use core::mem::take;
        let few = &mut self.few;
        let more = self.more.get_or_insert_with(|| More::OneWord(take(few).into_sets()));
        if let More::OneWord(crowd) = more {
            match self.state.choose(crowd, threads, last) {
                Ok(option) => return option,
                Err(Full) => *more = More::Many(take(crowd).into_sets()),
            }
        }
        let option = match more {
            More::OneWord(_) => Err(Full),
            More::Many(crowd) => self.state.choose(crowd, threads, last),
        };
        option.expect("raddle invariant broken: there is room for any number of threads")
    }
}

impl State {
    /// Returns the next option, after the event `last`, or at the first point if there is none. May be
    /// called again for the same point if the crowd was full.
    #[inline(always)]
    fn choose<S: Set>(
        &mut self,
        crowd: &mut Crowd<S>,
        threads: &Threads<'_>,
        last: Option<&Event>,
    ) -> Result<usize, Full> {
        match last {
            Some(event) => {
                self.follow(crowd, event, threads)?;
                if event.op.has_yielded(event.effect) {
                    self.pause(crowd);
                }
            }
            None => self.start(crowd, threads)?,
        }
        if threads.enabled.len() == 1 {
            // The only option need not be the only enabled thread.
            return Ok(0);
        }
        if let Some(&thread) = self.at_once.last() {
            return Ok(place_of(thread, threads.enabled));
        }
        Ok(crowd.first(threads.enabled, &mut self.draws))
    }

    /// Lets all operations draw: at the first point, or the first one after the prefix.
    #[inline(never)]
    fn start<S: Set>(&mut self, crowd: &mut Crowd<S>, threads: &Threads<'_>) -> Result<(), Full> {
        crowd.clear();
        self.at_once.clear();
        self.pauses = 0;
        for &thread in threads.enabled {
            self.enter(crowd, thread, &threads.pending[thread.index()].op)?;
        }
        Ok(())
    }

    /// Handles the last event.
    #[inline(always)]
    fn follow<S: Set>(
        &mut self,
        crowd: &mut Crowd<S>,
        event: &Event,
        threads: &Threads<'_>,
    ) -> Result<(), Full> {
        let by = event.id.thread;
        if threads.changed != [by] {
            self.look_at_others(crowd, by, threads)?;
        }
        if !self.at_once.is_empty() {
            self.at_once.retain(|&thread| thread != by);
        }
        let (readers, updaters) = self.met_by(event);
        crowd.draw_again(event.op.object(), readers, updaters);
        let next = &threads.pending[by.index()];
        if next.enabled {
            return self.enter(crowd, by, &next.op);
        }
        crowd.leave(by);
        Ok(())
    }

    /// Returns whether the pending operations on the object of `event` draw again: those that read or share, and
    /// those that update.
    #[inline(always)]
    fn met_by(&self, event: &Event) -> (bool, bool) {
        let object = event.op.object();
        match self.races {
            Races::None => (false, false),
            Races::Accesses => (object != ObjectId::NONE, object != ObjectId::NONE),
            Races::Conflicts => {
                let touched = (object, event.access());
                let meets = |access| conflict(touched, (object, access));
                // No pending operation on a reader-writer lock is known to read only.
                let other = if event.op.is_rwlock() { Access::Share } else { Access::Read };
                (meets(other), meets(Access::Update))
            }
        }
    }

    /// Adds an operation that has become enabled.
    #[inline(always)]
    fn enter<S: Set>(
        &mut self,
        crowd: &mut Crowd<S>,
        thread: ThreadId,
        op: &Op,
    ) -> Result<(), Full> {
        if op.is_thread() && self.is_at_once(op) {
            crowd.leave(thread);
            self.at_once.push(thread);
            return Ok(());
        }
        crowd.enter(thread, op)
    }

    /// Returns whether an operation on a thread is performed without a priority.
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

    /// Updates which threads besides `by` are enabled.
    #[inline(never)]
    fn look_at_others<S: Set>(
        &mut self,
        crowd: &mut Crowd<S>,
        by: ThreadId,
        threads: &Threads<'_>,
    ) -> Result<(), Full> {
        let waiting = if self.races == Races::None { Waiting::Keeps } else { Waiting::Draws };
        for &thread in threads.changed {
            let pending = &threads.pending[thread.index()];
            if thread == by {
                continue;
            }
            if let Some(slot) = crowd.slot(thread) {
                crowd.set_enabled(slot, pending.enabled, waiting, &mut self.draws);
            } else if pending.enabled && !self.at_once.contains(&thread) {
                self.enter(crowd, thread, &pending.op)?;
            }
        }
        Ok(())
    }

    /// Counts a pause. After many, every operation draws again.
    #[cold]
    fn pause<S: Set>(&mut self, crowd: &mut Crowd<S>) {
        self.pauses += 1;
        if self.pauses == MAX_PAUSES {
            self.pauses = 0;
            crowd.draw_all_again();
        }
    }
}

impl Chooser for Pos {
    fn needs(&self) -> Needs {
        Needs { changes: true, ..Needs::default() }
    }

    #[inline(always)]
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else {
            return Pick::Take(self.state.draws.below(at.options()));
        };
        let last = match past {
            [.., last] if past.len().wrapping_sub(self.seen) == 1 => Some(last),
            // The first point, or the first one after the prefix.
            _ => None,
        };
        self.seen = past.len();
        if self.more.is_none() {
            if let Ok(option) = self.state.choose(&mut self.few, threads, last) {
                return Pick::Take(option);
            }
        }
        Pick::Take(self.choose_of_more(threads, last))
    }
}

impl Sampler for Pos {
    fn begin(&mut self, seed: u64) {
        self.state.draws = Draws::new(seed);
        self.state.exits_matter = self.state.draws.below(EXITS_MATTER_ONE_IN) == 0;
        // At the first point of a run all operations draw.
        self.seen = usize::MAX;
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn independent_runs(&self) -> bool {
        true
    }
}
