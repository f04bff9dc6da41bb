//! One execution on coroutines.
//!
//! One step ([`Run::step`]) is: announce the operation to the engine, switch to the thread that has the turn unless it is
//! the same, and perform the operation when the turn comes back.

use std::alloc::Layout;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::rc::Rc;
use std::sync::Arc;

use raddle_core::{
    Action, Choices, Description, Effect, EventId, Moment, MutexOp, NoteKind, ObjectId, Op,
    PauseOp, Question, Site, ThreadId, Trace,
};
use raddle_engine::{Engine, Frames, Initial, Kind, Memory, RunState, SinceChange, Turn};
use raddle_results::Token;

use crate::pool::CoroutinePool;
use crate::port::{self, BodyResult, Execution, ExitSwitch};
use crate::statics::{self, Place};
use crate::{Backend, Body, Rerun};

mod ends;
#[cfg(all(unix, target_arch = "x86_64"))]
mod frame;
mod heap;
mod panicked;
mod resume;
mod saved_statics;
mod special;
mod teardown;

pub(crate) use ends::{UnusedEnd, WatchedPlace};
pub(crate) use heap::Heap;
pub(crate) use panicked::JoinablePanics;
use panicked::{TellOwnPanic, fail_for_own_bug};
use resume::without_lifetime;
pub(crate) use saved_statics::SavedStatics;
use special::Watched;
pub(crate) use teardown::Teardown;

const LOCK: Op = Op::new(ObjectId::NONE, Action::Mutex(MutexOp::Lock));
const UNLOCK: Op = Op::new(ObjectId::NONE, Action::Mutex(MutexOp::Unlock));

/// Returns the operation with these words.
///
/// Functions off the fast path take words: an `Op` would be passed in memory, and then live there on the fast path too.
fn op_of([head, first, second]: [u64; 3]) -> Op {
    Op::from_words(head, first, second)
}

/// One execution. Everything is reached through shared references, because several stacks are in
/// the middle of a call to it at once; only one of them runs.
pub(crate) struct Run<'a, 'c, B, M: Memory> {
    engine: UnsafeCell<&'a mut Engine<M>>,
    choices: UnsafeCell<Choices<'c>>,
    pool: &'a CoroutinePool<B>,
    program: &'a dyn Fn(),
    /// The number of threads that main has joined. No thread is joined twice.
    joined: Cell<usize>,
    /// The thread that ended the run in the middle of a use of freed memory, and cannot continue.
    late_user: Cell<Option<ThreadId>>,
}

impl<'a, 'c, B: Backend, M: Memory> Run<'a, 'c, B, M> {
    /// Runs the program from beginning to end.
    pub(crate) fn execute(
        engine: &'a mut Engine<M>,
        choices: Choices<'c>,
        pool: &'a mut CoroutinePool<B>,
        program: &'a dyn Fn(),
    ) {
        let number = pool.begin_run();
        let pool = &*pool;
        engine.begin(&choices);
        if B::HAS_STACK_ENDS {
            engine.offer_frames(Frames::AfterAPause);
        }
        let run = Run {
            engine: UnsafeCell::new(engine),
            choices: UnsafeCell::new(choices),
            pool,
            program,
            joined: Cell::new(0),
            late_user: Cell::new(None),
        };
        // SAFETY: no coroutine runs, and the reference ends with the statement.
        if let Err(error) = unsafe { &mut *pool.backend.get() }.begin() {
            run.no_stack(ThreadId::MAIN, &error);
        }
        let (special, takes_frames) =
            run.with_engine(|engine, _| (engine.special().cloned(), engine.takes_frames()));
        run.prepare_heap();
        let watched = Watched::new(&run, special, takes_frames);
        let (execution, flags) = watched.execution(pool.flags);
        // SAFETY: the connection ends before the run does.
        let connection = unsafe { port::connect(without_lifetime(execution), number, flags) };
        let guard = TellOwnPanic(&run);
        // A check may be made in a destructor, while its OS thread unwinds.
        let panics = if std::thread::panicking() { Some(run.take_panics()) } else { None };
        run.enter(ThreadId::MAIN);
        if !run.state().is_over() {
            // SAFETY: as above.
            unsafe { run.resume(&watched, &connection) };
        }
        run.clear_away();
        if let Some(panics) = panics {
            run.put_back_panics(panics);
        }
        std::mem::forget(guard);
        drop(connection);
        fail_for_own_bug(&run);
    }

    /// After the end: clears unfinished threads away, and puts back what the run has changed.
    #[inline(always)]
    fn clear_away(&self) {
        let is_unfinished = self.with_engine(|engine, _| engine.has_unfinished_threads());
        let is_unfinished = is_unfinished || self.late_user.get().is_some();
        if is_unfinished || self.pool.data.is_used() || self.pool.flags.heap {
            self.clear_away_slow(is_unfinished);
        }
    }

    #[cold]
    fn clear_away_slow(&self, is_unfinished: bool) {
        let data = self.pool.data.get();
        if !data.panics.is_empty() {
            self.blame_unjoined_panic();
        }
        let leaked = if is_unfinished { self.clear_threads_away() } else { 0 };
        if leaked == 0 {
            if data.thread_states.borrow().iter().any(Option::is_some) {
                self.drop_thread_states();
            }
            if self.pool.flags.heap || !data.owned.borrow().is_empty() {
                self.record_unfreed();
            }
        } else {
            // What is on the stacks may refer to it.
            std::mem::forget(data.thread_states.take());
            self.pool.count_leaked(leaked);
        }
        if self.pool.flags.heap {
            self.record_freed_twice();
        }
        data.saved_statics.restore();
        let names = (data.thread_names.take(), data.object_names.take());
        self.with_engine(|engine, _| engine.record_names(names.0, names.1));
    }

    /// Returns the engine and the choices.
    ///
    /// # Safety
    /// The references are used up before the run is switched away from or called again, so that no two of them overlap.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "several stacks share the run, see `Run`")]
    unsafe fn parts(&self) -> (&mut Engine<M>, &mut Choices<'c>) {
        // SAFETY: this run has the only reference; the caller promises the rest.
        let engine = unsafe { &mut *self.engine.get() };
        // SAFETY: this run has the only reference; the caller promises the rest.
        let choices = unsafe { &mut *self.choices.get() };
        (engine, choices)
    }

    fn with_engine<R>(&self, work: impl FnOnce(&mut Engine<M>, &mut Choices<'c>) -> R) -> R {
        // SAFETY: `work` neither switches nor calls back into the run.
        let (engine, choices) = unsafe { self.parts() };
        work(engine, choices)
    }

    #[inline(always)]
    fn state(&self) -> RunState {
        // SAFETY: the reference is used up at once.
        unsafe { self.parts() }.0.state()
    }

    /// Returns the thread that runs.
    #[inline(always)]
    fn me(&self) -> ThreadId {
        // SAFETY: the reference is used up at once.
        unsafe { self.parts() }.0.running()
    }

    /// Announces an operation of the calling thread, waits for its turn, performs it, and returns its effect.
    #[inline(always)]
    fn step(&self, kind: Kind, op: &Op, site: Site) -> Effect {
        // SAFETY: no other use of the run before the references are used up.
        let (engine, choices) = unsafe { self.parts() };
        let me = engine.running();
        let turn = engine.submit(kind, me, op, site, choices);
        let this = if turn.is_of(me) { self } else { self.wait(me, turn) };
        // SAFETY: no other use of the run before the references are used up.
        let (engine, choices) = unsafe { this.parts() };
        if engine.state().is_over() {
            return this.perform_after_end(op.into_words());
        }
        let effect = match engine.perform(kind, me, op, site, choices) {
            Some(effect) => effect,
            None => this.end_within(me, op.into_words()),
        };
        this.note_steps();
        effect
    }

    /// Performing an operation has ended the run.
    #[cold]
    fn end_within(&self, me: ThreadId, op: [u64; 3]) -> Effect {
        self.leave(me);
        self.perform_after_end(op)
    }

    /// Waits until `me`, the calling thread, has its turn, or the run is over. The turn is that of another thread.
    #[inline(always)]
    fn wait(&self, me: ThreadId, turn: Turn) -> &Self {
        match turn.thread() {
            Some(next) => self.switch_stacks(me, Some(next)),
            None => self.leave(me),
        }
    }

    /// Goes back to the host, and returns when `me` is entered.
    #[cold]
    fn leave(&self, me: ThreadId) -> &Self {
        self.switch_stacks(me, None)
    }

    /// Switches from the coroutine of `me` to that of `to`, or to the host. Returns when `me` is continued.
    #[inline(always)]
    fn switch_stacks(&self, me: ThreadId, to: Option<ThreadId>) -> &Self {
        if std::thread::panicking() {
            return self.switch_stacks_unwinding(me, to);
        }
        let to = to.map(ThreadId::index);
        // SAFETY: `me` runs on its coroutine, `to` has another one, and no reference into the back end exists.
        let run = unsafe { B::switch(self.pool.backend.get(), me.index(), to, self) };
        // SAFETY: every coroutine and the host pass the one run there is.
        unsafe { &*run }
    }

    /// [`switch_stacks`](Run::switch_stacks) for a thread that unwinds: its panics are not those of other threads.
    #[cold]
    fn switch_stacks_unwinding(&self, me: ThreadId, to: Option<ThreadId>) -> &Self {
        let panics = self.take_panics();
        let to = to.map(ThreadId::index);
        // SAFETY: `me` runs on its coroutine, `to` has another one, and no reference into the back end exists.
        unsafe { B::switch(self.pool.backend.get(), me.index(), to, self) };
        self.put_back_panics(panics);
        self
    }

    /// From the host: lets `thread` run until a thread leaves.
    fn enter(&self, thread: ThreadId) {
        // SAFETY: the host is on no coroutine, and no reference into the back end exists.
        unsafe { B::enter(self.pool.backend.get(), thread.index(), self) }
    }

    /// Gives `thread` a coroutine.
    fn assign_stack(&self, thread: ThreadId) {
        // SAFETY: no switch is under way, and the reference ends with the function.
        let backend = unsafe { &mut *self.pool.backend.get() };
        let ended = || self.with_engine(|engine, _| engine.take_ended()).map(ThreadId::index);
        if let Err(error) = backend.assign_stack(thread.index(), ended) {
            self.no_stack(thread, &error);
        }
    }

    #[cold]
    fn no_stack(&self, thread: ThreadId, error: &std::io::Error) -> ! {
        let size = self.pool.options.stack_size;
        panic!(
            "raddle: no stack of {size} bytes for {thread}: {error}. \
             Use fewer threads or a smaller `Config::stack_size`."
        )
    }

    /// The run is over for a thread that spawns: the thread unwinds, or is stuck in a destructor.
    #[cold]
    fn refuse_spawn(&self) -> ! {
        self.perform_after_end(Op::SPAWN.into_words());
        unreachable!("raddle invariant broken: a spawn after the end of its run")
    }

    /// Ends a thread whose run is over. Destructors of other threads may wait for its end.
    #[cold]
    fn exit_after_end(&self, me: ThreadId) -> ExitSwitch {
        self.with_engine(|engine, _| engine.exit_unrecorded(me));
        self.exit_switch(me, Turn::END)
    }

    fn exit_switch(&self, from: ThreadId, turn: Turn) -> ExitSwitch {
        ExitSwitch {
            run: std::ptr::from_ref(self).cast(),
            backend: self.pool.backend.get().cast(),
            from,
            to: turn.thread(),
        }
    }
}

impl<B: Backend, M: Memory> Execution for Run<'_, '_, B, M> {
    fn operate(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        self.step(Kind::Any, &Op::from_words(head, first, second), site)
    }

    fn operate_atomic(&self, head: u64, first: u64, second: u64, site: Site) -> Effect {
        self.step(Kind::Atomic, &Op::from_words(head, first, second), site)
    }

    fn lock(&self, mutex: ObjectId, site: Site) {
        self.step(Kind::Lock, &LOCK.on(mutex), site);
    }

    fn unlock(&self, mutex: ObjectId, site: Site) {
        self.step(Kind::Unlock, &UNLOCK.on(mutex), site);
    }

    fn since_change(&self, head: u64, first: u64, second: u64, site: Site) -> SinceChange {
        let (me, op) = (self.me(), Op::from_words(head, first, second));
        self.with_engine(|engine, _| engine.since_change(me, op, site))
    }

    fn arrive(&self, frame: u64) {
        let me = self.me();
        self.with_engine(|engine, _| engine.arrive(me, frame));
    }

    fn stack_end(&self, pointer: usize) -> Option<usize> {
        // SAFETY: only looks, while no switch is under way.
        unsafe { &*self.pool.backend.get() }.stack_end(pointer)
    }

    fn spawn(&self, body: Arc<dyn Body>, site: Site) -> ThreadId {
        if self.state().is_over() {
            self.refuse_spawn();
        }
        let me = self.me();
        let (child, life) = self.with_engine(|engine, _| engine.declare_child(me, site));
        self.assign_stack(child);
        let op = Op::SPAWN.on(life);
        let turn =
            self.with_engine(|engine, choices| engine.submit(Kind::Any, me, &op, site, choices));
        if !turn.is_of(me) {
            self.wait(me, turn);
        }
        if self.state().is_over() {
            self.refuse_spawn();
        }
        self.with_engine(|engine, _| engine.start(me, life, site));
        self.pool.hand_over(me, child, body);
        // The child runs up to its first announcement.
        self.switch_stacks(me, Some(child));
        if self.state().is_over() {
            self.refuse_spawn();
        }
        self.note_steps();
        child
    }

    fn join(&self, thread: ThreadId, site: Site) {
        let life = self.with_engine(|engine, _| engine.life(thread));
        self.step(Kind::Any, &Op::JOIN.on(life), site);
        if self.me() == ThreadId::MAIN {
            self.joined.set(self.joined.get() + 1);
        }
    }

    fn stop(&self, site: Site) {
        if self.state().is_over() {
            return;
        }
        let me = self.me();
        let turn = self.with_engine(|engine, choices| engine.stop(me, site, choices));
        self.wait(me, turn);
        // The run is over: the thread unwinds, unless it does so already.
        let pause = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield));
        self.perform_after_end(pause.into_words());
    }

    fn run_body(&self) {
        self.note_steps();
        if self.me() == ThreadId::MAIN {
            return (self.program)();
        }
        let body = self.pool.body.take();
        body.expect("raddle invariant broken: a thread without a body").run();
    }

    fn finish(&self, result: BodyResult) -> ExitSwitch {
        let me = self.me();
        if let Err(payload) = result {
            self.finish_panic(me, payload);
        }
        if self.state().is_over() {
            return self.exit_after_end(me);
        }
        let turn = self.with_engine(|engine, choices| engine.submit_exit(me, choices));
        if !turn.is_of(me) {
            self.wait(me, turn);
        }
        if self.state().is_over() {
            return self.exit_after_end(me);
        }
        let turn = self.with_engine(|engine, choices| engine.exit(me, choices));
        self.exit_switch(me, turn)
    }

    fn declare(&self, initial: Initial, address: usize, site: Site) -> ObjectId {
        let me = self.me();
        let object = self.with_engine(|engine, _| engine.declare(me, initial, site));
        if statics::place(address) == Place::Static {
            // A static is at the same address in every run, and no other object is.
            self.with_engine(|engine, _| engine.identify(object, address as u64));
        }
        if self.pool.flags.heap {
            self.record_creation(object, address, site);
        }
        self.note_place(object, address);
        object
    }

    fn describe(&self, object: ObjectId, made: Site) {
        let description = Description { object, made, type_name: port::take_type_name() };
        self.with_engine(|engine, _| engine.describe(description));
    }

    fn note(&self, kind: NoteKind, text: String, site: Site) {
        let me = self.me();
        self.with_engine(|engine, _| engine.note(me, kind, text, site));
    }

    fn ended(&self, object: Option<ObjectId>, address: usize, made: Site) -> bool {
        self.end_object(object, address, made)
    }

    fn ended_at(&self, address: usize) -> Option<Option<ObjectId>> {
        self.pool.ended_at(address)
    }

    fn late_use(&self, object: Option<ObjectId>, address: usize, ends: bool, site: Site) {
        self.fail_by_late_use(object, address, ends, site);
    }

    fn touch(&self, object: ObjectId, writes: bool, site: Site) {
        let me = self.me();
        self.with_engine(|engine, _| engine.touch(me, object, writes, site));
        if self.is_watched(object) {
            self.record_stack(object, Moment::Access, 0);
        }
    }

    fn touched(&self, object: ObjectId) {
        if self.is_watched(object) {
            // The access itself is the last event.
            self.record_stack(object, Moment::Access, 1);
        }
    }

    fn own(&self, object: ObjectId, bytes: usize) {
        self.note_owned(object, bytes);
    }

    fn disown(&self, object: ObjectId) {
        self.note_disowned(object);
    }

    fn is_racy(&self, site: Site) -> bool {
        self.pool.options.racy.contains(&site)
    }

    fn choose_spurious(&self, site: Site) -> bool {
        let me = self.me();
        let data = self.pool.data.get();
        if self.state().is_over() || data.spurious_failures(me) >= self.pool.options.spurious {
            return false;
        }
        let choose =
            Op::new(ObjectId::NONE, Action::Choose { bound: 2, question: Question::Spurious });
        let is_spurious = self.step(Kind::Any, &choose, site) == Effect::Value(1);
        if is_spurious {
            data.count_spurious_failure(me);
        }
        is_spurious
    }

    fn newest(&self, object: ObjectId) -> u64 {
        self.with_engine(|engine, _| engine.newest(object))
    }

    fn life(&self, thread: ThreadId) -> ObjectId {
        self.with_engine(|engine, _| engine.life(thread))
    }

    fn parker(&self, thread: ThreadId, site: Site) -> ObjectId {
        self.with_engine(|engine, _| engine.parker(thread, engine.running(), site))
    }

    fn thread(&self) -> ThreadId {
        self.me()
    }

    fn coming_event(&self) -> EventId {
        self.with_engine(|engine, _| engine.coming_event(engine.running()))
    }

    fn record_announcement(&self, object: ObjectId) {
        self.record_stack(object, Moment::Announcement(self.coming_event().index), 0);
    }

    fn time(&self) -> u64 {
        let me = self.me();
        self.with_engine(|engine, _| engine.read_clock(me))
    }

    fn advance(&self, nanos: u64) {
        self.with_engine(|engine, _| engine.advance(engine.running(), nanos));
    }

    fn thread_state(&self) -> Option<Rc<dyn Any>> {
        let data = &self.pool.data;
        if data.is_used() { data.look().thread_state(self.me()) } else { None }
    }

    fn set_thread_state(&self, state: Option<Rc<dyn Any>>) {
        self.pool.data.get().set_thread_state(self.me(), state);
    }

    fn name_thread(&self, name: &str) {
        self.pool.data.get().name_thread(self.me(), name);
    }

    fn name_object(&self, object: ObjectId, name: &str) {
        self.pool.data.get().name_object(object, name);
    }

    fn panicked(&self) -> ThreadId {
        // The records of panics are cleared before the next run.
        self.pool.data.get();
        self.me()
    }

    fn is_over(&self) -> bool {
        self.state().is_over()
    }

    fn has_no_state(&self) -> bool {
        !self.pool.data.is_used() && !self.state().is_over()
    }

    fn stay_stuck(&self) -> ! {
        Run::stay_stuck(self)
    }

    fn take_panic(&self, thread: ThreadId) -> Option<Box<dyn Any + Send>> {
        self.pool.data.look().panics.take(thread)
    }

    fn allocated(&self, address: usize, size: usize) {
        self.pool.data.get().heap.allocated(self.me(), address, size);
    }

    fn freed(&self, address: usize, layout: Layout) -> bool {
        self.note_free(address, layout);
        self.pool.data.get().heap.freed(self.me(), address, layout)
    }

    unsafe fn restore_after_run(&self, place: *mut u8, size: usize) {
        // SAFETY: promised by the caller.
        unsafe { self.pool.data.get().saved_statics.save(place, size) }
    }

    fn is_stack_guard(&self, address: usize) -> bool {
        // SAFETY: only looks, on behalf of the program under test, while no switch is under way.
        unsafe { &*self.pool.backend.get() }.is_stack_guard(address)
    }

    fn check(&self) -> (&str, &Rerun) {
        (&self.pool.name, &self.pool.options.rerun)
    }

    fn token(&self) -> String {
        let of = |run: &Trace| Token::new(&self.pool.name, &run.threads, run.schedule());
        self.with_engine(|engine, _| of(engine.whole_trace())).to_string()
    }

    fn steps(&self) -> usize {
        self.with_engine(|engine, _| engine.trace().events.len())
    }

    fn last_site(&self) -> Option<Site> {
        let me = self.me();
        self.with_engine(|engine, _| {
            let mut events = engine.trace().events.iter().rev();
            events.find(|event| event.id.thread == me).map(|event| event.site)
        })
    }
}
