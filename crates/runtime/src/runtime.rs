//! The substrate: a pool of coroutines that runs programs, one execution after another.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_core::{Chooser, ThreadId};
use raddle_engine::{Engine, Memory, Stuck, Substrate};

use crate::epoch::Epochs;
use crate::port::Parting;
use crate::run::{Crew, Run};
use crate::{Backend, panics, port};

/// Settings of a [`Runtime`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of stack for each thread.
    pub stack_size: usize,
    /// The name of the check, for tokens and messages.
    pub name: String,
    /// Whether accesses to plain shared variables are operations too.
    pub plain_accesses: bool,
}

/// Runs programs on coroutines.
pub struct Runtime<B: Backend> {
    /// `None` once a thread got stuck.
    crew: Option<Box<Crew<B>>>,
    epochs: Epochs,
}

impl<B: Backend> Runtime<B> {
    /// A runtime without any coroutines yet.
    pub fn new(options: Options) -> Runtime<B> {
        panics::install_hook();
        #[cfg(unix)]
        crate::overflow::install_handler();
        let backend = B::new(options.stack_size, coroutine::<B>);
        let crew = Some(Box::new(Crew::new(backend, options)));
        Runtime { crew, epochs: Epochs::default() }
    }
}

impl<B: Backend> Runtime<B> {
    /// What the program called its threads in the last run; also those of earlier runs that the last
    /// did not have. Nothing after a thread got stuck.
    pub fn thread_names(&self) -> Vec<(ThreadId, String)> {
        self.crew.as_ref().map_or_else(Vec::new, |crew| crew.thread_names())
    }

    /// The stuck thread's stack may be referred to from anywhere.
    #[cold]
    fn abandon(&mut self) {
        if let Some(crew) = self.crew.take() {
            crew.abandon();
        }
    }
}

impl<B: Backend> Drop for Runtime<B> {
    fn drop(&mut self) {
        port::blocks().free();
    }
}

impl<B: Backend> Substrate for Runtime<B> {
    type Program = dyn Fn() + Sync;

    #[inline(always)]
    fn execute<M: Memory, C: Chooser>(
        &mut self,
        engine: &mut Engine<M, C>,
        program: &(dyn Fn() + Sync),
    ) -> Result<(), Stuck> {
        let crew = self.crew.as_mut().expect("raddle invariant broken: run after a stuck thread");
        let epoch = self.epochs.next();
        let result = Run::new(engine, crew, program).execute(epoch);
        if result.is_err() {
            self.abandon();
        }
        result
    }
}

/// What every coroutine does: one thread's body after another.
fn coroutine<B: Backend>() -> ! {
    loop {
        let result = catch_unwind(AssertUnwindSafe(port::work));
        let parting = port::finish(result);
        part::<B>(&parting);
        if !parting.ended {
            part::<B>(&port::exit());
        }
    }
}

/// Goes where a run says. Returns when somebody comes back, in another run perhaps.
#[inline(always)]
fn part<B: Backend>(parting: &Parting) {
    let pool: *mut B = parting.pool.cast();
    let from = parting.from.index();
    match parting.to.thread() {
        // SAFETY: the run told its own pool, which outlives its coroutines; the caller runs on the
        // coroutine of the thread that is ending, and `to` has another.
        Some(to) => unsafe { B::switch(pool, from, to.index()) },
        // SAFETY: likewise.
        None => unsafe { B::leave(pool, from) },
    }
}
