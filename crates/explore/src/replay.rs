//! Exact replay: a schedule, and nothing after it.

use raddle_core::{
    Choices, Chooser, Ending, Event, IdleRounds, MemoryModel, Needs, ObjectId, Pick, Point,
    Schedule, Special, Trace,
};
use raddle_engine::{Substrate, ThreadIds};

use crate::engine_cache;
use crate::executor::{AnyEngine, Executor, OnSubstrate};

/// One execution to be made again.
///
/// A run that leaves the schedule ends as [`Diverged`](raddle_core::Ending::Diverged), one that continues
/// after it as [`Abandoned`](raddle_core::Ending::Abandoned).
#[derive(Debug)]
pub struct Replay {
    /// What threads may see of each other's stores.
    pub memory: MemoryModel,
    /// The ids that the threads had.
    pub thread_ids: ThreadIds,
    /// Every choice.
    pub schedule: Schedule,
    /// The most events that the run may have.
    pub max_steps: usize,
}

impl Replay {
    /// Describes the execution of `trace`, with at most `max_steps` events.
    ///
    /// Panics if the threads of `trace` are not those of a recorded run.
    pub fn of(trace: &Trace, memory: MemoryModel, max_steps: usize) -> Replay {
        let thread_ids = thread_ids_of(trace);
        Replay { memory, thread_ids, schedule: trace.schedule(), max_steps }
    }

    /// Makes the run of `program` on `substrate`, and returns its trace.
    pub fn run<S: Substrate>(self, substrate: &mut S, program: &S::Program) -> Trace {
        self.look(&mut OnSubstrate::<&mut S, S> { substrate, program }, Trace::clone)
    }

    /// Makes the run, and returns what `look` returns for its trace.
    pub(crate) fn look<R>(self, executor: &mut dyn Executor, look: impl FnOnce(&Trace) -> R) -> R {
        self.look_watching(executor, ObjectId::NONE, look)
    }

    /// Makes the run with the stacks at accesses and ends of `object`, and returns what `look` returns for its
    /// trace.
    pub(crate) fn look_watching<R>(
        self,
        executor: &mut dyn Executor,
        object: ObjectId,
        look: impl FnOnce(&Trace) -> R,
    ) -> R {
        self.look_after(executor, |engine| engine.watch(object), look)
    }

    /// Makes the run as `special` says, with the stacks at accesses of `object`, and returns what `look` returns for its
    /// trace.
    pub(crate) fn look_special<R>(
        self,
        executor: &mut dyn Executor,
        special: Special,
        object: ObjectId,
        look: impl FnOnce(&Trace) -> R,
    ) -> R {
        let prepare = |engine: &mut AnyEngine| {
            engine.set_special(Some(special));
            engine.watch(object);
        };
        self.look_after(executor, prepare, look)
    }

    fn look_after<R>(
        self,
        executor: &mut dyn Executor,
        prepare: impl FnOnce(&mut AnyEngine),
        look: impl FnOnce(&Trace) -> R,
    ) -> R {
        let mut engine = engine_cache::take(self.memory, self.thread_ids, self.max_steps);
        *engine.prefix_mut() = self.schedule;
        prepare(&mut engine);
        executor.execute(&mut engine, Choices::Chooser(&mut Stop::default()));
        engine.watch(ObjectId::NONE);
        engine.set_special(None);
        let seen = look(engine.trace());
        engine_cache::put(engine);
        seen
    }
}

/// Returns the ids that the threads of a recorded run had.
pub(crate) fn thread_ids_of(trace: &Trace) -> ThreadIds {
    ThreadIds::of_recorded(&trace.threads[1..])
        .expect("raddle invariant broken: a trace's threads contradict each other")
}

/// Abandons every run at its first point after the prefix.
#[derive(Clone, Debug)]
pub struct Stop {
    idle_rounds: IdleRounds,
}

impl Default for Stop {
    /// Ends also runs in which threads wait forever in loops.
    fn default() -> Stop {
        Stop { idle_rounds: IdleRounds::Awaited }
    }
}

impl Stop {
    /// Returns a chooser for repetitions of `trace`. Whether threads wait in loops need not be recognised if all threads
    /// came to their end.
    pub(crate) fn to_repeat(trace: &Trace) -> Stop {
        let has_ended = trace.ending == Ending::Finished && trace.stopped.is_empty();
        let idle_rounds = if has_ended { IdleRounds::Performed } else { IdleRounds::Awaited };
        Stop { idle_rounds }
    }
}

impl Chooser for Stop {
    fn needs(&self) -> Needs {
        Needs { idle_rounds: self.idle_rounds, ..Needs::default() }
    }

    fn choose(&mut self, _at: &Point<'_>, _past: &[Event]) -> Pick {
        Pick::Abandon
    }
}
