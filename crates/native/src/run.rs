//! One run of the program: its threads, its objects, and the engine that decides whose turn it is.
//!
//! Hooks of the program's threads call [`act`] and its relatives. All state is in the arena, so that it is there after
//! a forked run.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::ptr::{self, NonNull};

use raddle_core::{MemoryModel, ObjectId, Op, Panic, Site, ThreadId};
use raddle_engine::{Initial, Turn};

use crate::alarms::Clock;
use crate::coroutines::{self, Context};
use crate::descriptors::Waiter;
use crate::drive::Drive;
use crate::frames::Frames;
use crate::heap::Heap;
use crate::layout::Layout;
use crate::modules::Modules;
use crate::one_thread::OneThread;
use crate::outside::Outside;
use crate::posix::heap::Freed;
use crate::races::Races;
use crate::stacks::Stacks;
use crate::threads::Thread;
use crate::variables::{Use, Variables};
use crate::{dispatch, system};

/// A lock that a thread holds.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Held {
    pub(crate) address: usize,
    pub(crate) by: ThreadId,
    pub(crate) times: u32,
}

/// How a run that its engine did not end came to its end. Written by the run, read by the host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Nothing is wrong outside the engine.
    Fine,
    /// A thread of the program crashed or hung.
    Crash(Crash),
    /// The program did what raddle does not model.
    Refused(String),
    /// The program did what a run in the host's process must not do.
    NeedsFork,
    /// The program has more threads than were borrowed before the snapshot.
    NeedsThreads,
    /// Accesses of different sizes overlap, so that this and earlier runs took one object for several.
    NeedsLayout,
}

/// A signal that ends the program.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Crash {
    pub(crate) signal: i32,
    /// The address that could not be accessed.
    pub(crate) address: usize,
    /// The instruction.
    pub(crate) place: usize,
}

/// The state of the run under way.
pub(crate) struct State {
    pub(crate) current: Cell<ThreadId>,
    /// Whether a thread of the program runs under control.
    pub(crate) is_running: Cell<bool>,
    /// Whether raddle's own code runs, and not the program's.
    pub(crate) in_engine: Cell<bool>,
    pub(crate) engine: Cell<Option<NonNull<dyn Drive>>>,
    /// By [`ThreadId`].
    pub(crate) threads: RefCell<Vec<Thread>>,
    pub(crate) variables: RefCell<Variables>,
    /// Held locks: which thread holds them and how often is known here, whether they are held by the engine. A thread may
    /// only ask for locks that it holds itself.
    pub(crate) locks: RefCell<Vec<Held>>,
    /// How often threads hold reader-writer locks to read, by address and thread.
    pub(crate) readers: RefCell<BTreeMap<(usize, ThreadId), u32>>,
    pub(crate) outcome: RefCell<Outcome>,
    /// The code with which the program ended.
    pub(crate) code: Cell<i32>,
    /// Whether main has returned and waits for the end of the run.
    pub(crate) main_has_ended: Cell<bool>,
    /// The number of operations, for the watchdog.
    pub(crate) steps: Cell<u64>,
    /// The most threads that a run had, main excluded.
    pub(crate) most_threads: Cell<usize>,
    /// The bytes that the program occupies, as first and last address: its image.
    pub(crate) image: Cell<(usize, usize)>,
    /// Where the host continues after a run in this process.
    pub(crate) host: Cell<Context>,
    pub(crate) stacks: Stacks,
    pub(crate) clock: Clock,
    pub(crate) frames: Frames,
    pub(crate) outside: Outside,
    /// The threads that wait for file descriptors.
    pub(crate) waiters: RefCell<Vec<Waiter>>,
    /// Where the test harness continues after the run of a test, if runs begin with the first thread.
    pub(crate) harness: Cell<Context>,
    /// Whether a run ends with its process, which is a child of the host.
    pub(crate) ends_with_process: Cell<bool>,
    /// Whether the process is for one run only, which a debugger shows.
    pub(crate) is_debugged: Cell<bool>,
    pub(crate) plain: Cell<Plain>,
    /// The places whose plain accesses are scheduling points, in order, if not all are.
    pub(crate) racy: RefCell<Vec<usize>>,
    /// Whether data races are looked for.
    pub(crate) finds_races: Cell<bool>,
    /// Whether the run is led to its end. Races are not looked for then, which takes most of the time.
    pub(crate) is_led: Cell<bool>,
    pub(crate) races: RefCell<Races>,
    pub(crate) heap: RefCell<Heap>,
    /// The freed blocks that are not of this heap.
    pub(crate) freed: RefCell<Freed>,
    /// Whether memory that is never freed is looked for.
    pub(crate) finds_leaks: Cell<bool>,
    /// What this run leaked, in words.
    pub(crate) leak: RefCell<Option<String>>,
    /// Whether this run has raced.
    pub(crate) has_raced: Cell<bool>,
    /// What is known of the layout of memory, for all runs.
    pub(crate) layout: RefCell<Layout>,
    pub(crate) memory: Cell<MemoryModel>,
    /// Whether the strategy plans runs by the values of variables.
    pub(crate) plans_by_values: Cell<bool>,
    /// The system call that the kernel makes now, plus one, or zero.
    pub(crate) in_kernel: Cell<i64>,
    pub(crate) seed: Cell<u64>,
    /// The number of random bytes that this run has drawn.
    pub(crate) drawn: Cell<u64>,
    /// Whether a run has read standard input.
    pub(crate) reads_input: Cell<bool>,
    pub(crate) modules: RefCell<Modules>,
    /// A library that waits by futexes and is not instrumented. What its threads synchronise by is not known.
    pub(crate) foreign: RefCell<Option<String>>,
    /// The files that runs have changed.
    pub(crate) changed_files: RefCell<BTreeSet<String>>,
}

/// Which plain accesses are scheduling points.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Plain {
    None,
    Racy,
    All,
}

static STATE: OneThread<Cell<*const State>> = OneThread::new(Cell::new(ptr::null()));

/// Makes the state. Called once, when the check begins.
pub(crate) fn set_up() {
    let state = State {
        current: Cell::new(ThreadId::MAIN),
        is_running: Cell::new(false),
        in_engine: Cell::new(false),
        engine: Cell::new(None),
        threads: RefCell::default(),
        variables: RefCell::default(),
        locks: RefCell::default(),
        readers: RefCell::default(),
        outcome: RefCell::new(Outcome::Fine),
        code: Cell::new(0),
        main_has_ended: Cell::new(false),
        steps: Cell::new(0),
        most_threads: Cell::new(4),
        image: Cell::new((0, 0)),
        host: Cell::new(Context::NONE),
        stacks: Stacks::default(),
        clock: Clock::default(),
        frames: Frames::default(),
        outside: Outside::default(),
        waiters: RefCell::default(),
        harness: Cell::new(Context::NONE),
        ends_with_process: Cell::new(false),
        is_debugged: Cell::new(false),
        plain: Cell::new(Plain::None),
        racy: RefCell::default(),
        finds_races: Cell::new(false),
        is_led: Cell::new(false),
        races: RefCell::default(),
        heap: RefCell::default(),
        freed: RefCell::default(),
        finds_leaks: Cell::new(false),
        leak: RefCell::default(),
        has_raced: Cell::new(false),
        layout: RefCell::default(),
        memory: Cell::new(MemoryModel::Sc),
        plans_by_values: Cell::new(false),
        in_kernel: Cell::new(0),
        seed: Cell::new(0),
        drawn: Cell::new(0),
        reads_input: Cell::new(false),
        modules: RefCell::default(),
        foreign: RefCell::default(),
        changed_files: RefCell::default(),
    };
    STATE.set(Box::into_raw(Box::new(state)));
}

/// Returns the state. Returns `None` if there is no check.
pub(crate) fn state_if_any() -> Option<&'static State> {
    // SAFETY: the state is never dropped.
    unsafe { STATE.get().as_ref() }
}

/// Returns the state of a check.
pub(crate) fn state() -> &'static State {
    state_if_any().expect("raddle invariant broken: a run without a check")
}

/// Returns whether the calling code is a thread of the program under raddle's control.
#[inline]
pub(crate) fn is_controlled() -> bool {
    let Some(state) = state_if_any() else { return false };
    if !state.is_running.get() || state.in_engine.get() {
        return false;
    }
    let threads = state.threads.borrow();
    threads[state.current.get().index()].context.local == system::thread_pointer()
}

impl State {
    /// Prepares for a run of `main`.
    pub(crate) fn begin(&self, main: Context) {
        self.current.set(ThreadId::MAIN);
        let mut threads = self.threads.borrow_mut();
        threads.clear();
        threads.push(Thread { context: main, ..Thread::NONE });
        self.variables.borrow_mut().clear();
        self.locks.borrow_mut().clear();
        self.readers.borrow_mut().clear();
        *self.outcome.borrow_mut() = Outcome::Fine;
        self.code.set(0);
        self.drawn.set(0);
        self.in_kernel.set(0);
        self.main_has_ended.set(false);
        self.clock.begin(self.steps.get());
        self.waiters.borrow_mut().clear();
        self.outside.begin();
        self.in_engine.set(false);
        self.has_raced.set(false);
        self.is_led.set(false);
        *self.leak.borrow_mut() = None;
        self.races.borrow_mut().clear();
        self.heap.borrow_mut().clear(self.ends_with_process.get());
        self.freed.borrow_mut().clear();
        coroutines::begin_run(self.most_threads.get());
    }

    /// Returns the thread that runs.
    pub(crate) fn me(&self) -> ThreadId {
        self.current.get()
    }

    /// Returns whether raddle's own code works for the run, so that the run cannot be ended from outside.
    pub(crate) fn is_inside(&self) -> bool {
        self.in_engine.get()
            || self.threads.try_borrow_mut().is_err()
            || self.variables.try_borrow_mut().is_err()
            || self.locks.try_borrow_mut().is_err()
            || self.readers.try_borrow_mut().is_err()
            || self.races.try_borrow_mut().is_err()
            || self.heap.try_borrow_mut().is_err()
            || self.freed.try_borrow_mut().is_err()
            || self.layout.try_borrow_mut().is_err()
    }

    /// Calls the engine.
    pub(crate) fn with_engine<R>(&self, call: impl FnOnce(&mut dyn Drive) -> R) -> R {
        let mut engine = self.engine.get().expect("raddle invariant broken: no engine");
        self.in_engine.set(true);
        // SAFETY: the engine lives until the run is over, and calls of it do not nest.
        let result = call(unsafe { engine.as_mut() });
        self.in_engine.set(false);
        result
    }

    /// Calls a function of raddle's that uses libc, on a stack of the program.
    pub(crate) fn as_host<R>(&self, call: impl FnOnce() -> R) -> R {
        // SAFETY: returns the place of the calling thread's error number.
        let error = unsafe { libc::__errno_location() };
        // SAFETY: as above.
        let before = unsafe { error.read() };
        self.in_engine.set(true);
        let result = dispatch::pause(call);
        self.in_engine.set(false);
        // SAFETY: as above.
        unsafe { error.write(before) };
        result
    }

    /// Returns the object at `address`, which is declared if this run has not used it.
    pub(crate) fn object(
        &self,
        address: usize,
        used_as: Use,
        initial: impl FnOnce() -> Initial,
        site: Site,
    ) -> ObjectId {
        if let Some((object, _)) = self.variables.borrow().get(address, used_as) {
            return object;
        }
        self.declare(address, used_as, initial(), site)
    }

    /// Declares the object at `address`.
    pub(crate) fn declare(
        &self,
        address: usize,
        used_as: Use,
        initial: Initial,
        site: Site,
    ) -> ObjectId {
        self.declare_as(address, used_as, address, initial, 0, site)
    }

    /// Declares an object that is known by `key`. The address identifies it if it is in the program's image.
    pub(crate) fn declare_as(
        &self,
        key: usize,
        used_as: Use,
        address: usize,
        initial: Initial,
        tag: u8,
        site: Site,
    ) -> ObjectId {
        let (first, last) = self.image.get();
        let is_static = (first..=last).contains(&address);
        let identity = if is_static { ((address - first) as u64) << 8 | used_as as u64 } else { 0 };
        let me = self.me();
        let object = self.with_engine(|engine| engine.declare(me, initial, identity, site));
        self.variables.borrow_mut().set(key, used_as, object, tag);
        object
    }

    /// Ends the check if its strategy needs to know the values of variables, which this program hides from it.
    pub(crate) fn needs_no_values(&self) {
        if self.plans_by_values.get() {
            refuse(
                "the strategies `mcr` and `pcr` plan by the values of variables, and the program writes a variable by \
                 other means than atomic operations of one size; use another strategy, such as `dpor`",
            );
        }
    }

    /// Waits until the calling thread has its turn.
    pub(crate) fn wait(&self, turn: Turn) {
        if turn.is_of(self.me()) {
            return;
        }
        match turn.thread() {
            Some(next) => self.switch(next),
            None => self.end(),
        }
    }

    /// Continues `next`, and returns when the calling thread is continued.
    fn switch(&self, next: ThreadId) {
        let me = self.me();
        self.current.set(next);
        let (from, to) = {
            let mut threads = self.threads.borrow_mut();
            let to = threads[next.index()].context;
            (&raw mut threads[me.index()].context.stack, to)
        };
        // The vector may move while this thread waits, but not before the pointer is used.
        // SAFETY: `next` waits in a switch or has not begun.
        unsafe { coroutines::switch(from, to.stack, to.local) };
    }

    /// Continues `next` and leaves the calling thread forever.
    fn leave_for(&self, next: Context) -> ! {
        let mut unused = 0;
        // SAFETY: `next` waits in a switch.
        unsafe { coroutines::switch(&mut unused, next.stack, next.local) };
        unreachable!("raddle invariant broken: a thread that has ended was continued")
    }

    /// Spawns a thread, and lets it run up to its first announcement. `handle` is called with the handle of the new
    /// thread before it runs.
    pub(crate) fn spawn(
        &self,
        (start, argument): (usize, usize),
        is_detached: bool,
        site: Site,
        handle: impl Fn(usize),
    ) {
        let me = self.me();
        if coroutines::is_full() {
            let most = coroutines::MAX_THREADS;
            refuse(&format!("the program has more than {most} threads at once"));
        }
        let (child, life) = self.with_engine(|engine| engine.declare_child(me, site));
        let turn = self.with_engine(|engine| engine.submit(me, Op::SPAWN.on(life), site));
        self.wait(turn);
        if !self.ends_with_process.get() && coroutines::is_used_up() {
            // A new OS thread would not be in the snapshot.
            self.most_threads.set(coroutines::used() * 2);
            *self.outcome.borrow_mut() = Outcome::NeedsThreads;
            self.end_process(0);
        }
        if let [main] = &mut self.threads.borrow_mut()[..] {
            main.signals = main.signals.of_creator();
        }
        let borrowed = coroutines::take();
        if borrowed.is_reused {
            // What the earlier thread did on its stack has nothing to do with what the new one does there.
            let first = borrowed.end() - borrowed.bytes;
            self.races.borrow_mut().forget(first, borrowed.bytes);
            self.variables.borrow_mut().forget_all(first, borrowed.end());
        }
        self.most_threads.set(self.most_threads.get().max(coroutines::used()));
        let thread = Thread {
            context: borrowed.context,
            handle: borrowed.handle,
            start,
            argument,
            is_gone: is_detached,
            signals: self.threads.borrow()[me.index()].signals.of_child(),
            slot: borrowed.slot,
            ..Thread::NONE
        };
        {
            let mut threads = self.threads.borrow_mut();
            if threads.len() <= child.index() {
                threads.resize(child.index() + 1, Thread::NONE);
            }
            threads[child.index()] = thread;
        }
        handle(borrowed.handle);
        self.steps.set(self.steps.get() + 1);
        self.with_engine(|engine| engine.start(me, life, site));
        self.switch(child);
    }

    /// Ends the calling thread. It is main only if that is the thread of a test.
    pub(crate) fn finish_thread(&self) -> ! {
        let me = self.me();
        if me == ThreadId::MAIN {
            self.finish_main();
            self.leave_for(self.harness.get());
        }
        let turn = self.with_engine(|engine| engine.submit_exit(me));
        self.wait(turn);
        let turn = self.with_engine(|engine| engine.exit(me));
        let Some(next) = turn.thread() else { self.end() };
        self.current.set(next);
        let to = {
            let mut threads = self.threads.borrow_mut();
            threads[me.index()].has_ended = true;
            if threads[me.index()].is_gone {
                // No other thread runs before this one has left its stack.
                coroutines::give_back(threads[me.index()].slot);
            }
            threads[next.index()].context
        };
        self.leave_for(to)
    }

    /// A thread was joined or detached.
    pub(crate) fn forget_handle(&self, thread: ThreadId) {
        let forgotten = &mut self.threads.borrow_mut()[thread.index()];
        forgotten.is_gone = true;
        if forgotten.has_ended {
            coroutines::give_back(forgotten.slot);
        }
    }

    /// Ends main, and waits until the run is over. Then the program's exit handlers can run.
    pub(crate) fn finish_main(&self) {
        let turn = self.with_engine(|engine| engine.submit_exit(ThreadId::MAIN));
        self.wait(turn);
        let turn = self.with_engine(|engine| engine.exit(ThreadId::MAIN));
        self.main_has_ended.set(true);
        if let Some(next) = turn.thread() {
            self.switch(next);
        }
        self.is_running.set(false);
    }

    /// Ends the run with a failure of the calling thread.
    pub(crate) fn fail(&self, message: String, place: Option<String>) -> ! {
        let thread = self.me();
        let panic = Panic { thread, message, place, backtrace: None };
        __raddle_failure();
        self.with_engine(|engine| engine.fail(panic));
        self.end()
    }

    /// The run is over for all threads. If it ended well, main runs the exit handlers.
    pub(crate) fn end(&self) -> ! {
        let has_finished = self.with_engine(|engine| engine.has_finished());
        if self.main_has_ended.get() && has_finished {
            self.current.set(ThreadId::MAIN);
            let main = self.threads.borrow()[0].context;
            self.leave_for(main)
        }
        __raddle_failure();
        self.end_process(0)
    }

    /// Ends the run if its process has to make others: the program changes what the kernel knows of the process.
    pub(crate) fn need_fork(&self) {
        if !self.ends_with_process.get() && !self.is_debugged.get() {
            *self.outcome.borrow_mut() = Outcome::NeedsFork;
            self.end_process(0);
        }
    }

    /// Leaves the program: the run is over and so are its exit handlers.
    pub(crate) fn end_process(&self, code: i32) -> ! {
        self.is_running.set(false);
        dispatch::set(false);
        if self.ends_with_process.get() {
            system::exit(code);
        }
        self.code.set(code);
        self.leave_for(self.host.get())
    }
}

/// Called on the stack of a thread when its run fails, and when it ends early. A debugger can stop here.
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn __raddle_failure() {
    std::hint::black_box(());
}

/// Runs the body of a thread of the program, on its stack. Returns its result to libc, which runs the destructors of
/// thread-local storage; the last of them ends the thread.
pub(crate) fn serve_thread() -> *mut c_void {
    let state = state();
    let me = state.me();
    crate::posix::thread::arm_end();
    state.prepare_stack();
    let thread = state.threads.borrow()[me.index()];
    // SAFETY: the program passed this function to `pthread_create`.
    let start = unsafe {
        std::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void) -> *mut c_void>(thread.start)
    };
    // SAFETY: as `pthread_create` does.
    let result = unsafe { start(ptr::with_exposed_provenance_mut(thread.argument)) };
    state.threads.borrow_mut()[me.index()].result = result.expose_provenance();
    result
}

/// The program does what raddle does not model. Ends the run, or the process if there is none.
pub(crate) fn refuse(what: &str) -> ! {
    match state_if_any() {
        Some(state) if state.is_running.get() => {
            *state.outcome.borrow_mut() = Outcome::Refused(what.to_owned());
            state.end_process(0)
        }
        Some(_) | None => {
            system::write(2, format!("raddle: {what}\n").as_bytes());
            system::exit(2)
        }
    }
}

/// Returns the site of the instruction before a return address.
#[inline(always)]
pub(crate) fn site(pc: usize) -> Site {
    match state_if_any() {
        Some(state) => state.stacks.site(pc),
        None => Site::at_address(pc),
    }
}
