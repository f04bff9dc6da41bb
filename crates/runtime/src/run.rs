//! One execution on coroutines: announcements in, switches out, and clearing up at the end.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use raddle_core::{Action, Chooser, Effect, ObjectId, Op, Site, ThreadId, ThreadOp, Token};
use raddle_engine::known::{AnyOp, AtomicOp, Known, LifeOp, MutexOp};
use raddle_engine::{Engine, Initial, Memory, Stuck, Turn};

use crate::port::{self, Body, Entries};
use crate::runtime::Options;
use crate::{Backend, panics};

/// How often a program may catch raddle's unwinding before its thread counts as stuck.
const PATIENCE: u32 = 1000;

/// The coroutines and who runs on them; kept from run to run.
pub(crate) struct Crew<B> {
    backend: UnsafeCell<B>,
    /// By [`ThreadId`]: what a thread that has not started will run.
    bodies: UnsafeCell<Vec<Option<Arc<dyn Body>>>>,
    options: Options,
}

impl<B: Backend> Crew<B> {
    pub(crate) fn new(backend: B, options: Options) -> Crew<B> {
        Crew { backend: UnsafeCell::new(backend), bodies: UnsafeCell::new(Vec::new()), options }
    }

    pub(crate) fn abandon(self) {
        self.backend.into_inner().abandon();
    }
}

/// Which part of an execution it is. Everything but `Running` takes the longer way.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Phase {
    Running,
    /// A new thread has not announced anything yet.
    Starting,
    /// A thread is unwinding from a panic of its own.
    Unwinding,
    /// The run is over; threads are unwound.
    Teardown,
    /// The run is over; the host drops what was never started.
    Discarding,
}

impl Phase {
    fn is_over(self) -> bool {
        match self {
            Phase::Running | Phase::Starting | Phase::Unwinding => false,
            Phase::Teardown | Phase::Discarding => true,
        }
    }
}

/// One execution. Everything is reached through shared references, because several stacks are in
/// the middle of a call to it at once; only one of them runs.
pub(crate) struct Run<'a, B, M, C> {
    engine: *mut Engine<M, C>,
    crew: &'a Crew<B>,
    program: &'a dyn Fn(),
    phase: Cell<Phase>,
    /// Whose turn it is.
    thread: Cell<ThreadId>,
    /// During teardown: where the thread that left last cannot go on, if so.
    stuck: Cell<Option<Site>>,
    /// During teardown: how often the program caught the unwinding.
    caught: Cell<u32>,
}

impl<'a, B: Backend, M: Memory, C: Chooser> Run<'a, B, M, C> {
    const ENTRIES: Entries = Entries {
        submit: Self::submit_entry,
        submit_atomic: Self::submit_atomic_entry,
        submit_mutex: Self::submit_mutex_entry,
        declare: Self::declare_entry,
        newest: Self::newest_entry,
        life: Self::life_entry,
        parker: Self::parker_entry,
        time: Self::time_entry,
        spawn: Self::spawn_entry,
        work: Self::work_entry,
        finish: Self::finish_entry,
        panicked: Self::panicked_entry,
        thread: Self::thread_entry,
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
            thread: Cell::new(ThreadId::MAIN),
            stuck: Cell::new(None),
            caught: Cell::new(0),
        }
    }

    /// Runs the program from beginning to end.
    pub(crate) fn execute(&self, epoch: u64) -> Result<(), Stuck> {
        self.with_engine(Engine::reset);
        // SAFETY: no coroutine runs, and the reference ends with the statement.
        unsafe { &mut *self.crew.backend.get() }.begin();
        self.seat(ThreadId::MAIN);
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

    #[inline(always)]
    fn with_engine<R>(&self, f: impl FnOnce(&mut Engine<M, C>) -> R) -> R {
        // SAFETY: `new` had the only reference for as long as this run exists, and `f` neither
        // switches nor calls back into the run, so no two of these references overlap.
        f(unsafe { &mut *self.engine })
    }

    #[inline(always)]
    fn with_bodies<R>(&self, f: impl FnOnce(&mut Vec<Option<Arc<dyn Body>>>) -> R) -> R {
        // SAFETY: as for the engine: one stack runs at a time, and `f` does not call back.
        f(unsafe { &mut *self.crew.bodies.get() })
    }

    /// Gives `thread` a coroutine.
    #[inline]
    fn seat(&self, thread: ThreadId) {
        let ended = self.with_engine(Engine::take_ended).map(ThreadId::index);
        // SAFETY: no coroutine operation is under way while a thread is being seated.
        let backend = unsafe { &mut *self.crew.backend.get() };
        if let Err(error) = backend.seat(thread.index(), ended) {
            let size = self.crew.options.stack_size;
            panic!(
                "raddle: no stack of {size} bytes for {thread}: {error}. \
                 Use fewer threads or a smaller `Config::stack_size`."
            );
        }
    }

    /// From the host: lets `thread` go on until the run is over, or it leaves.
    fn enter(&self, thread: ThreadId) {
        self.thread.set(thread);
        // SAFETY: the host is on no coroutine, and no reference into the pool exists.
        unsafe { B::enter(self.crew.backend.get(), thread.index()) }
    }

    /// From a coroutine: back to the host.
    #[cold]
    fn leave(&self, thread: ThreadId) {
        // SAFETY: `thread` runs on its coroutine, and no reference into the pool exists.
        unsafe { B::leave(self.crew.backend.get(), thread.index()) }
    }

    /// Does as `turn` says, on the coroutine of `me`. Returns when it is the turn of `me` again.
    #[inline(always)]
    fn wait(&self, me: ThreadId, turn: Turn) {
        if turn != Turn::of(me) {
            self.give_way(me, turn);
        }
    }

    /// As [`wait`](Run::wait), when it is not the turn of `me`.
    #[inline(always)]
    fn give_way(&self, me: ThreadId, turn: Turn) {
        match turn.thread() {
            Some(thread) => self.switch(me, thread),
            None => self.leave(me),
        }
    }

    #[inline(always)]
    fn switch(&self, me: ThreadId, thread: ThreadId) {
        self.thread.set(thread);
        // SAFETY: `me` runs on its coroutine, `thread` is another with its own, and no reference
        // into the pool exists.
        unsafe { B::switch(self.crew.backend.get(), me.index(), thread.index()) }
    }

    /// Announces the operation made of these words, waits for its turn and performs it.
    ///
    /// Words and not an [`Op`], so that the common path keeps them in registers whatever the others
    /// do; `K` tells the compiler what is known of the operation.
    #[inline(always)]
    fn submit<K: Known>(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        if self.phase.get() != Phase::Running {
            return self.submit_specially(head, first, second, site);
        }
        let me = self.thread.get();
        let op = Op::from_words(head, first, second);
        // Not by `with_engine`: a closure would take the operation through memory.
        // SAFETY: as there.
        let engine = unsafe { &mut *self.engine };
        if let Some(effect) = engine.perform_on_lease::<K>(me, op, site) {
            return effect;
        }
        let turn = engine.submit_again::<K>(me, op, site);
        if turn != Turn::of(me) {
            self.give_way(me, turn);
            if self.phase.get() != Phase::Running {
                return self.resume_specially(head, first, second, site);
            }
        }
        // SAFETY: as above.
        let engine = unsafe { &mut *self.engine };
        match engine.perform::<K>(me, op, site) {
            Some(effect) => effect,
            None => self.resume_specially(head, first, second, site),
        }
    }

    /// As [`submit`](Run::submit), in any phase.
    #[cold]
    fn submit_specially(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        if self.phase.get().is_over() {
            return self.settle(head, first, second, site);
        }
        let me = self.thread.get();
        let turn = self.announce(Op::from_words(head, first, second), site);
        self.wait(me, turn);
        self.resume_specially(head, first, second, site)
    }

    /// It is the calling thread's turn, or the run is over.
    #[cold]
    fn resume_specially(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        let me = self.thread.get();
        let op = Op::from_words(head, first, second);
        if !self.phase.get().is_over() {
            let effect = self.with_engine(|engine| engine.perform::<AnyOp>(me, op, site));
            if let Some(effect) = effect {
                return effect;
            }
            // Performing it ended the run.
            self.leave(me);
        }
        self.settle(head, first, second, site)
    }

    /// Announces an operation of the calling thread in any phase of a run that is not over.
    fn announce(&self, op: Op, site: Site) -> Turn {
        let me = self.thread.get();
        if std::thread::panicking() {
            return self.with_engine(|engine| engine.submit_unpreempted(me, op, site));
        }
        // A first announcement, or a panic that the program has caught.
        self.phase.set(Phase::Running);
        self.with_engine(|engine| engine.submit::<AnyOp>(me, op, site))
    }

    fn spawn(&self, body: Arc<dyn Body>, site: Site) -> ThreadId {
        let me = self.thread.get();
        let (child, life) = self.with_engine(|engine| engine.declare_child(me, site));
        self.seat(child);
        self.with_bodies(|bodies| {
            if bodies.len() <= child.index() {
                bodies.resize(child.index() + 1, None);
            }
            bodies[child.index()] = Some(body);
        });
        let op = Op::new(life, Action::Thread(ThreadOp::Spawn));
        if !self.phase.get().is_over() {
            let turn = match self.phase.get() {
                Phase::Running => {
                    self.with_engine(|engine| engine.submit_again::<LifeOp>(me, op, site))
                }
                Phase::Starting | Phase::Unwinding | Phase::Teardown | Phase::Discarding => {
                    self.announce(op, site)
                }
            };
            self.wait(me, turn);
        }
        if !self.phase.get().is_over() {
            self.with_engine(|engine| engine.start(me, life, site));
            self.phase.set(Phase::Starting);
            self.switch(me, child);
        }
        if self.phase.get().is_over() {
            let [head, first, second] = op.into_words();
            self.settle(head, first, second, site);
        }
        child
    }

    /// Runs the calling thread's body, on its coroutine.
    fn work(&self) {
        let me = self.thread.get();
        if me == ThreadId::MAIN {
            return (self.program)();
        }
        let body = self.with_bodies(|bodies| bodies[me.index()].take());
        body.expect("raddle invariant broken: a thread without a body").run();
    }

    /// The calling thread's body has ended. Returns when the coroutine has other work, in another
    /// run perhaps: nothing of `self` may be touched after the last `leave` or `wait`.
    fn finish(&self, result: Result<(), Box<dyn Any + Send>>) {
        let me = self.thread.get();
        if let (Err(payload), false) = (result, self.phase.get().is_over()) {
            let panic = panics::describe(me, &*payload);
            self.with_engine(|engine| engine.fail(panic));
            self.discard(payload);
            return self.leave(me);
        }
        if !self.phase.get().is_over() {
            self.phase.set(Phase::Running);
            let turn = self.with_engine(|engine| engine.submit_exit(me));
            self.wait(me, turn);
        }
        if self.phase.get().is_over() {
            // Destructors of other threads may wait for this one.
            self.with_engine(|engine| engine.settle_exit(me));
            return self.leave(me);
        }
        let turn = self.with_engine(|engine| engine.exit(me));
        self.wait(me, turn);
    }

    /// From the host, after the end: unwinds every thread that is in the middle of something.
    #[cold]
    fn tear_down(&self) -> Result<(), Stuck> {
        self.phase.set(Phase::Teardown);
        let mut waiting: Vec<ThreadId> =
            self.with_engine(|engine| engine.trace().pending.iter().map(|p| p.thread).collect());
        let mut last_stuck = None;
        while !waiting.is_empty() {
            let before = waiting.len();
            waiting.retain(|&thread| {
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
        let unborn = self.with_bodies(std::mem::take);
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
    fn settle(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        let op = Op::from_words(head, first, second);
        let me = self.thread.get();
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

    unsafe fn submit_entry(
        run: *const (),
        head: u64,
        first: u64,
        second: u64,
        site: Site,
    ) -> Effect {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.submit::<AnyOp>(head, first, second, site)
    }

    unsafe fn submit_atomic_entry(
        run: *const (),
        head: u64,
        first: u64,
        second: u64,
        site: Site,
    ) -> Effect {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.submit::<AtomicOp>(head, first, second, site)
    }

    unsafe fn submit_mutex_entry(
        run: *const (),
        head: u64,
        first: u64,
        second: u64,
        site: Site,
    ) -> Effect {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.submit::<MutexOp>(head, first, second, site)
    }

    unsafe fn declare_entry(run: *const (), initial: Initial, site: Site) -> ObjectId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.declare(run.thread.get(), initial, site))
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
        run.with_engine(|engine| engine.parker(thread, run.thread.get(), site))
    }

    unsafe fn time_entry(run: *const ()) -> u64 {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.with_engine(|engine| engine.time(run.thread.get()))
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

    unsafe fn panicked_entry(run: *const ()) {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        if run.phase.get() == Phase::Running {
            run.phase.set(Phase::Unwinding);
        }
    }

    unsafe fn thread_entry(run: *const ()) -> ThreadId {
        // SAFETY: `execute` connected a pointer to this type, valid until it disconnects.
        let run: &Self = unsafe { &*run.cast() };
        run.thread.get()
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

/// Ends the connection of a run when dropped.
struct Connection;

impl Drop for Connection {
    fn drop(&mut self) {
        port::disconnect();
    }
}
