//! The substrate: a pool of coroutines that runs programs, one execution after another.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use raddle_core::{Choices, Site, ThreadId};
use raddle_engine::{Engine, Memory, Substrate};

use crate::pool::CoroutinePool;
use crate::port::{PlainAccess, RunFlags};
use crate::run::Run;
use crate::watchdog::Watchdog;
use crate::{Backend, panics, port};

/// Called by the spawning thread at every spawn, with that thread and the new one. Must not perform operations.
pub type SpawnHook = fn(ThreadId, ThreadId);

/// Settings of a [`Runtime`].
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of stack for each thread.
    pub stack_size: usize,
    /// Whether accesses to plain shared variables are operations too.
    pub plain_accesses: bool,
    /// Sites at which they are in any case.
    pub racy: Vec<Site>,
    /// How often a wait may end and a weak exchange fail spuriously, for each thread of a run.
    pub spurious: u32,
    /// Whether the order in which futures are polled matters.
    pub ordered_polls: bool,
    /// Called at every spawn.
    pub on_spawn: Option<SpawnHook>,
    /// Whether an allocator reports to the [`port`] what the program allocates and frees.
    pub heap: bool,
    /// Whether joining a spawned thread returns the panic that left it; otherwise such a panic ends the run.
    pub joinable_panics: bool,
    /// Whether the threads of a failing run are unwound, and not leaked. For experiments that make many such runs, with
    /// programs whose destructors tolerate it.
    pub unwinds_failing_runs: bool,
    /// How long a run may go without a scheduling point before the process is ended with an explanation.
    pub patience: Option<Duration>,
    /// The command that runs the check again.
    pub rerun: Rerun,
}

/// A command that runs a check again. It takes some time to find, and is asked for if the process ends.
#[derive(Clone, Default)]
pub struct Rerun(Option<Arc<dyn Fn() -> Option<String> + Send + Sync>>);

impl Rerun {
    /// Calls `command` when the command is needed. It may return `None` if there is none.
    pub fn new(command: impl Fn() -> Option<String> + Send + Sync + 'static) -> Rerun {
        Rerun(Some(Arc::new(command)))
    }

    /// Returns the command.
    pub fn command(&self) -> Option<String> {
        self.0.as_ref()?()
    }
}

/// Writes the command after a space, or nothing.
impl fmt::Display for Rerun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.command().map_or(Ok(()), |command| write!(f, " {command}"))
    }
}

impl fmt::Debug for Rerun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rerun").field(&self.command()).finish()
    }
}

impl Default for Options {
    /// The usual settings.
    fn default() -> Options {
        Options {
            stack_size: 256 * 1024,
            plain_accesses: false,
            racy: Vec::new(),
            spurious: 0,
            ordered_polls: true,
            on_spawn: None,
            heap: false,
            joinable_panics: false,
            unwinds_failing_runs: false,
            patience: None,
            rerun: Rerun::default(),
        }
    }
}

impl Options {
    pub(crate) fn flags(&self) -> RunFlags {
        let plain = match (self.plain_accesses, self.racy.is_empty()) {
            (true, _) => PlainAccess::Point,
            (false, true) => PlainAccess::Recorded,
            (false, false) => PlainAccess::PointIfRacy,
        };
        RunFlags {
            plain,
            spurious: self.spurious > 0,
            ordered_polls: self.ordered_polls,
            on_spawn: self.on_spawn,
            heap: self.heap,
            ..RunFlags::NONE
        }
    }
}

thread_local! {
    /// The pool of the last check, for the next one: its coroutines wait for work.
    static KEPT: Cell<Option<Box<dyn Any>>> = const { Cell::new(None) };
}

/// Runs programs on coroutines.
pub struct Runtime<B: Backend> {
    /// `None` while the runtime is dropped.
    pool: Option<Box<CoroutinePool<B>>>,
    _watchdog: Watchdog,
}

impl<B: Backend> Runtime<B> {
    /// Makes a runtime to be used on this OS thread, for a check with this name, which tokens and messages contain.
    pub fn new(name: &str, options: &Options) -> Runtime<B> {
        panics::install_hook();
        #[cfg(unix)]
        crate::crash::install_handler();
        let watchdog = Watchdog::new(name, options.patience);
        // The thread-local is gone at the end of the OS thread.
        let kept = KEPT.try_with(Cell::take).ok().flatten();
        let kept = kept.and_then(|kept| kept.downcast::<CoroutinePool<B>>().ok());
        let pool = match kept.filter(|kept| kept.fits(options)) {
            Some(mut kept) => {
                kept.begin_check(name, options);
                kept
            }
            None => {
                let backend = B::new(options.stack_size, coroutine::<B>);
                Box::new(CoroutinePool::new(backend, name, options))
            }
        };
        Runtime { pool: Some(pool), _watchdog: watchdog }
    }
}

impl<B: Backend> Drop for Runtime<B> {
    fn drop(&mut self) {
        // If raddle itself has panicked, a coroutine may be in the middle of its work: none is kept.
        let pool = self.pool.take().filter(|_| !std::thread::panicking());
        if let Some(mut pool) = pool {
            if pool.end_check() {
                let _ = KEPT.try_with(|kept| kept.set(Some(pool)));
            }
        }
    }
}

impl<B: Backend> Substrate for Runtime<B> {
    type Program = dyn Fn() + Sync;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &(dyn Fn() + Sync),
    ) {
        let pool = self.pool.as_mut().expect("raddle invariant broken: a run without a pool");
        Run::execute(engine, choices, pool, program);
    }

    fn leads_panics(&self) -> bool {
        true
    }

    fn strengthens(&self) -> bool {
        true
    }

    fn leaked(&self) -> u64 {
        self.pool.as_ref().map_or(0, |pool| pool.leaked())
    }
}

/// What every coroutine does: it runs the body of one thread after another.
fn coroutine<B: Backend>() -> ! {
    loop {
        let result = catch_unwind(AssertUnwindSafe(port::run_body));
        let exit = port::finish(result);
        let to = exit.to.map(ThreadId::index);
        // SAFETY: the run gave its own back end, which outlives its coroutines; the caller runs on the coroutine of the
        // thread that has ended, and `to` has another. When this returns, there is a thread to run, in another run
        // perhaps.
        unsafe { B::switch(exit.backend.cast(), exit.from.index(), to, exit.run) };
    }
}
