//! One program on one substrate, and engines of every memory model: the only place that knows the models.

use std::borrow::BorrowMut;
use std::rc::Rc;

use raddle_core::{Choices, MemoryModel, ObjectId, Schedule, Special, Trace};
use raddle_engine::{Engine, KnownLoop, Rc11, Round, Sc, Substrate, ThreadIds, TimeLimit};

/// Makes runs of one program.
pub(crate) trait Executor {
    /// Makes one run, and leaves its trace in `engine`. The engine's prefix is followed first, then `choices`
    /// are asked.
    fn execute(&mut self, engine: &mut AnyEngine, choices: Choices<'_>);

    /// Returns whether runs can be led to their end after a panic.
    fn leads_panics(&self) -> bool;

    /// Returns whether runs have stronger memory orderings if they are asked for.
    fn strengthens(&self) -> bool;

    /// Returns the number of threads of all runs so far that could not be cleared away.
    fn leaked(&self) -> u64;
}

/// A program on a substrate.
pub(crate) struct OnSubstrate<'p, B, S: Substrate> {
    /// The substrate, or a reference to it.
    pub(crate) substrate: B,
    pub(crate) program: &'p S::Program,
}

impl<B: BorrowMut<S>, S: Substrate> Executor for OnSubstrate<'_, B, S> {
    fn execute(&mut self, engine: &mut AnyEngine, choices: Choices<'_>) {
        let substrate = self.substrate.borrow_mut();
        match engine {
            AnyEngine::Sc(engine) => substrate.execute(engine, choices, self.program),
            AnyEngine::Rc11(engine) => substrate.execute(engine, choices, self.program),
        }
    }

    fn leads_panics(&self) -> bool {
        self.substrate.borrow().leads_panics()
    }

    fn strengthens(&self) -> bool {
        self.substrate.borrow().strengthens()
    }

    fn leaked(&self) -> u64 {
        self.substrate.borrow().leaked()
    }
}

/// An engine of any memory model.
#[derive(Debug)]
pub(crate) enum AnyEngine {
    Sc(Box<Engine<Sc>>),
    Rc11(Box<Engine<Rc11>>),
}

/// Calls the same method of the engine, of whatever model.
macro_rules! each {
    ($any:expr, $engine:ident => $call:expr) => {
        match $any {
            AnyEngine::Sc($engine) => $call,
            AnyEngine::Rc11($engine) => $call,
        }
    };
}

impl AnyEngine {
    /// Makes an engine that ends a run after `max_steps` events.
    pub(crate) fn new(memory: MemoryModel, thread_ids: ThreadIds, max_steps: usize) -> AnyEngine {
        match memory {
            MemoryModel::Sc => AnyEngine::Sc(Box::new(Engine::new(Sc, thread_ids, max_steps))),
            MemoryModel::Rc11 => {
                AnyEngine::Rc11(Box::new(Engine::new(Rc11::default(), thread_ids, max_steps)))
            }
        }
    }

    /// Returns the memory model.
    pub(crate) fn memory(&self) -> MemoryModel {
        match self {
            AnyEngine::Sc(_) => MemoryModel::Sc,
            AnyEngine::Rc11(_) => MemoryModel::Rc11,
        }
    }

    /// Returns the choices that the next run follows first.
    pub(crate) fn prefix_mut(&mut self) -> &mut Schedule {
        each!(self, engine => engine.prefix_mut())
    }

    /// Returns the trace of the last run.
    pub(crate) fn trace(&self) -> &Trace {
        each!(self, engine => engine.trace())
    }

    /// Returns the whole trace of the last run if the chooser gave it up, or `None` if not.
    pub(crate) fn given_up(&self) -> Option<&Trace> {
        each!(self, engine => engine.given_up())
    }

    /// Returns the preemptions after the last run was given up.
    pub(crate) fn tail_preemptions(&self) -> u32 {
        each!(self, engine => engine.tail_preemptions())
    }

    /// Returns the most threads that were alive at once in the last run.
    pub(crate) fn max_alive(&self) -> u32 {
        each!(self, engine => engine.max_alive())
    }

    /// Returns whether the last run ended with its last thread, and its trace has nothing besides events,
    /// threads, objects and the fingerprint.
    pub(crate) fn was_ordinary(&self) -> bool {
        each!(self, engine => engine.was_ordinary())
    }

    /// Tells what is known of loops in which threads wait.
    pub(crate) fn set_known_loops(&mut self, known: Vec<KnownLoop>) {
        each!(self, engine => engine.set_known_loops(known));
    }

    /// Returns whether the last run closed a round in a loop that is not known.
    #[inline(always)]
    pub(crate) fn has_unknown_rounds(&self) -> bool {
        each!(self, engine => engine.has_unknown_rounds())
    }

    /// Returns whether a thread of the last run waited in a loop that reads the clock.
    #[inline(always)]
    pub(crate) fn has_waited_for_time(&self) -> bool {
        each!(self, engine => engine.has_waited_for_time())
    }

    /// Returns the rounds of the last run in loops that are not known, and forgets them.
    pub(crate) fn take_unknown_rounds(&mut self) -> Vec<Round> {
        each!(self, engine => engine.take_unknown_rounds())
    }

    /// Sets the time limit of the next runs, or none.
    pub(crate) fn set_time_limit(&mut self, limit: Option<Rc<dyn TimeLimit>>) {
        each!(self, engine => engine.set_time_limit(limit));
    }

    /// Sets the number of steps between two checks of the time limit.
    pub(crate) fn set_time_check_interval(&mut self, steps: usize) {
        each!(self, engine => engine.set_time_check_interval(steps));
    }

    /// Sets what the next runs do besides what every run does.
    pub(crate) fn set_special(&mut self, special: Option<Special>) {
        each!(self, engine => engine.set_special(special));
    }

    /// Asks for the stacks at accesses and ends of `object` in the next runs.
    pub(crate) fn watch(&mut self, object: ObjectId) {
        each!(self, engine => engine.watch(object));
    }

    /// Gives threads new ids, so that those of the next run do not depend on earlier runs.
    pub(crate) fn forget_threads(&mut self) {
        each!(self, engine => engine.forget_threads());
    }

    /// Returns the trace of the last run.
    pub(crate) fn take_trace(&mut self) -> Trace {
        each!(self, engine => engine.take_trace())
    }

    /// Keeps the memory of a trace that was [taken](AnyEngine::take_trace).
    pub(crate) fn reuse_trace(&mut self, taken: Trace) {
        each!(self, engine => engine.reuse_trace(taken));
    }

    /// Makes the engine like a new one.
    pub(crate) fn renew(&mut self, thread_ids: ThreadIds, max_steps: usize) {
        each!(self, engine => engine.renew(thread_ids, max_steps));
    }

    /// Returns whether the engine is small enough to be kept for another check.
    pub(crate) fn is_small(&self) -> bool {
        each!(self, engine => engine.is_small())
    }
}
