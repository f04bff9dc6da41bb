//! The substrate: a pool of coroutines that runs programs, one execution after another.

use std::any::Any;
use std::cell::Cell;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use raddle_core::{Chooser, ObjectId, Site, ThreadId};
use raddle_engine::{Engine, Memory, Stuck, Substrate};

use crate::port::{Caught, Parting, Plain, Ways};
use crate::run::{Crew, Run};
use crate::watchdog::Watchdog;
use crate::{Backend, panics, port};

/// Settings of a [`Runtime`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of stack for each thread.
    pub stack_size: usize,
    /// Whether accesses to plain shared variables are operations too.
    pub plain_accesses: bool,
    /// Lines on which they are in any case.
    pub racy: Vec<Site>,
    /// How often a wait may end and a weak exchange fail without a reason, for each thread of a run.
    pub spurious: u32,
    /// Whether an allocator tells the [`port`] what the program allocates and frees.
    pub heap: bool,
    /// Whether a panic that leaves a spawned thread is what joining it gives; otherwise it ends the run.
    pub joinable_panics: bool,
    /// How long a run may show no sign of life before the process is ended with an explanation.
    pub patience: Option<Duration>,
}

impl Default for Options {
    /// The usual settings.
    fn default() -> Options {
        Options {
            stack_size: 256 * 1024,
            plain_accesses: false,
            racy: Vec::new(),
            spurious: 0,
            heap: false,
            joinable_panics: false,
            patience: None,
        }
    }
}

impl Options {
    /// Becomes what `other` is, in the same memory.
    pub(crate) fn copy(&mut self, other: &Options) {
        self.racy.clone_from(&other.racy);
        self.stack_size = other.stack_size;
        self.plain_accesses = other.plain_accesses;
        self.spurious = other.spurious;
        self.heap = other.heap;
        self.joinable_panics = other.joinable_panics;
        self.patience = other.patience;
    }

    pub(crate) fn ways(&self) -> Ways {
        let plain = match (self.plain_accesses, self.racy.is_empty()) {
            (true, _) => Plain::Point,
            (false, true) => Plain::Noted,
            (false, false) => Plain::PointIfRacy,
        };
        Ways { plain, spurious: self.spurious > 0, heap: self.heap, unwound: false }
    }
}

thread_local! {
    /// The crew of the last check, for the next: its coroutines wait for work.
    static KEPT: Cell<Option<Box<dyn Any>>> = const { Cell::new(None) };
}

/// Runs programs on coroutines.
pub struct Runtime<B: Backend> {
    /// `None` once a thread got stuck.
    crew: Option<Box<Crew<B>>>,
    _watchdog: Watchdog,
}

impl<B: Backend> Runtime<B> {
    /// A runtime to be used on this OS thread, for a check with this name, which tokens and messages tell.
    pub fn new(name: &str, options: &Options) -> Runtime<B> {
        panics::install_hook();
        #[cfg(unix)]
        crate::overflow::install_handler();
        let watchdog = Watchdog::new(name, options.patience);
        // Not at the end of the OS thread, when it is gone.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let kept = kept.and_then(|kept| kept.downcast::<Crew<B>>().ok());
        let crew = match kept.filter(|kept| kept.can_serve(options)) {
            Some(mut kept) => {
                kept.serve(name, options);
                kept
            }
            None => {
                let backend = B::new(options.stack_size, coroutine::<B>);
                Box::new(Crew::new(backend, name, options))
            }
        };
        Runtime { crew: Some(crew), _watchdog: watchdog }
    }
}

impl<B: Backend> Runtime<B> {
    /// What the program called its threads in the last run. Nothing after a thread got stuck.
    pub fn thread_names(&self) -> Vec<(ThreadId, String)> {
        self.crew.as_ref().map_or_else(Vec::new, |crew| crew.thread_names())
    }

    /// What the program called objects of the last run. Nothing after a thread got stuck.
    pub fn object_names(&self) -> Vec<(ObjectId, String)> {
        self.crew.as_ref().map_or_else(Vec::new, |crew| crew.object_names())
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
        // If raddle itself has panicked, a coroutine may be in the middle of its work: none is kept.
        let crew = self.crew.take().filter(|_| !std::thread::panicking());
        if let Some(mut crew) = crew {
            if crew.rest() {
                let _ = KEPT.try_with(|kept| kept.set(Some(crew)));
            }
        }
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
        let epoch = crew.epochs.next();
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
        let Err(panic) = catch_unwind(AssertUnwindSafe(work_on::<B>));
        end::<B>(Err(panic));
    }
}

/// Does so until one panics: a panic is to be caught, and nothing else has to be done for each body.
fn work_on<B: Backend>() -> Infallible {
    loop {
        port::work();
        end::<B>(Ok(()));
    }
}

/// Ends a thread. Returns when there is work again.
#[inline(always)]
fn end<B: Backend>(result: Caught) {
    let mut parting = port::finish(result);
    loop {
        part::<B>(&parting);
        if parting.has_ended() {
            break;
        }
        parting = port::exit();
    }
}

/// Goes where a run says. Returns when somebody comes back, in another run perhaps.
///
/// One switch for all, but after a panic: a coroutine that waits for work goes on at the same place however its last
/// thread ended, so that whoever starts the next one can foresee it.
#[inline(always)]
fn part<B: Backend>(parting: &Parting) {
    // Nobody looks at it where nothing is optimised, see `Run::switch`.
    let run = if cfg!(debug_assertions) { std::ptr::null() } else { port::run() };
    // SAFETY: the run told its own pool, which outlives its coroutines; the caller runs on the
    // coroutine of the thread that is ending, and `to` has another.
    unsafe { B::switch(parting.pool.cast(), parting.from(), parting.to(), run) };
}
