//! Asking the plan: who goes next, and which value or store it gets.

use raddle_core::{
    Action, AtomicOp, Choice, Chooser, Divergence, Effect, Ending, Event, EventId, ObjectId, Op,
    Pending, Pick, Point, Site, ThreadId, Threads,
};

use super::{Engine, Lease, Turn};
use crate::Memory;
use crate::known::Known;
use crate::object::Object;
use crate::objects::Life;

impl<M: Memory, C: Chooser> Engine<M, C> {
    #[inline(always)]
    pub(super) fn next_turn(&mut self) -> Turn {
        if C::GRANTS_LEASES && !self.lease.is_none() && self.is_enabled(self.running) {
            if self.lease.ready > 0 {
                self.lease.ready -= 1;
            } else {
                self.grant(self.lease.later - 1);
            }
            return Turn::of(self.running);
        }
        self.question()
    }

    /// Lets the running thread go on for so many steps after the next.
    fn grant(&mut self, steps: u32) {
        // The next step sees to its own room. Where time has moved, each goes the long way.
        let room = if self.time_moved { 0 } else { self.trace.events.room().saturating_sub(1) };
        let ready = steps.min(u32::try_from(room).unwrap_or(u32::MAX));
        self.lease = Lease { ready, later: steps - ready };
    }

    /// Whether at most one thread can go on.
    #[inline(always)]
    pub fn has_no_choice(&self) -> bool {
        self.enabled.count <= 1
    }

    /// Whether at most two threads can go on.
    #[inline(always)]
    pub fn has_little_choice(&self) -> bool {
        self.enabled.count <= 2
    }

    /// Asks the plan who goes next.
    #[inline(always)]
    fn question(&mut self) -> Turn {
        if C::GRANTS_LEASES && !self.stale.is_empty() {
            self.look_at_stale_objects();
        }
        let steps = self.trace.events.count();
        let count = self.enabled.count;
        if steps >= self.attention || count == 0 {
            return self.special_question();
        }
        if C::DRAWS {
            return self.draw();
        }
        let enabled = self.enabled.as_slice();
        let threads = Threads {
            pending: &self.pending,
            enabled,
            changed: if C::WATCHES_CHANGES { &self.changed } else { &[] },
        };
        if C::WATCHES_FINGERPRINT {
            self.plan.then.stand(self.trace.fingerprint);
        }
        let past: &[Event] = if C::WATCHES_PAST { &self.trace.events } else { &[] };
        let pick = self.plan.then.choose_thread(&threads, past);
        if C::WATCHES_CHANGES {
            self.changed.clear();
        }
        match pick {
            Pick::Take(option) => {
                if C::GRANTS_LEASES {
                    self.lease = Lease::NONE;
                }
                Turn::of(enabled[option])
            }
            Pick::Run { option, steps: granted } => {
                let thread = enabled[option];
                debug_assert!(C::GRANTS_LEASES);
                let left = u32::try_from(self.attention - steps).unwrap_or(u32::MAX);
                self.running = thread;
                self.grant(granted.min(left) - 1);
                Turn::of(thread)
            }
            Pick::Abandon => {
                self.give_up();
                Turn::END
            }
        }
    }

    /// Whether to ask the chooser who goes next before this kind of operation is announced.
    #[inline(always)]
    pub const fn chooses_ahead<K: Known>() -> bool {
        C::DRAWS && !C::GRANTS_LEASES && !M::WEAK && K::AHEAD
    }

    /// Whether it can be [drawn](Engine::draw) whose turn it is after `by` has announced this, before it does.
    #[inline(always)]
    pub fn may_draw_ahead<K: Known>(&self, by: ThreadId, op: &Op) -> bool {
        self.trace.events.count() < self.ahead
            && (!K::BLOCKS
                || at!(self.objects, op.object().index()).object.enabled_surely::<K>(op, by))
    }

    /// Whether it can be drawn who goes next after an operation that does not wait, before that is announced.
    #[inline(always)]
    pub(super) fn may_draw_first(&self) -> bool {
        C::DRAWS && !C::GRANTS_LEASES && !M::WEAK && self.trace.events.count() < self.attention
    }

    /// One of those who can go on, of whom there are some.
    #[inline(always)]
    pub fn draw(&mut self) -> Turn {
        let place = self.plan.then.draw(self.enabled.count);
        Turn::of(*at!(self.enabled.slots, place))
    }

    /// As long as events fit in, the run is not too long and there is no time to keep, it is chosen ahead.
    pub fn look_ahead(&mut self) {
        let room = self.trace.events.count() + self.trace.events.room();
        self.ahead = if self.time_moved { 0 } else { room.min(self.attention) };
    }

    /// A thread point at which nobody can go on, the prefix answers, or the run is too long.
    #[cold]
    #[inline(never)]
    fn special_question(&mut self) -> Turn {
        if self.over {
            return Turn::END;
        }
        if self.enabled.count == 0 {
            if self.alive == 0 && self.followed >= self.plan.prefix.len() {
                // The ordinary end, unless `exit` saw to it: there is nothing to write down.
                self.over = true;
                self.lease = Lease::NONE;
                return Turn::END;
            }
            if let Some(&expected) = self.plan.prefix.get(self.followed) {
                return self.diverge(expected);
            }
            let main_ended = matches!(self.objects[0].object, Object::Life(Life::Ended));
            if !main_ended {
                self.trace.ending = Ending::Deadlock;
            }
            self.end();
            return Turn::END;
        }
        if self.followed < self.plan.prefix.len() {
            return self.follow_thread();
        }
        if self.asks_too_much() {
            return Turn::END;
        }
        if self.attention == self.max_steps {
            self.trace.ending = Ending::StepLimit;
            self.end();
            return Turn::END;
        }
        self.attention = self.max_steps;
        self.question_after_prefix()
    }

    /// A thread point at which only `by` may be chosen, unless the prefix says otherwise: a search
    /// that reverses a race with a destructor has to get in between.
    pub(super) fn only_turn(&mut self, by: ThreadId) -> Turn {
        if self.followed < self.plan.prefix.len() {
            return self.follow_thread();
        }
        if self.asks_too_much() {
            return Turn::END;
        }
        if self.trace.events.len() >= self.max_steps {
            self.trace.ending = Ending::StepLimit;
            self.end();
            return Turn::END;
        }
        let only = [by];
        let threads = Threads { pending: &self.pending, enabled: &only, changed: &self.changed };
        if C::WATCHES_FINGERPRINT {
            self.plan.then.stand(self.trace.fingerprint);
        }
        // Whatever was granted before, the chooser is asked at each of these.
        self.lease = Lease::NONE;
        match self.plan.then.choose_thread(&threads, &self.trace.events) {
            Pick::Take(_) | Pick::Run { .. } => Turn::of(by),
            Pick::Abandon => {
                self.give_up();
                Turn::END
            }
        }
    }

    #[inline(never)]
    fn question_after_prefix(&mut self) -> Turn {
        self.question()
    }

    fn follow_thread(&mut self) -> Turn {
        let expected = self.plan.prefix[self.followed];
        match expected {
            Choice::Thread(thread)
                if thread.index() < self.pending.len() && self.is_enabled(thread) =>
            {
                self.followed += 1;
                Turn::of(thread)
            }
            Choice::Thread(_) | Choice::Source(_) | Choice::Place(_) | Choice::Value(_) => {
                self.diverge(expected)
            }
        }
    }

    #[inline(always)]
    pub(super) fn choose_source(
        &mut self,
        thread: ThreadId,
        op: Op,
        site: Site,
    ) -> Option<Option<EventId>> {
        if M::WEAK {
            let location = &self.objects[op.object().index()].location;
            self.memory.sources(location, thread, op, &mut self.sources);
        }
        if !M::WEAK || self.sources.is_empty() {
            return Some(None);
        }
        self.ask_source(Pending { thread, op, site, enabled: true })
    }

    #[cold]
    fn ask_source(&mut self, by: Pending) -> Option<Option<EventId>> {
        let options = core::mem::take(&mut self.sources);
        let answer = match by.op.action() {
            Action::Atomic(AtomicOp::Store { .. }) => {
                self.answer(&Point::Place { by: &by, options: &options })
            }
            _ => self.answer(&Point::Source { by: &by, options: &options }),
        };
        let chosen = answer.map(|option| options[option]);
        if let Some(source) = chosen {
            self.trace.sources.push((self.trace.events.len(), source));
        }
        self.sources = options;
        self.sources.clear();
        chosen.map(Some)
    }

    #[cold]
    pub(super) fn choose_value(
        &mut self,
        thread: ThreadId,
        bound: u32,
        site: Site,
    ) -> Option<Effect> {
        let op = Op::new(ObjectId::NONE, Action::Choose { bound });
        let by = Pending { thread, op, site, enabled: true };
        let answer = self.answer(&Point::Value { by: &by, bound });
        answer.map(|option| Effect::Value(option as u64))
    }

    /// The answer to a point that is not about threads. `None` if the run ended instead.
    fn answer(&mut self, point: &Point<'_>) -> Option<usize> {
        self.unusual = true;
        self.trace.choices += u64::from(point.options() > 1);
        if self.followed < self.plan.prefix.len() {
            let expected = self.plan.prefix[self.followed];
            let found = (0..point.options()).find(|&option| point.choice(option) == expected);
            if found.is_none() {
                self.diverge(expected);
            } else {
                self.followed += 1;
            }
            return found;
        }
        if self.asks_too_much() {
            return None;
        }
        match self.plan.then.choose(point, &self.trace.events) {
            Pick::Take(option) | Pick::Run { option, .. } => Some(option),
            Pick::Abandon => {
                self.give_up();
                None
            }
        }
    }

    /// Gives up if nothing is chosen after the prefix. Says whether it did.
    fn asks_too_much(&mut self) -> bool {
        if self.repeats {
            self.give_up();
        }
        self.repeats
    }

    /// The chooser does not want to go on.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.trace.ending = Ending::Abandoned;
        self.end();
    }

    #[cold]
    pub(super) fn diverge(&mut self, expected: Choice) -> Turn {
        self.trace.ending = Ending::Diverged(Divergence { at: self.followed, expected });
        self.end();
        Turn::END
    }
}
