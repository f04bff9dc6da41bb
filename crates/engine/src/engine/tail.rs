//! Runs that the chooser gives up.
//!
//! Such a run is led to its end, because threads that are stopped in the middle cannot be cleared away without running
//! their destructors in a state that no execution has. Then the trace is cut back to where the run was given up. The part
//! in between is the tail. Choosers and explorers see nothing of it.
//!
//! The tail is fair: another thread runs after [`QUANTUM`] steps and after every step that yields. So a thread that waits
//! in a loop for another one does not keep it from running.

use raddle_core::{Ending, Pending, Point, ThreadId, Trace};

use super::{Engine, Turn};
use crate::Memory;
use crate::object::Object;
use crate::objects::Life;

/// The number of steps that a thread makes in the tail before another runs.
const QUANTUM: u32 = 128;
/// The tail may have this many times the steps of the run before it, and [`MORE_STEPS`].
const STEPS_PER_STEP: usize = 10;
const MORE_STEPS: usize = 10_000;

/// The tail of a run that was given up.
#[derive(Debug, Default)]
pub(super) struct Tail {
    stage: Stage,
    /// While the tail is made: the trace up to where the run was given up. After its end: the whole trace.
    other: Trace,
    /// The number of events at which the run ends.
    limit: usize,
    /// The number of steps after the step limit that the substrate asks for, if it does.
    wanted: Option<usize>,
    /// The number of events at which the time limit is checked.
    next_time_check: usize,
    /// The number of steps that the running thread has left.
    quantum: u32,
    /// How often the tail took the turn from a thread that could have continued.
    preemptions: u32,
    /// What was known where the run was given up.
    max_alive: u32,
    known_threads: usize,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
enum Stage {
    /// The run was not given up.
    #[default]
    None,
    Leading,
    Ended,
}

impl<M: Memory> Engine<M> {
    /// Returns the whole trace of the last run if the chooser gave it up, or `None` if not. [`Engine::trace`] then ends
    /// where the run was given up, as [`Ending::Abandoned`].
    ///
    /// The whole trace is that of a real execution. It ends as [`Ending::StepLimit`] or
    /// [`Ending::TimeLimit`] if the run did not end in time.
    pub fn given_up(&self) -> Option<&Trace> {
        (self.tail.stage == Stage::Ended).then_some(&self.tail.other)
    }

    /// Sets the number of steps for which a run that reaches the step limit is led on. `None`: few.
    pub fn set_tail_steps(&mut self, steps: Option<usize>) {
        self.tail.wanted = steps;
    }

    /// Returns whether the run was given up and is led to its end.
    pub fn is_led(&self) -> bool {
        self.is_leading()
    }

    /// Returns the number of events at which a run reaches the step limit.
    pub fn max_steps(&self) -> usize {
        self.max_steps
    }

    /// Returns how often the tail of a run that was given up took the turn from a thread that could have continued.
    pub fn tail_preemptions(&self) -> u32 {
        self.tail.preemptions
    }

    /// Returns the trace of the last run from its beginning to its end.
    pub fn whole_trace(&self) -> &Trace {
        self.given_up().unwrap_or(&self.trace)
    }

    pub(super) fn whole_trace_mut(&mut self) -> &mut Trace {
        if self.tail.stage == Stage::Ended { &mut self.tail.other } else { &mut self.trace }
    }

    /// Exchanges the trace of a run that was given up for its whole trace, or back.
    pub(super) fn swap_whole_trace(&mut self) {
        if self.tail.stage == Stage::Ended {
            core::mem::swap(&mut self.trace, &mut self.tail.other);
        }
    }

    pub(super) fn forget_tail(&mut self) {
        self.tail.stage = Stage::None;
    }

    #[inline(always)]
    pub(super) fn is_leading(&self) -> bool {
        self.tail.stage == Stage::Leading
    }

    /// Notes where the chooser gave the run up. From now on it is led to its end.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.give_up_with(Ending::Abandoned, None);
    }

    /// Leads a run that has reached the step limit on, fairly. It has failed only if it does not end then either.
    #[cold]
    pub(super) fn continue_past_step_limit(&mut self) -> Turn {
        self.give_up_with(Ending::StepLimit, None);
        let steps = self.tail.wanted.unwrap_or(MORE_STEPS.max(self.max_steps / 10));
        self.tail.limit = self.max_steps.saturating_add(steps);
        if self.enabled.is_empty() { self.end_without_enabled_thread() } else { self.lead() }
    }

    /// Notes where the run ended as `ending`, perhaps by the panic of a thread. From now on it is led to its end.
    #[cold]
    pub(super) fn give_up_with(&mut self, ending: Ending, panicked: Option<ThreadId>) {
        self.end_lease();
        self.tail.stage = Stage::Leading;
        self.record_sleepers();
        let mut cut = core::mem::take(&mut self.tail.other);
        cut.copy_from(&self.trace);
        cut.ending = ending;
        cut.pending.extend(self.unfinished(panicked));
        self.tail.other = cut;
        let steps = self.trace.events.len();
        let limit = steps.saturating_mul(STEPS_PER_STEP + 1).saturating_add(MORE_STEPS);
        self.tail.limit = limit.min(self.max_steps);
        self.tail.next_time_check = steps.saturating_add(self.time_checks.interval);
        self.tail.quantum = QUANTUM;
        self.tail.preemptions = 0;
        self.tail.max_alive = self.max_alive;
        self.tail.known_threads = self.thread_ids.count();
        self.asks_below = 0;
        self.set_fast_path();
        self.continue_after_give_up();
    }

    /// Chooses the next thread in the tail: the one that ran last, or the next by id.
    #[cold]
    pub(super) fn lead(&mut self) -> Turn {
        self.changed.clear();
        let steps = self.trace.events.len();
        if steps >= self.tail.limit {
            return self.end_with(Ending::StepLimit);
        }
        if steps >= self.tail.next_time_check {
            if self.time_checks.is_time_up() {
                return self.end_with(Ending::TimeLimit);
            }
            self.tail.next_time_check = steps.saturating_add(self.time_checks.interval);
        }
        let (last, has_yielded) = match self.trace.events.last() {
            None => (ThreadId::MAIN, false),
            Some(last) => (last.id.thread, last.op.has_yielded(last.effect)),
        };
        let can_continue = self.is_enabled(last) && !has_yielded;
        if can_continue && self.tail.quantum > 0 {
            self.tail.quantum -= 1;
            return Turn::of(last);
        }
        self.tail.quantum = QUANTUM;
        let after = last.0.wrapping_add(1);
        let next = self.enabled.as_slice().iter().min_by_key(|next| next.0.wrapping_sub(after));
        let next = *next.expect("raddle invariant broken: no thread is enabled");
        self.tail.preemptions += u32::from(can_continue && next != last);
        Turn::of(next)
    }

    /// Returns the answer in the tail to a point that is not about threads: the newest store, and zero for a number.
    pub(super) fn lead_answer(point: &Point<'_>) -> usize {
        match point {
            Point::Thread(_) | Point::Value { .. } => 0,
            Point::Source { options, .. } | Point::Place { options, .. } => options.len() - 1,
        }
    }

    /// Cuts the trace back after the end of a run that was given up.
    #[cold]
    pub(super) fn cut_tail(&mut self) {
        core::mem::swap(&mut self.trace, &mut self.tail.other);
        self.tail.stage = Stage::Ended;
        self.max_alive = self.tail.max_alive;
        // The ids of later threads must not depend on the tail.
        self.thread_ids.truncate(self.tail.known_threads);
    }

    /// Returns the pending operations of the threads that have neither ended nor were stopped, but for `panicked`.
    pub(super) fn unfinished(
        &self,
        panicked: Option<ThreadId>,
    ) -> impl Iterator<Item = Pending> + '_ {
        let is_unfinished = move |thread: ThreadId| {
            let life = self.threads[thread.index()].life;
            let is_stopped = self.trace.stopped.iter().any(|stopped| stopped.thread == thread);
            Some(thread) != panicked
                && !is_stopped
                && matches!(self.objects[life.index()].object, Object::Life(Life::Running))
        };
        let unfinished = self.trace.threads.iter().filter(move |info| is_unfinished(info.id));
        unfinished.map(|info| self.pending[info.id.index()])
    }
}
