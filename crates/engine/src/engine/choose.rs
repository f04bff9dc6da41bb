//! Choosing: which thread is next, and which store or number it gets.
//!
//! Every point is answered by the prefix as long as it lasts, then by the run's [`Choices`].

use raddle_core::{
    Choice, Choices, Divergence, Effect, Ending, EventId, Op, Pending, Pick, Point, Site, ThreadId,
    Threads,
};

use super::{Engine, Turn};
use crate::object::Object;
use crate::objects::Life;
use crate::{Kind, Memory};

impl<M: Memory> Engine<M> {
    /// Chooses the next thread.
    pub(super) fn next_turn(&mut self, choices: &mut Choices<'_>) -> Turn {
        if self.trace.events.len() < self.fast_below {
            self.draw_turn(choices)
        } else {
            self.next_turn_slow(choices)
        }
    }

    /// Draws the next thread. The step takes the fast path.
    #[inline(always)]
    pub(super) fn draw_turn(&mut self, choices: &mut Choices<'_>) -> Turn {
        if self.enabled.is_empty() {
            return self.next_turn_slow(choices);
        }
        self.running = self.enabled.draw(&mut self.rng);
        Turn::of(self.running)
    }

    /// Chooses the next thread where a uniform draw is not all there is to it.
    #[inline(never)]
    pub(super) fn next_turn_slow(&mut self, choices: &mut Choices<'_>) -> Turn {
        if self.idle.is_on() {
            self.settle_rounds(choices);
        }
        let turn = self.choose_turn(choices);
        if let Some(next) = turn.thread() {
            self.running = next;
        }
        turn
    }

    fn choose_turn(&mut self, choices: &mut Choices<'_>) -> Turn {
        if self.lease > 0 && self.is_enabled(self.running) {
            self.lease -= 1;
            return Turn::of(self.running);
        }
        self.end_lease();
        if self.enabled.is_empty() && !self.ring_at_rest() {
            return self.end_without_enabled_thread();
        }
        let steps = self.trace.events.len();
        if steps >= self.asks_below {
            return self.next_turn_at_limit(choices);
        }
        if self.followed < self.prefix.len() {
            return self.follow_thread();
        }
        let chooser = match choices {
            Choices::Uniform(_) => {
                // The prefix has been followed.
                self.set_fast_path();
                return Turn::of(self.enabled.draw(&mut self.rng));
            }
            Choices::Chooser(chooser) => chooser,
        };
        if self.needs.fingerprint {
            chooser.at_state(self.trace.fingerprint);
        }
        let enabled = self.enabled.as_slice();
        let threads = Threads {
            pending: &self.pending[..self.thread_count],
            enabled,
            changed: &self.changed,
        };
        let pick = chooser.choose(&Point::Thread(threads), &self.trace.events);
        self.changed.clear();
        match pick {
            Pick::Take(option) => Turn::of(enabled[option]),
            Pick::Run { option, steps: granted } => {
                let left = u32::try_from(self.asks_below - steps).unwrap_or(u32::MAX);
                let left = if self.idle.is_on() { 1 } else { left };
                let leased = enabled[option];
                self.lease = granted.min(left) - 1;
                for pending in &self.pending[..self.thread_count] {
                    let interrupts = chooser.interrupts(pending.thread);
                    self.links[pending.thread.index() + 1].set_interrupts(interrupts);
                }
                Turn::of(leased)
            }
            Pick::Abandon => {
                self.give_up();
                self.lead()
            }
        }
    }

    /// Returns whether the lease of the running thread covers its next operation, which is of this kind and need not wait.
    #[inline(always)]
    pub(super) fn is_leased(&self, kind: Kind, by: ThreadId, op: &Op) -> bool {
        if M::WEAK || matches!(kind, Kind::Any) || self.lease == 0 {
            return false;
        }
        !kind.may_block(op) || self.objects[op.object().index()].object.enabled_known(kind, *op, by)
    }

    /// Ends a run in which no thread is enabled.
    pub(super) fn end_without_enabled_thread(&mut self) -> Turn {
        if self.state.is_over() {
            return Turn::END;
        }
        if let Some(&expected) = self.prefix.get(self.followed) {
            return match expected {
                Choice::Thread(thread) if self.wake(thread) => self.follow_thread(),
                Choice::Thread(_) | Choice::Source(_) | Choice::Place(_) | Choice::Value(_) => {
                    self.diverge(expected)
                }
            };
        }
        if self.has_sleepers() && self.trace.events.len() >= self.max_steps && !self.is_leading() {
            // The step limit comes first: without the rule the threads would go on.
            return self.continue_past_step_limit();
        }
        if self.has_sleepers() && self.trace.stopped.is_empty() {
            if let Some(turn) = self.continue_sleepers() {
                return turn;
            }
        }
        let main_ended = matches!(self.objects[0].object, Object::Life(Life::Ended));
        let is_stopped = !self.trace.stopped.is_empty();
        let is_deadlock = !main_ended && !is_stopped || self.has_cycle();
        self.end_with(match (is_deadlock, is_stopped) {
            (true, _) => Ending::Deadlock,
            (false, true) => Ending::Stopped,
            (false, false) => Ending::Finished,
        })
    }

    fn follow_thread(&mut self) -> Turn {
        let expected = self.prefix[self.followed];
        match expected {
            Choice::Thread(thread)
                if thread.index() < self.thread_count
                    && (self.is_enabled(thread) || self.wake(thread)) =>
            {
                self.followed += 1;
                Turn::of(thread)
            }
            Choice::Thread(_) | Choice::Source(_) | Choice::Place(_) | Choice::Value(_) => {
                self.diverge(expected)
            }
        }
    }

    /// Chooses the store that an access to an atomic variable reads or stands behind. Returns `Some(None)` if there is
    /// no choice, and `None` if the run ended instead.
    pub(super) fn choose_source(
        &mut self,
        thread: ThreadId,
        op: Op,
        site: Site,
        choices: &mut Choices<'_>,
    ) -> Option<Option<EventId>> {
        if self.needs.taken && op.reads_atomic() {
            self.pass_taken(thread, op, choices);
        }
        let location = &self.objects[op.object().index()].location;
        self.memory.sources(location, thread, op, &mut self.sources);
        if self.sources.is_empty() {
            if self.needs.taken {
                self.check_newest(choices);
            }
            return Some(None);
        }
        let by = Pending { thread, op, site, enabled: true };
        let options = core::mem::take(&mut self.sources);
        let point = if op.reads_atomic() {
            Point::Source { by: &by, options: &options }
        } else {
            Point::Place { by: &by, options: &options }
        };
        let chosen = self.answer(&point, choices).map(|option| options[option]);
        if let Some(source) = chosen {
            self.trace.sources.push((self.trace.events.len(), source));
        }
        self.sources = options;
        self.sources.clear();
        chosen.map(Some)
    }

    /// Gives the run up if the chooser does not accept the only option of an access.
    #[cold]
    fn check_newest(&mut self, choices: &mut Choices<'_>) {
        match choices {
            Choices::Chooser(chooser) if !self.is_leading() && !chooser.accepts_newest() => {
                self.give_up();
            }
            Choices::Chooser(_) | Choices::Uniform(_) => {}
        }
    }

    /// Passes the stores to the chooser that only atomicity keeps the access `op` from reading.
    #[cold]
    fn pass_taken(&mut self, thread: ThreadId, op: Op, choices: &mut Choices<'_>) {
        match choices {
            Choices::Chooser(chooser) if chooser.asks_taken() => {
                let location = &self.objects[op.object().index()].location;
                self.memory.taken(location, thread, op, &mut self.sources);
                chooser.taken(&self.sources);
                self.sources.clear();
            }
            Choices::Chooser(_) | Choices::Uniform(_) => {}
        }
    }

    /// Chooses a number below `bound` for `op`. Returns `None` if the run ended instead.
    pub(super) fn choose_value(
        &mut self,
        thread: ThreadId,
        op: Op,
        bound: u32,
        site: Site,
        choices: &mut Choices<'_>,
    ) -> Option<Effect> {
        let by = Pending { thread, op, site, enabled: true };
        let answer = self.answer(&Point::Value { by: &by, bound }, choices);
        answer.map(|option| Effect::Value(option as u64))
    }

    /// Returns the answer to a point that is not about threads, or `None` if the run ended instead.
    fn answer(&mut self, point: &Point<'_>, choices: &mut Choices<'_>) -> Option<usize> {
        self.trace.choices += u64::from(point.options() > 1);
        if self.is_leading() {
            return Some(Self::lead_answer(point));
        }
        if self.followed < self.prefix.len() {
            let expected = self.prefix[self.followed];
            let found = point.option(expected);
            if found.is_none() {
                self.diverge(expected);
            } else {
                self.followed += 1;
            }
            return found;
        }
        let pick = match choices {
            Choices::Uniform(_) => Pick::Take(self.rng.below(point.options())),
            Choices::Chooser(chooser) => chooser.choose(point, &self.trace.events),
        };
        match pick {
            Pick::Take(option) | Pick::Run { option, .. } => Some(option),
            Pick::Abandon => {
                self.give_up();
                Some(Self::lead_answer(point))
            }
        }
    }

    fn diverge(&mut self, expected: Choice) -> Turn {
        self.end_with(Ending::Diverged(Divergence { at: self.followed, expected }))
    }
}
