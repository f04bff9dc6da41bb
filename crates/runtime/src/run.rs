//! One execution on coroutines: announcements in, switches out, and clearing up at the end.

use std::cell::{Cell, RefCell, UnsafeCell};

use raddle_core::{Action, Chooser, Effect, ObjectId, Op, Site, ThreadId};
use raddle_engine::known::AnyOp;
use raddle_engine::{Engine, Memory, Stuck, Turn};

use crate::backend::{Baton, HOST};
use crate::blocks::FreeAll;
use crate::body::HandedOver;
use crate::epoch::Epochs;
use crate::port::{self, Caught, Entries, Parting, Ways};
use crate::runtime::Options;
use crate::{Backend, Body, bare, panics};

mod ahead;
mod entries;
mod extras;
mod heap;
mod keep;
mod lives;
mod names;
mod panicked;
mod submit;
mod teardown;

use extras::Extras;
use teardown::Teardown;

/// The coroutines and who runs on them; kept from run to run.
pub(crate) struct Crew<B> {
    backend: UnsafeCell<B>,
    /// What the thread that is switched to for the first time is to run.
    body: Cell<Option<HandedOver>>,
    /// What the program calls its threads, as it last said, and in which run.
    thread_names: RefCell<Vec<(ThreadId, String, u64)>>,
    extras: Extras,
    teardown: Teardown,
    ways: Ways,
    /// The name of the check.
    name: String,
    options: Options,
    /// The numbers of its runs.
    pub(crate) epochs: Epochs,
    _blocks: FreeAll,
}

impl<B: Backend> Crew<B> {
    pub(crate) fn new(backend: B, name: &str, options: &Options) -> Crew<B> {
        Crew {
            backend: UnsafeCell::new(backend),
            body: Cell::new(None),
            thread_names: RefCell::new(Vec::new()),
            extras: Extras::default(),
            teardown: Teardown::default(),
            ways: options.ways(),
            name: name.to_owned(),
            options: options.clone(),
            epochs: Epochs::new(),
            _blocks: FreeAll,
        }
    }

    /// Whether it can be used for a check with these options.
    pub(crate) fn can_serve(&self, options: &Options) -> bool {
        self.options.stack_size == options.stack_size
    }

    /// Is used for another check.
    pub(crate) fn serve(&mut self, name: &str, options: &Options) {
        self.ways = options.ways();
        self.name.clear();
        self.name.push_str(name);
        self.options.copy(options);
        self.epochs.begin();
    }

    /// The crew is not needed any more, and no run is under way. Whether it should be kept.
    pub(crate) fn rest(&mut self) -> bool {
        if self.extras.are_used() {
            self.extras = Extras::default();
        }
        self.thread_names.get_mut().clear();
        self.epochs.rest();
        port::blocks().free_most();
        self.backend.get_mut().is_worth_keeping()
    }

    pub(crate) fn abandon(self) {
        self.backend.into_inner().abandon();
        // The stuck thread will not need them, and their destructors would run outside of any run.
        std::mem::forget(self.extras.into_parts().belongings);
        port::nobody_has_belongings();
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
    #[inline(always)]
    pub(super) fn is_over(self) -> bool {
        match self {
            Phase::Running | Phase::Starting | Phase::Unwinding => false,
            Phase::Teardown | Phase::Discarding => true,
        }
    }
}

/// One execution. Everything is reached through shared references, because several stacks are in
/// the middle of a call to it at once; only one of them runs.
pub(crate) struct Run<'a, B, M: Memory, C> {
    engine: *mut Engine<M, C>,
    crew: &'a Crew<B>,
    program: &'a dyn Fn(),
    phase: Cell<Phase>,
    /// Whose turn it is.
    thread: Cell<ThreadId>,
}

impl<'a, B: Backend, M: Memory, C: Chooser> Run<'a, B, M, C> {
    pub(crate) fn new(
        engine: &'a mut Engine<M, C>,
        crew: &'a mut Crew<B>,
        program: &'a dyn Fn(),
    ) -> Run<'a, B, M, C> {
        if crew.extras.are_used() {
            crew.extras.clear();
        }
        Run {
            engine,
            crew,
            program,
            phase: Cell::new(Phase::Running),
            thread: Cell::new(ThreadId::MAIN),
        }
    }

    /// Runs the program from beginning to end.
    ///
    /// Inlined into its caller, as is everything around a switch: each return after one goes
    /// somewhere else than the processor expects.
    #[inline(always)]
    pub(crate) fn execute(&self, epoch: u64) -> Result<(), Stuck> {
        self.with_engine(Engine::reset);
        let crew = self.crew;
        // SAFETY: no coroutine runs, and the reference ends with the statement.
        if let Err(error) = unsafe { &mut *crew.backend.get() }.begin() {
            self.no_stack(ThreadId::MAIN, &error);
        }
        let this: *const Self = self;
        // SAFETY: the entries take a pointer to this type, and `self` outlives `disconnect` below.
        unsafe {
            port::connect(this.cast(), self.engine.cast(), self.entries(), epoch, crew.ways);
        }
        // Ends the connection also if raddle itself panics.
        let connection = Connection;
        self.enter(ThreadId::MAIN);
        let is_ordinary = self.with_engine(|engine| engine.was_ordinary());
        if !is_ordinary || self.crew.extras.are_used() {
            return self.clear_up(connection);
        }
        connection.end();
        Ok(())
    }

    /// After the end of a run that leaves anything behind.
    #[cold]
    fn clear_up(&self, connection: Connection) -> Result<(), Stuck> {
        let extras = self.crew.extras.look();
        if !extras.panics.is_empty() {
            self.blame_unheard();
        }
        let result = if self.with_engine(|engine| engine.trace().pending.is_empty()) {
            Ok(())
        } else {
            self.tear_down()
        };
        if port::has_belongings() && result.is_ok() {
            self.clear_belongings();
        }
        if self.crew.ways.heap && result.is_ok() {
            self.tell_what_is_left();
        }
        if !extras.kept.is_empty() {
            extras.kept.put_back();
        }
        connection.end();
        result
    }

    #[inline(always)]
    fn entries(&self) -> &'static Entries {
        if self.crew.ways.heap {
            // There is something to tell after the run.
            self.crew.extras.get();
            return const { &Self::WATCHED };
        }
        const { &Self::ENTRIES }
    }

    #[inline(always)]
    fn with_engine<R>(&self, f: impl FnOnce(&mut Engine<M, C>) -> R) -> R {
        // SAFETY: `new` had the only reference for as long as this run exists, and `f` neither
        // switches nor calls back into the run, so no two of these references overlap.
        f(unsafe { bare::follow_mut!(self.engine as Engine<M, C>) })
    }

    /// Whose turn it is.
    #[inline(always)]
    fn me(&self) -> ThreadId {
        bare::get!(self.thread: ThreadId)
    }

    #[inline(always)]
    fn phase(&self) -> Phase {
        bare::get!(self.phase: Phase)
    }

    /// Whether `thread` has a coroutine.
    #[inline(always)]
    fn is_seated(&self, thread: ThreadId) -> bool {
        let backend = self.crew.backend.get();
        // SAFETY: no coroutine operation is under way while a thread is being seated.
        unsafe { bare::follow!(backend as B) }.is_seated(thread.index())
    }

    /// Gives `thread` a coroutine.
    #[cold]
    fn seat(&self, thread: ThreadId) {
        let backend = self.crew.backend.get();
        // SAFETY: as above.
        let backend = unsafe { bare::follow_mut!(backend as B) };
        let ended = || self.with_engine(Engine::take_ended).map(ThreadId::index);
        if let Err(error) = backend.seat(thread.index(), ended) {
            self.no_stack(thread, &error);
        }
    }

    #[cold]
    fn no_stack(&self, thread: ThreadId, error: &std::io::Error) -> ! {
        let size = self.crew.options.stack_size;
        panic!(
            "raddle: no stack of {size} bytes for {thread}: {error}. \
             Use fewer threads or a smaller `Config::stack_size`."
        )
    }

    /// From the host: lets `thread` go on until the run is over, or it leaves.
    #[inline(always)]
    fn enter(&self, thread: ThreadId) {
        bare::set!(self.thread: ThreadId = thread);
        let this: *const Self = self;
        // SAFETY: the host is on no coroutine, and no reference into the pool exists.
        unsafe { B::enter(self.crew.backend.get(), thread.index(), this.cast()) }
    }

    /// From a coroutine: back to the host.
    #[cold]
    fn leave(&self, thread: ThreadId) {
        // SAFETY: `thread` runs on its coroutine, and no reference into the pool exists.
        unsafe { B::switch(self.crew.backend.get(), thread.index(), HOST, std::ptr::null()) };
    }

    /// Does as `turn` says, on the coroutine of `me`. Returns when it is the turn of `me` again, with
    /// `self`.
    #[inline(always)]
    fn wait(&self, me: ThreadId, turn: Turn) -> &Self {
        if turn.is_of(me) { self } else { self.go_on_with(me, turn) }
    }

    /// Whether a switch to oneself is better than a branch that is foreseen badly.
    const SWITCHES_IN_DOUBT: bool =
        B::SWITCHES_TO_ITSELF && !C::GRANTS_LEASES && !cfg!(debug_assertions);

    /// As [`wait`](Run::wait), where it may well be anybody's turn.
    #[inline(always)]
    fn wait_in_doubt(&self, me: ThreadId, turn: Turn, engine: *const Engine<M, C>) -> &Self {
        if Self::SWITCHES_IN_DOUBT {
            // SAFETY: as for `with_engine`.
            let engine = unsafe { bare::follow!(engine as Engine<M, C>) };
            if !engine.has_no_choice() {
                return self.go_on_with(me, turn);
            }
        }
        self.wait(me, turn)
    }

    /// As [`wait`](Run::wait), by a switch in any case.
    #[inline(always)]
    fn go_on_with(&self, me: ThreadId, turn: Turn) -> &Self {
        if matches!(turn, Turn::END) {
            self.leave(me);
            return self;
        }
        self.switch(me, ThreadId(turn.word()))
    }

    /// Lets `thread` go on. Returns with `self` when it is the turn of `me` again. It comes from the thread
    /// before and not from the stack that is switched to, so that what comes next need not wait for that.
    #[inline(always)]
    fn switch(&self, me: ThreadId, thread: ThreadId) -> &Self {
        bare::set!(self.thread: ThreadId = thread);
        let this: *const Self = self;
        // SAFETY: `me` runs on its coroutine, `thread` has one too, another unless the back end allows
        // otherwise, and no reference into the pool exists.
        let baton = unsafe {
            B::switch(self.crew.backend.get(), me.index(), thread.index(), this as Baton)
        };
        if cfg!(debug_assertions) {
            // Where nothing is optimised, waiting is the least of it.
            return self;
        }
        // SAFETY: every switch of a run hands over the run itself, and no thread is switched to in
        // another one before it has ended.
        unsafe { &*(baton as *const Self) }
    }

    /// Whether what the calling thread is about to do goes wrong without a reason.
    #[cold]
    fn is_spurious(&self, site: Site) -> bool {
        let me = self.me().index();
        let extras = self.crew.extras.get();
        let used = || extras.spurious.borrow().get(me).copied().unwrap_or(0);
        if self.phase().is_over() || used() >= self.crew.options.spurious {
            return false;
        }
        let op = Op::new(ObjectId::NONE, Action::Choose { bound: 2 });
        let [head, first, second] = op.into_words();
        let chosen = self.submit::<AnyOp>(head, first, second, site) == Effect::Value(1);
        if chosen {
            let mut all = extras.spurious.borrow_mut();
            if all.len() <= me {
                all.resize(me + 1, 0);
            }
            all[me] += 1;
        }
        chosen
    }

    /// Announces an operation in any phase. Whose turn is it?
    #[cold]
    fn submit_specially(&self, head: u64, first: u64, second: u64, site: Site) -> Turn {
        if self.phase().is_over() {
            return Turn::of(self.me());
        }
        self.announce(Op::from_words(head, first, second), site)
    }

    /// The calling thread did not stand among those who wait, as all operations do that are performed specially.
    #[cold]
    fn line_up_late(&self, head: u64) {
        if !self.phase().is_over() {
            let (me, op) = (self.me(), Op::from_words(head, 0, 0));
            self.with_engine(|engine| engine.line_up_late(me, op));
        }
    }

    /// It is the calling thread's turn, or the run is over.
    #[cold]
    fn resume_specially(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        if self.phase().is_over() {
            return self.settle(head, first, second, site);
        }
        let op = Op::from_words(head, first, second);
        let me = self.me();
        self.with_engine(Engine::end_lease);
        match self.with_engine(|engine| engine.perform::<AnyOp>(me, op, site)) {
            Some(effect) => effect,
            None => self.end_within(head, first, second, site),
        }
    }

    /// Performing an operation ended the run.
    #[cold]
    fn end_within(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        self.leave(self.me());
        self.settle(head, first, second, site)
    }

    /// Announces an operation of the calling thread in any phase of a run that is not over.
    fn announce(&self, op: Op, site: Site) -> Turn {
        let me = self.me();
        if self.is_unwinding(me) && !op.is_pause() {
            return self.with_engine(|engine| engine.submit_unpreempted(me, op, site));
        }
        // A first announcement, a panic that the program has caught, or one of another thread, which
        // waits in a destructor.
        let others_unwind = self.others_unwind();
        self.phase.set(if others_unwind { Phase::Unwinding } else { Phase::Running });
        self.with_engine(|engine| engine.submit::<AnyOp>(me, op, site))
    }

    /// Whether threads are in the middle of unwinding, apart from one that has just ended or been caught.
    fn others_unwind(&self) -> bool {
        !self.crew.extras.look().unwinding.borrow().is_empty()
    }

    /// Runs the calling thread's body, on its coroutine.
    #[inline(always)]
    fn work(&self) {
        let me = self.me();
        if me.0 == ThreadId::MAIN.0 {
            return (self.program)();
        }
        Body::taken(&self.crew.body).run();
    }

    /// The calling thread's body has ended: announces its exit, and performs it if it is its turn.
    /// Otherwise the coroutine goes where it is told, and then [`exit`](Run::exit)s.
    ///
    /// The switches around the end of a thread are the coroutine's own, so that no stale return lies
    /// between them and other work.
    #[inline(always)]
    fn finish(&self, result: Caught) -> Parting {
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow!(self.engine as Engine<M, C>) };
        if engine.has_one_thread()
            && matches!(self.phase(), Phase::Running)
            && matches!(result, Ok(()))
        {
            return self.finish_alone();
        }
        self.finish_among_others(result)
    }

    #[inline(never)]
    fn finish_alone(&self) -> Parting {
        let me = self.me();
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        if engine.end_with(me) {
            return self.part(me, Turn::END, true);
        }
        self.finish_among_others(Ok(()))
    }

    /// Apart from the end of the last thread, which then saves no registers.
    #[inline(never)]
    fn finish_among_others(&self, result: Caught) -> Parting {
        let me = self.me();
        if let Err(payload) = result {
            self.finish_panic(me, payload);
        }
        if !matches!(self.phase(), Phase::Running) && !self.goes_on() {
            return self.exit_after_end(me);
        }
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        let turn = engine.submit_exit(me);
        if turn.is_of(me) {
            return self.exit_now(me);
        }
        if let Some(thread) = turn.thread() {
            bare::set!(self.thread: ThreadId = thread);
        }
        self.part(me, turn, false)
    }

    /// Whether the run goes on, and if so in which phase, when a thread ends that has not announced
    /// anything yet or during a panic.
    #[cold]
    fn goes_on(&self) -> bool {
        let phase = self.phase();
        if !phase.is_over() {
            let others_unwind = phase == Phase::Unwinding && self.others_unwind();
            self.phase.set(if others_unwind { Phase::Unwinding } else { Phase::Running });
        }
        !phase.is_over()
    }

    /// It is the turn of a thread that announced its exit, or the run is over.
    #[inline(always)]
    fn exit(&self) -> Parting {
        let me = self.me();
        if self.phase().is_over() {
            return self.exit_after_end(me);
        }
        self.exit_now(me)
    }

    #[inline(always)]
    fn exit_now(&self, me: ThreadId) -> Parting {
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        let turn = engine.exit(me);
        if let Some(thread) = turn.thread() {
            bare::set!(self.thread: ThreadId = thread);
        }
        self.part(me, turn, true)
    }

    #[inline(always)]
    fn part(&self, from: ThreadId, to: Turn, ended: bool) -> Parting {
        Parting::new(self.crew.backend.get().cast(), from, to, ended)
    }

    /// Destructors of other threads may wait for the end of `me`.
    #[cold]
    fn exit_after_end(&self, me: ThreadId) -> Parting {
        self.with_engine(|engine| engine.settle_exit(me));
        self.part(me, Turn::END, true)
    }
}

/// Ends the connection of a run if raddle itself panics.
struct Connection;

impl Connection {
    /// Ends it in the ordinary way.
    #[inline(always)]
    fn end(self) {
        std::mem::forget(self);
        port::disconnect();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        port::disconnect();
        panics::tell();
    }
}
