//! One execution on coroutines: announcements in, switches out, and clearing up at the end.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use raddle_core::{Action, Chooser, Effect, ObjectId, Op, Site, ThreadId, ThreadOp, Token};
use raddle_engine::{Engine, Initial, Memory, Stuck, Turn};

use crate::port::{self, Body, Entries};
use crate::runtime::Options;
use crate::{Backend, panics};

/// How often a program may catch raddle's unwinding before its thread counts as stuck.
const PATIENCE: u32 = 1000;

/// The coroutines and who runs on them; kept from run to run.
pub(crate) struct Crew<B> {
    backend: UnsafeCell<B>,
    /// By [`ThreadId`].
    seats: UnsafeCell<Vec<Seat>>,
    /// Coroutines from here on have not been used in this run.
    unused: Cell<usize>,
    options: Options,
}

/// A thread's place in the crew.
#[derive(Default)]
struct Seat {
    coroutine: usize,
    /// What it will run; taken when it starts.
    body: Option<Arc<dyn Body>>,
    /// Whether frames of the program are on its stack.
    busy: bool,
}

impl<B: Backend> Crew<B> {
    pub(crate) fn new(backend: B, options: Options) -> Crew<B> {
        Crew {
            backend: UnsafeCell::new(backend),
            seats: UnsafeCell::new(Vec::new()),
            unused: Cell::new(0),
            options,
        }
    }

    pub(crate) fn abandon(self) {
        self.backend.into_inner().abandon();
    }
}

/// Which part of an execution it is.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Phase {
    Running,
    /// The run is over; threads are unwound.
    Teardown,
    /// The run is over; the host drops what was never started.
    Discarding,
}

/// One execution. Everything is reached through shared references, because several stacks are in
/// the middle of a call to it at once; only one of them runs.
pub(crate) struct Run<'a, B, M, C> {
    engine: *mut Engine<M, C>,
    crew: &'a Crew<B>,
    program: &'a dyn Fn(),
    phase: Cell<Phase>,
    /// What the operation of the thread that is switched to had for an effect.
    effect: Cell<Effect>,
    /// During teardown: where the thread that left last cannot go on, if so.
    stuck: Cell<Option<Site>>,
    /// During teardown: how often the program caught the unwinding.
    caught: Cell<u32>,
}

impl<'a, B: Backend, M: Memory, C: Chooser> Run<'a, B, M, C> {
    const ENTRIES: Entries = Entries {
        submit: Self::submit_entry,
        declare: Self::declare_entry,
        newest: Self::newest_entry,
        life: Self::life_entry,
        parker: Self::parker_entry,
        time: Self::time_entry,
        spawn: Self::spawn_entry,
        work: Self::work_entry,
        finish: Self::finish_entry,
        token: Self::token_entry,
    };

    pub(crate) fn new(
        engine: &'a mut Engine<M, C>,
        crew: &'a mut Crew<B>,
        program: &'a dyn Fn(),
    ) -> Run<'a, B, M, C> {
        Run {
            engine,
            crew,
            program,
            phase: Cell::new(Phase::Running),
            effect: Cell::new(Effect::None),
            stuck: Cell::new(None),
            caught: Cell::new(0),
        }
    }

    /// Runs the program from beginning to end.
    pub(crate) fn execute(&self, epoch: u64) -> Result<(), Stuck> {
        self.with_engine(Engine::reset);
        self.crew.unused.set(0);
        self.seat(ThreadId::MAIN, None);
        let this: *const Self = self;
        // SAFETY: the entries take a pointer to this type, and `self` outlives `disconnect` below.
        unsafe {
            port::connect(
                this.cast(),
                const { &Self::ENTRIES },
                epoch,
                self.crew.options.plain_accesses,
            );
        }
        #[cfg(unix)]
        crate::overflow::watch(self.crew.backend.get());
        // Ends the connection also if raddle itself panics.
        let _connection = Connection;
        self.enter(ThreadId::MAIN);
        if self.with_engine(|engine| engine.trace().pending.is_empty()) {
            return Ok(());
        }
        self.tear_down()
    }

    #[inline]
    fn with_engine<R>(&self, f: impl FnOnce(&mut Engine<M, C>) -> R) -> R {
        // SAFETY: `new` had the only reference for as long as this run exists, and `f` neither
        // switches nor calls back into the run, so no two of these references overlap.
        f(unsafe { &mut *self.engine })
    }

    #[inline]
    fn with_seat<R>(&self, thread: ThreadId, f: impl FnOnce(&mut Seat) -> R) -> R {
        // SAFETY: as for the engine: one stack runs at a time, and `f` does not call back.
        let seats = unsafe { &mut *self.crew.seats.get() };
        f(&mut seats[thread.index()])
    }

    #[inline]
    fn coroutine(&self, thread: ThreadId) -> usize {
        self.with_seat(thread, |seat| seat.coroutine)
    }

    /// Gives `thread` a coroutine.
    fn seat(&self, thread: ThreadId, body: Option<Arc<dyn Body>>) {
        let coroutine = match self.with_engine(Engine::take_ended) {
            Some(ended) => self.coroutine(ended),
            None => {
                let fresh = self.crew.unused.get();
                self.crew.unused.set(fresh + 1);
                fresh
            }
        };
        // SAFETY: no coroutine operation is under way while a thread is being seated.
        let backend = unsafe { &mut *self.crew.backend.get() };
        if coroutine == backend.len() {
            if let Err(error) = backend.grow() {
                let size = self.crew.options.stack_size;
                panic!(
                    "raddle: no stack of {size} bytes for {thread}: {error}. \
                     Use fewer threads or a smaller `Config::stack_size`."
                );
            }
        }
        // SAFETY: as for `with_seat`.
        let seats = unsafe { &mut *self.crew.seats.get() };
        if seats.len() <= thread.index() {
            seats.resize_with(thread.index() + 1, Seat::default);
        }
        seats[thread.index()] = Seat { coroutine, body, busy: false };
    }

    /// From the host: lets `thread` go on until the run is over, or it leaves.
    fn enter(&self, thread: ThreadId) {
        let coroutine = self.coroutine(thread);
        port::set_thread(thread);
        // SAFETY: the host is on no coroutine, and no reference into the pool exists.
        unsafe { B::enter(self.crew.backend.get(), coroutine) }
    }

    /// From a coroutine: back to the host.
    fn leave(&self, thread: ThreadId) {
        let coroutine = self.coroutine(thread);
        // SAFETY: `thread` runs on its coroutine, and no reference into the pool exists.
        unsafe { B::leave(self.crew.backend.get(), coroutine) }
    }

    /// Does as `turn` says, on the coroutine of `me`. Returns when it is the turn of `me` again.
    #[inline]
    fn take(&self, me: ThreadId, turn: Turn) -> Effect {
        match turn {
            Turn::Run(thread, effect) if thread == me => return effect,
            Turn::Run(thread, effect) => {
                self.effect.set(effect);
                port::set_thread(thread);
                let (from, to) = (self.coroutine(me), self.coroutine(thread));
                // SAFETY: `me` runs on its coroutine, `thread` is another with its own, and no
                // reference into the pool exists.
                unsafe { B::switch(self.crew.backend.get(), from, to) }
            }
            Turn::End => self.leave(me),
        }
        self.effect.get()
    }

    fn submit(&self, op: Op, site: Site) -> Effect {
        if self.phase.get() != Phase::Running {
            return self.settle(op, site);
        }
        let me = port::thread();
        let turn = if std::thread::panicking() {
            self.with_engine(|engine| engine.submit_unpreempted(me, op, site))
        } else {
            self.with_engine(|engine| engine.submit(me, op, site))
        };
        let effect = self.take(me, turn);
        if self.phase.get() != Phase::Running {
            return self.settle(op, site);
        }
        effect
    }

    fn spawn(&self, body: Arc<dyn Body>, site: Site) -> ThreadId {
        let me = port::thread();
        let (child, life) = self.with_engine(|engine| engine.declare_child(me, site));
        self.seat(child, Some(body));
        self.submit(Op { object: life, action: Action::Thread(ThreadOp::Spawn) }, site);
        child
    }

    /// Runs the calling thread's body, on its coroutine.
    fn work(&self) {
        let me = port::thread();
        let body = self.with_seat(me, |seat| {
            seat.busy = true;
            seat.body.take()
        });
        match body {
            Some(body) => body.run(),
            None => (self.program)(),
        }
    }

    /// The calling thread's body has ended.
    fn finish(&self, result: Result<(), Box<dyn Any + Send>>) {
        let me = port::thread();
        self.with_seat(me, |seat| seat.busy = false);
        if self.phase.get() != Phase::Running {
            // Destructors of other threads may wait for this one.
            self.with_engine(|engine| engine.settle(me, exit(engine.life(me))));
            return self.leave(me);
        }
        if let Err(payload) = result {
            let panic = panics::describe(me, &*payload);
            self.with_engine(|engine| engine.fail(panic));
            self.discard(payload);
            return self.leave(me);
        }
        let turn = self.with_engine(|engine| {
            let exit = exit(engine.life(me));
            engine.submit(me, exit, Site::UNKNOWN)
        });
        self.take(me, turn);
    }

    /// From the host, after the end: unwinds every thread that is in the middle of something.
    #[cold]
    fn tear_down(&self) -> Result<(), Stuck> {
        self.phase.set(Phase::Teardown);
        let threads: Vec<ThreadId> =
            self.with_engine(|engine| engine.trace().threads.iter().map(|info| info.id).collect());
        let mut waiting: Vec<ThreadId> = threads;
        let mut last_stuck = None;
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|&thread| {
                if !self.with_seat(thread, |seat| seat.busy) {
                    return false;
                }
                self.stuck.set(None);
                self.caught.set(0);
                self.enter(thread);
                match self.stuck.get() {
                    None => false,
                    Some(site) => {
                        last_stuck = Some(Stuck { thread, site });
                        true
                    }
                }
            });
            if waiting.len() == before {
                break;
            }
        }
        // Threads that were announced and never started.
        // SAFETY: as for `with_seat`; the reference ends before anything is dropped.
        let seats = unsafe { &mut *self.crew.seats.get() };
        let unborn: Vec<_> = seats.iter_mut().filter_map(|seat| seat.body.take()).collect();
        self.discard(unborn);
        match last_stuck {
            Some(stuck) if !waiting.is_empty() => Err(stuck),
            Some(_) | None => Ok(()),
        }
    }

    /// Drops something of the program's after the end of the run.
    #[cold]
    fn discard<T>(&self, value: T) {
        let phase = self.phase.replace(Phase::Discarding);
        // A destructor that panics has nobody left to tell.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
        self.phase.set(phase);
    }

    /// An operation of a thread that is being unwound: performed without asking anybody.
    #[cold]
    fn settle(&self, op: Op, site: Site) -> Effect {
        let me = port::thread();
        if self.phase.get() == Phase::Discarding {
            let effect = self.with_engine(|engine| engine.settle(me, op));
            return effect.expect("a destructor waits for something after the end of its run");
        }
        if !std::thread::panicking() {
            // The program caught the unwinding, or has not begun to unwind.
            let caught = self.caught.get() + 1;
            self.caught.set(caught);
            if caught <= PATIENCE {
                panics::tear_down();
            }
            loop {
                self.stuck.set(Some(site));
                self.leave(me);
            }
        }
        loop {
            if let Some(effect) = self.with_engine(|engine| engine.settle(me, op)) {
                return effect;
            }
            self.stuck.set(Some(site));
            self.leave(me);
        }
    }

    unsafe fn submit_entry(run: *const (), op: Op, site: Site) -> Effect {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.submit(op, site)
    }

    unsafe fn declare_entry(run: *const (), initial: Initial, site: Site) -> ObjectId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.declare(port::thread(), initial, site))
    }

    unsafe fn newest_entry(run: *const (), object: ObjectId) -> u64 {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.newest(object))
    }

    unsafe fn life_entry(run: *const (), thread: ThreadId) -> ObjectId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.life(thread))
    }

    unsafe fn parker_entry(run: *const (), thread: ThreadId, site: Site) -> ObjectId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.parker(thread, port::thread(), site))
    }

    unsafe fn time_entry(run: *const ()) -> u64 {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.time(port::thread()))
    }

    unsafe fn spawn_entry(run: *const (), body: Arc<dyn Body>, site: Site) -> ThreadId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.spawn(body, site)
    }

    unsafe fn work_entry(run: *const ()) {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.work();
    }

    unsafe fn finish_entry(run: *const (), result: Result<(), Box<dyn Any + Send>>) {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.finish(result);
    }

    unsafe fn token_entry(run: *const ()) -> String {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| {
            let trace = engine.trace();
            Token::new(&run.crew.options.name, &trace.threads, trace.schedule()).to_string()
        })
    }
}

fn exit(life: ObjectId) -> Op {
    Op { object: life, action: Action::Thread(ThreadOp::Exit) }
}

/// Ends the connection of a run when dropped.
struct Connection;

impl Drop for Connection {
    fn drop(&mut self) {
        port::disconnect();
    }
}
