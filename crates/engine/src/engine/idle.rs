//! Loops that wait.
//!
//! A round is *idle* if its thread announces an operation in a local state that it already had since it last changed
//! something. No thread can tell an execution from the same one without an idle round. So a search may cut the thread
//! off there, and a sampler may let it wait until another thread changes something that the round looked at. If no
//! other thread can go on and every look would return the same again, the threads wait forever.
//!
//! The substrate tells the local state, as a hash ([`Engine::arrive`]). Local state that it does not see must not differ
//! between two rounds.
//!
//! Invariant: while the rule is in force, every choice of a thread takes the slow path, which takes note of all events
//! since the last one.

use alloc::vec::Vec;

use raddle_core::{
    Action, Choices, Effect, Ending, Event, IdleRounds, ObjectId, Op, Site, StopReason, Stopped,
    ThreadId,
};

use super::known_loops::KnownLoops;
use super::rounds::{Look, Rounds, SinceChange};
use super::{Engine, Turn};
use crate::Memory;
use crate::object::Object;

/// The number of events after which a long run is examined for the first time. It is examined again whenever that has
/// doubled.
const LONG_RUN: usize = 512;
/// The number of events that are examined.
const EXAMINED_EVENTS: usize = 32;

/// When a substrate tells local states.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Frames {
    /// Always, or from the beginning of a run that [takes them](Engine::takes_frames) on.
    FromTheBeginning,
    /// Also from the middle of a run on. The engine then returns [`Turn::END`] although the run is not over, and the
    /// substrate [resumes](Engine::resume).
    AfterAPause,
}

/// The threads that wait in loops.
#[derive(Debug, Default)]
pub(super) struct Idle {
    rule: Rule,
    rounds: Rounds,
    pub(super) loops: KnownLoops,
    /// The numbers of events and of plain accesses that were taken note of.
    events: usize,
    plain: usize,
    /// By [`ObjectId`]: the value of an atomic variable, if it is known.
    values: Vec<Option<u64>>,
    /// The thread that has closed an idle round by its announcement, and the first look of that round.
    closing: Option<(ThreadId, usize)>,
    /// The number of events at which a long run is examined, or none.
    examined_at: Option<usize>,
    can_pause: bool,
    /// Whether the rule was in force before the first event.
    is_complete: bool,
    /// Whether a thread has waited in a loop that reads the clock.
    waits_for_time: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
enum Rule {
    #[default]
    Off,
    Await,
    Cut,
}

impl Idle {
    /// Whether a rule is in force.
    #[inline(always)]
    pub(super) fn is_on(&self) -> bool {
        self.rule != Rule::Off
    }

    /// Prepares a run without a rule.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        if self.is_on() {
            self.rounds.clear();
            self.values.clear();
            self.loops.begin();
            self.closing = None;
            self.waits_for_time = false;
            self.rule = Rule::Off;
        }
        self.examined_at = None;
    }

    fn enable(&mut self, rule: Rule, events: usize, plain: usize) {
        (self.rule, self.events, self.plain) = (rule, events, plain);
        self.is_complete = events == 0;
        self.examined_at = None;
    }

    /// Returns the number of events at which the run is to be examined.
    pub(super) fn examined_at(&self) -> usize {
        self.examined_at.unwrap_or(usize::MAX)
    }

    fn value(&mut self, object: ObjectId) -> &mut Option<u64> {
        if self.values.len() <= object.index() {
            self.values.resize(object.index() + 1, None);
        }
        &mut self.values[object.index()]
    }
}

impl<M: Memory> Engine<M> {
    /// Tells, right after [`begin`](Engine::begin), that the substrate can tell the local states of threads.
    #[inline]
    pub fn offer_frames(&mut self, frames: Frames) {
        self.idle.can_pause = frames == Frames::AfterAPause;
        match self.needs.idle_rounds {
            IdleRounds::AwaitedIfLong => {
                self.idle.examined_at = Some(LONG_RUN);
                self.asks_below = self.asks_below.min(LONG_RUN);
                self.set_fast_path();
            }
            IdleRounds::Awaited => self.begin_rule(Rule::Await),
            IdleRounds::Cut => self.begin_rule(Rule::Cut),
            IdleRounds::Performed => {}
        }
    }

    /// Puts a rule in force.
    fn begin_rule(&mut self, rule: Rule) {
        self.idle.enable(rule, self.trace.events.len(), self.trace.plain.len());
        self.end_lease();
        self.set_fast_path();
    }

    /// Returns whether threads tell their local states before they announce operations.
    #[inline(always)]
    pub fn takes_frames(&self) -> bool {
        self.idle.is_on()
    }

    /// Continues after [`Turn::END`] in the middle of a run. Returns whose turn it is.
    #[cold]
    pub fn resume(&mut self, choices: &mut Choices<'_>) -> Turn {
        self.next_turn(choices)
    }

    /// Returns what `by`, which is about to announce `op`, has done since it last changed something.
    #[cold]
    pub fn since_change(&mut self, by: ThreadId, op: Op, site: Site) -> SinceChange {
        if !self.idle.is_on() || self.state.is_over() {
            return SinceChange::Nothing;
        }
        self.take_note();
        match self.idle.rounds.since_change(by, op, site) {
            SinceChange::WasHere if self.idle.loops.counts_at(site) => SinceChange::Looked,
            since => since,
        }
    }

    /// Tells the local state of `by`, which is about to announce an operation.
    #[cold]
    pub fn arrive(&mut self, by: ThreadId, frame: u64) {
        if !self.idle.is_on() || self.state.is_over() {
            return;
        }
        self.take_note();
        let Some(from) = self.idle.rounds.announce(by, frame) else { return };
        let looks = self.idle.rounds.looks(by, from);
        let is_disturbed = looks.iter().any(|look| look.is_stale);
        let is_idle = match self.idle.rule {
            Rule::Off => false,
            Rule::Cut => !(is_disturbed && self.idle.loops.is_unclear(by, looks)),
            // If something has changed since the thread looked at it, the next round may differ.
            Rule::Await => !is_disturbed && looks.iter().all(|look| self.is_current(look)),
        };
        if is_idle {
            if !self.is_leading() {
                self.idle.loops.note(by, looks, is_disturbed);
            }
            self.idle.closing = Some((by, from));
        }
    }

    /// Notes that `by` has read the clock. The next round may differ, because time passes.
    pub(super) fn note_clock(&mut self, by: ThreadId) {
        if self.idle.is_on() {
            self.take_note();
            self.idle.waits_for_time |= self.idle.rounds.read_clock(by);
        }
    }

    /// Returns whether a thread of the last run waited in a loop that reads the clock. How often it goes round depends on
    /// the time that steps take.
    #[inline(always)]
    pub fn has_waited_for_time(&self) -> bool {
        self.idle.waits_for_time
    }

    /// Notes that the value of a variable was changed by other means than an operation.
    #[cold]
    pub(super) fn note_overwritten(&mut self, object: ObjectId, value: u64) {
        if self.idle.is_on() {
            self.take_note();
            self.note_changed(self.running, object);
            *self.idle.value(object) = Some(value);
        }
    }

    /// Takes note of the events since the last choice, and disables the thread that has closed an idle round.
    #[cold]
    pub(super) fn settle_rounds(&mut self, choices: &mut Choices<'_>) {
        self.take_note();
        let Some((thread, from)) = self.idle.closing.take() else { return };
        let is_needed = match choices {
            Choices::Chooser(chooser) => !self.is_leading() && chooser.continues(thread),
            Choices::Uniform(_) => false,
        };
        // Its announcement may have ended the run.
        if self.is_enabled(thread) && !self.state.is_over() && !is_needed {
            self.idle.rounds.put_to_sleep(thread, from);
            self.disable(thread);
            self.note_change_if_needed(thread);
        }
    }

    #[inline]
    fn take_note(&mut self) {
        let (events, plain) = (self.trace.events.len(), self.trace.plain.len());
        if self.idle.events < events || self.idle.plain < plain {
            self.take_note_slow();
        }
    }

    fn take_note_slow(&mut self) {
        while let Some(&event) = self.trace.events.get(self.idle.events) {
            self.idle.events += 1;
            self.take_note_of(event);
        }
        while let Some(access) = self.trace.plain.get(self.idle.plain) {
            self.idle.plain += 1;
            // The variable may be shared, and its value is not known.
            let thread = access.thread;
            self.idle.rounds.end_round(thread);
        }
    }

    fn take_note_of(&mut self, event: Event) {
        let (thread, op) = (event.id.thread, event.op);
        let object = op.object();
        if object == ObjectId::NONE {
            match op.action() {
                Action::Fence(_) | Action::Pause(_) => self.idle.rounds.add_look(event),
                // A number that was chosen may be chosen otherwise in the next round.
                Action::Choose { .. } => self.idle.rounds.end_round(thread),
                Action::Thread(_)
                | Action::Atomic(_)
                | Action::Cell(_)
                | Action::Mutex(_)
                | Action::RwLock(_)
                | Action::Condvar(_)
                | Action::Barrier(_)
                | Action::Once(_)
                | Action::Park(_)
                | Action::Channel(_)
                | Action::Semaphore(_)
                | Action::Futex(_) => unreachable!("raddle invariant broken: {op:?}"),
            }
            return;
        }
        let changes = event.access().changes() && self.has_changed(&event);
        if changes {
            self.note_changed(thread, object);
        } else if op.may_block() {
            self.idle.rounds.end_round(thread);
        } else {
            self.idle.rounds.add_look(event);
        }
    }

    /// Returns whether an event that may have changed its object did so.
    fn has_changed(&mut self, event: &Event) -> bool {
        let object = event.op.object();
        if !event.op.is_atomic() {
            return true;
        }
        let new = self.newest(object);
        let initial = self.trace.objects[object.index()].initial;
        let known = self.idle.value(object).replace(new);
        let known = known.or(if self.idle.is_complete { Some(initial) } else { None });
        let old = match event.effect {
            Effect::Value(old) | Effect::Exchanged(old) => Some(old),
            Effect::None
            | Effect::Kept(_)
            | Effect::Yes
            | Effect::No
            | Effect::Ticket(_)
            | Effect::LastTicket(_)
            | Effect::Closed => known,
        };
        // Under a weak memory model an equal value is another store.
        M::WEAK || old != Some(new)
    }

    fn note_changed(&mut self, by: ThreadId, object: ObjectId) {
        self.idle.rounds.end_round(by);
        let woken = self.idle.rounds.change(by, object);
        if self.idle.rule == Rule::Await {
            for thread in woken {
                self.wake(thread);
            }
        }
    }

    /// Lets `thread` go on, if it waits in an idle round. Returns whether it does.
    pub(super) fn wake(&mut self, thread: ThreadId) -> bool {
        let waits = self.idle.rounds.wake(thread);
        if waits {
            self.enable(thread);
            self.note_change_if_needed(thread);
        }
        waits
    }

    fn note_change_if_needed(&mut self, thread: ThreadId) {
        if self.needs.changes {
            self.note_change(thread);
        }
    }

    /// Returns whether a look would return the same again.
    fn is_current(&self, look: &Look) -> bool {
        let Event { id, op, effect, .. } = look.event;
        let object = op.object();
        if object == ObjectId::NONE || !look.is_stale && !M::WEAK {
            return true;
        }
        if op.is_atomic() {
            let newest = self.newest(object);
            let (written, again) = op.apply_to_atomic(newest);
            return again == effect && written.is_none_or(|written| written == newest);
        }
        match &self.objects[object.index()].object {
            // The value of a plain variable is not known.
            Object::Variable | Object::Futex(_) => !look.is_stale,
            object @ (Object::Life(_)
            | Object::Mutex(_)
            | Object::RwLock(_)
            | Object::Condvar(_)
            | Object::Barrier(_)
            | Object::Once(_)
            | Object::Parker(_)
            | Object::Channel(_)
            | Object::Semaphore(_)) => {
                object.enabled(op, id.thread) && object.clone().apply(op, id.thread) == effect
            }
        }
    }

    /// Returns whether a thread waits in an idle round.
    pub(super) fn has_sleepers(&self) -> bool {
        self.idle.is_on() && self.idle.rounds.sleepers().next().is_some()
    }

    /// Returns the threads that wait in an idle round of which some look would return something else now.
    fn outdated_sleepers(&self) -> Vec<ThreadId> {
        let is_outdated = |looks: &[Look]| !looks.iter().all(|look| self.is_current(look));
        let sleepers = self.idle.rounds.sleepers();
        sleepers.filter(|(_, looks)| is_outdated(looks)).map(|(thread, _)| thread).collect()
    }

    /// Continues a run in which no thread is enabled, and some wait in idle rounds. Returns `None` if it is over: all its
    /// threads wait forever.
    #[cold]
    pub(super) fn continue_sleepers(&mut self) -> Option<Turn> {
        let outdated = self.outdated_sleepers();
        if outdated.is_empty() {
            return None;
        }
        if !self.is_leading() {
            // Other runs of the search show what follows.
            self.give_up_with(Ending::Stopped, None);
            return Some(self.lead());
        }
        for thread in outdated {
            self.wake(thread);
        }
        Some(self.lead())
    }

    /// Notes the threads that wait in idle rounds as stopped.
    pub(super) fn record_sleepers(&mut self) {
        if !self.has_sleepers() {
            return;
        }
        let after = self.trace.events.len();
        let stopped = self.idle.rounds.sleepers().map(|(thread, looks)| {
            let is_current = looks.iter().all(|look| self.is_current(look));
            let looks = looks.iter().map(|look| look.event).collect();
            let why = StopReason::IdleRound { looks, is_current };
            Stopped { thread, after, site: self.pending[thread.index()].site, why }
        });
        let stopped: Vec<Stopped> = stopped.collect();
        self.trace.stopped.extend(stopped);
    }

    /// In the tail of a run that was given up: threads that were cut off go on.
    pub(super) fn continue_after_give_up(&mut self) {
        if !self.idle.is_on() {
            return;
        }
        self.trace.stopped.retain(Stopped::is_assumption);
        self.idle.rule = Rule::Await;
        for thread in self.outdated_sleepers() {
            self.wake(thread);
        }
    }

    /// Examines a long run, and puts the rule in force if a thread seems to wait in a loop. Returns whether the substrate
    /// has to resume.
    #[cold]
    pub(super) fn examine_long_run(&mut self) -> bool {
        let steps = self.trace.events.len();
        if steps < self.idle.examined_at() {
            return false;
        }
        self.idle.examined_at = Some(steps.saturating_mul(2));
        if !self.seems_to_wait() {
            return false;
        }
        self.begin_rule(Rule::Await);
        self.idle.can_pause
    }

    /// Returns whether some thread was twice at one place, without a change in between, in the last events.
    fn seems_to_wait(&self) -> bool {
        let events = &self.trace.events[self.trace.events.len().saturating_sub(EXAMINED_EVENTS)..];
        events.iter().enumerate().any(|(position, event)| {
            let changes =
                |later: &Event| later.op.object() != ObjectId::NONE && later.access().changes();
            let own = events[position + 1..].iter();
            let mut looks = own
                .filter(|later| later.id.thread == event.id.thread)
                .take_while(|later| !changes(later));
            // Most events of most programs change something.
            !changes(event) && looks.any(|later| later.site == event.site && later.op == event.op)
        })
    }
}
