//! One execution: which thread is about to do what, whose turn it is, what has happened.
//!
//! Invariant: every live thread but the running one has announced its next operation before a choice is made. A new
//! thread therefore runs up to its first announcement before its creator continues.
//!
//! One step is [`submit`](Engine::submit) (announce, then choose) and, when the thread has its turn,
//! [`perform`](Engine::perform).

use alloc::boxed::Box;
use alloc::vec::Vec;

use raddle_core::fingerprint::{History, Name};
use raddle_core::{
    Action, Choices, Ending, EventId, Needs, ObjectId, ObjectInfo, ObjectKind, Op, PauseOp,
    Pending, Rng, Schedule, Site, Special, ThreadId, ThreadInfo, Trace,
};

use crate::causality::Clock;
use crate::object::Object;
use crate::objects::Life;
use crate::time_limit::TimeChecks;
use crate::{Kind, Memory, ThreadIds};

mod alarms;
mod choose;
mod clock;
mod cycle;
mod declare;
mod enabled;
mod ending;
mod idle;
mod known_loops;
mod perform;
mod reuse;
mod rounds;
mod special;
mod state;
mod stop;
mod table;
mod tail;
mod threads;
mod time;
mod waiters;

use alarms::Alarm;
use clock::ClockReads;
use enabled::Enabled;
pub use idle::Frames;
use idle::Idle;
pub use known_loops::{KnownLoop, LoopNature, Round};
pub use rounds::SinceChange;
pub use state::RunState;
use table::Table;
use tail::Tail;
use waiters::{Link, NO_WAITER};

/// Whose turn it is, if the run is not over.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Turn(u32);

impl Turn {
    /// The run is over. No thread has this number.
    pub const END: Turn = Turn(u32::MAX);

    /// `thread` performs the operation it has announced.
    #[inline(always)]
    pub fn of(thread: ThreadId) -> Turn {
        Turn(thread.0)
    }

    /// Returns whether it is the turn of `thread`.
    #[inline(always)]
    pub fn is_of(self, thread: ThreadId) -> bool {
        self.0 == thread.0
    }

    /// Returns the thread whose turn it is, or `None` if the run is over.
    #[inline(always)]
    pub fn thread(self) -> Option<ThreadId> {
        if self.0 == Turn::END.0 { None } else { Some(ThreadId(self.0)) }
    }
}

/// The state of one execution. Its memory is reused for the next one.
#[derive(Debug)]
pub struct Engine<M: Memory> {
    memory: M,
    thread_ids: ThreadIds,
    max_steps: usize,
    time_checks: TimeChecks,
    state: RunState,
    /// The choices to follow before [`Choices`] are asked.
    prefix: Schedule,
    /// The number of choices of the prefix that have been followed.
    followed: usize,
    needs: Needs,
    /// Makes the choices, if they are uniform draws.
    rng: Rng,
    /// Whether the choices after the prefix are uniform draws.
    is_uniform: bool,
    /// The number of events below which a step takes the fast path: the step limit, or zero unless the state is `Running`
    /// and the next choice is a uniform draw. See [`Engine::set_fast_path`].
    fast_below: usize,
    /// The number of events below which a chooser is asked which thread is next: the step limit, or zero in the tail of
    /// a run that was given up.
    asks_below: usize,
    /// The number of steps that the running thread may make without a question. Zero unless the state is `Running`.
    lease: u32,
    /// The thread that runs: the one that has the turn, or that starts.
    running: ThreadId,
    /// In `Starting`: the thread that continues once the starting thread has announced its first operation.
    creator: ThreadId,
    /// The number of threads that are known from this check's runs. Those from there on in tables mean nothing.
    thread_count: usize,
    /// By [`ThreadId`].
    threads: Table<Thread>,
    /// By [`ThreadId`].
    pending: Table<Pending>,
    enabled: Enabled,
    /// By [`ThreadId`], shifted by one: see [`NO_WAITER`].
    links: Table<Link>,
    /// The threads whose pending operation or enabledness changed since the last thread point, if [`Needs::changes`].
    changed: Vec<ThreadId>,
    /// By [`ObjectId`]; those from `trace.objects.len()` on are left over from earlier runs.
    objects: Table<Slot<M::Location>>,
    /// The objects that changed during the lease under way, and whose waiters have not been updated.
    stale: Vec<ObjectId>,
    trace: Trace,
    /// Memory for another trace.
    spare: Trace,
    /// Threads that have ended and whose stacks the substrate has not taken back.
    ended: Vec<ThreadId>,
    alive: u32,
    max_alive: u32,
    /// Whether virtual time has moved for any thread.
    uses_time: bool,
    /// Whether the run has declared a reader-writer lock.
    has_rwlocks: bool,
    /// The object whose stacks are asked for, or none.
    watched: ObjectId,
    /// The options of the source point under way.
    sources: Vec<EventId>,
    tail: Tail,
    /// Waits that end at a time.
    alarms: Vec<Alarm>,
    /// What the runs do besides what every run does.
    special: Option<Box<Special>>,
    idle: Idle,
    clock_reads: ClockReads,
}

#[derive(Clone, Debug)]
struct Thread {
    info: ThreadInfo,
    life: ObjectId,
    parker: ObjectId,
    /// The id of its next event.
    next: EventId,
    /// The fingerprint's name of its next event.
    name: Name,
    /// The fingerprint's name of its first event; the same in every run.
    first_name: Name,
    children: u32,
    /// Virtual time in nanoseconds.
    time: u64,
}

#[derive(Clone, Debug)]
struct Slot<L> {
    object: Object,
    /// The first thread whose pending operation this object may disable, as in a [`Link`].
    first_waiter: u32,
    history: History,
    /// Whether it is in `stale`.
    is_stale: bool,
    /// Virtual time of its last Update in nanoseconds.
    time: u64,
    /// The latest virtual time of its Shares in nanoseconds.
    shared_time: u64,
    /// What the memory model keeps of a variable.
    location: L,
}

impl<M: Memory> Engine<M> {
    /// Makes an engine that ends a run as [`Ending::StepLimit`] after `max_steps` events.
    pub fn new(memory: M, thread_ids: ThreadIds, max_steps: usize) -> Engine<M> {
        Engine {
            memory,
            thread_ids,
            max_steps,
            time_checks: TimeChecks::NONE,
            state: RunState::Idle,
            prefix: Schedule::new(),
            followed: 0,
            needs: Needs::default(),
            rng: Rng::new(0),
            is_uniform: false,
            fast_below: 0,
            asks_below: 0,
            lease: 0,
            running: ThreadId::MAIN,
            creator: ThreadId::MAIN,
            thread_count: 0,
            threads: Table::default(),
            pending: Table::default(),
            enabled: Enabled::default(),
            links: Table::default(),
            changed: Vec::new(),
            objects: Table::default(),
            stale: Vec::new(),
            trace: Trace::default(),
            spare: Trace::default(),
            ended: Vec::new(),
            alive: 0,
            max_alive: 0,
            uses_time: false,
            has_rwlocks: false,
            watched: ObjectId::NONE,
            sources: Vec::new(),
            tail: Tail::default(),
            alarms: Vec::new(),
            special: None,
            idle: Idle::default(),
            clock_reads: ClockReads::default(),
        }
    }

    /// The choices that the next run follows before its [`Choices`] are asked.
    pub fn prefix_mut(&mut self) -> &mut Schedule {
        &mut self.prefix
    }

    /// The trace of the run under way, or of the last one. If the chooser gave that up, the trace ends there; see
    /// [`Engine::given_up`].
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The trace, without the engine.
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    /// The largest number of threads that were alive at once in this run.
    pub fn max_alive(&self) -> u32 {
        self.max_alive
    }

    /// The state of the run.
    #[inline(always)]
    pub fn state(&self) -> RunState {
        self.state
    }

    /// Moves the run to another state. For substrates: clearing away after the end.
    #[inline(always)]
    pub fn enter(&mut self, next: RunState) {
        debug_assert!(
            self.state.may_become(next),
            "raddle invariant broken: {:?} → {next:?}",
            self.state
        );
        self.state = next;
        self.set_fast_path();
    }

    /// Begins a run; main is about to start. `choices` must be the same for all calls until the run ends.
    #[inline]
    pub fn begin(&mut self, choices: &Choices<'_>) {
        if self.objects.is_empty() {
            self.add_main();
        }
        self.trace.clear();
        // Main is the first thread of every run, and its life the first object.
        self.trace.threads.truncate(1);
        self.trace.objects.truncate(1);
        self.memory.reset();
        self.followed = 0;
        self.asks_below = self.max_steps.min(self.time_checks.interval);
        self.forget_tail();
        self.idle.begin();
        self.clock_reads.begin();
        (self.needs, self.is_uniform) = match choices {
            Choices::Uniform(rng) => {
                self.rng = rng.clone();
                (Needs::default(), true)
            }
            Choices::Chooser(chooser) => (chooser.needs(), false),
        };
        self.enter(RunState::Running);
        self.changed.clear();
        self.ended.clear();
        self.alarms.clear();
        self.objects[0].renew();
        self.objects[0].object.set_life(Life::Running);
        self.threads[0].begin(ObjectId(0), 0);
        self.enabled.clear();
        self.enable(ThreadId::MAIN);
        self.running = ThreadId::MAIN;
        self.lease = 0;
        self.stale.clear();
        self.alive = 1;
        self.max_alive = 1;
        self.uses_time = false;
        self.has_rwlocks = false;
    }

    #[cold]
    fn add_main(&mut self) {
        self.add_object(ObjectInfo {
            kind: ObjectKind::Thread(ThreadId::MAIN),
            initial: 0,
            identity: 0,
            name: EventId { thread: ThreadId::MAIN, index: 0 },
            site: Site::UNKNOWN,
        });
        self.make_room_for(ThreadId::MAIN);
        self.trace.threads.push(self.threads[0].info);
    }

    /// The newest value of an atomic variable.
    pub fn newest(&self, object: ObjectId) -> u64 {
        self.memory.newest(&self.objects[object.index()].location)
    }

    /// Sets the value of an atomic variable that was written by other means than an operation. The stores before that
    /// can no longer be read.
    #[cold]
    pub fn overwrite(&mut self, object: ObjectId, value: u64) {
        self.note_overwritten(object, value);
        self.memory.declare(&mut self.objects[object.index()].location, value);
    }

    /// Returns what happens before the next event of a thread, if the memory model knows.
    pub fn clock(&self, thread: ThreadId) -> Option<&Clock> {
        self.memory.clock(thread)
    }

    /// The virtual time of `thread` in nanoseconds.
    pub fn time(&self, thread: ThreadId) -> u64 {
        self.threads[thread.index()].time
    }

    /// Lets virtual time pass for `thread`, a wait of which has timed out.
    #[cold]
    pub fn advance(&mut self, thread: ThreadId, nanos: u64) {
        self.uses_time = true;
        let time = &mut self.threads[thread.index()].time;
        *time = time.saturating_add(nanos);
    }

    /// Returns the thread that runs.
    #[inline(always)]
    pub fn running(&self) -> ThreadId {
        self.running
    }

    /// Lets `thread`, which has not ended, run after the end of the run. For substrates that unwind threads.
    #[cold]
    pub fn run_after_end(&mut self, thread: ThreadId) {
        self.running = thread;
    }

    /// Decides whether the next step takes the fast path, when the state changes or the prefix has been followed.
    #[inline(always)]
    fn set_fast_path(&mut self) {
        let is_fast = matches!(self.state, RunState::Running)
            && self.is_uniform
            && self.followed >= self.prefix.len()
            && !self.idle.is_on();
        self.fast_below = if is_fast { self.asks_below } else { 0 };
    }

    /// Announces the next operation of `by`, which runs, and returns the turn that follows. The thread that has the turn
    /// [performs](Engine::perform) the operation it announced.
    ///
    /// A thread's first announcement gives the turn back to its creator, which has performed the spawn already. After the
    /// end of the run nothing is announced, and `by` has the turn.
    #[inline(always)]
    pub fn submit(
        &mut self,
        kind: Kind,
        by: ThreadId,
        op: &Op,
        site: Site,
        choices: &mut Choices<'_>,
    ) -> Turn {
        if self.trace.events.len() < self.fast_below {
            self.announce(kind, by, op, site);
            return self.draw_turn(choices);
        }
        if self.is_leased(kind, by, op) {
            // No chooser looks at its announcement.
            self.lease -= 1;
            return Turn::of(by);
        }
        self.submit_slow(by, op.into_words(), site, choices)
    }

    /// Announces an operation where a uniform draw is not all that follows.
    #[inline(never)]
    fn submit_slow(
        &mut self,
        by: ThreadId,
        [head, first, second]: [u64; 3],
        site: Site,
        choices: &mut Choices<'_>,
    ) -> Turn {
        if self.state.is_over() {
            return Turn::of(by);
        }
        let op = Op::from_words(head, first, second);
        self.announce(Kind::Any, by, &op, site);
        if self.needs.changes {
            self.note_change(by);
        }
        if self.state == RunState::Starting {
            return self.back_to_creator();
        }
        self.next_turn_slow(choices)
    }

    /// Announces the next operation of `by`.
    #[inline(always)]
    fn announce(&mut self, kind: Kind, by: ThreadId, op: &Op, site: Site) {
        let pending = &mut self.pending[by.index()];
        // The running thread counts as enabled until it announces an operation that has to wait.
        debug_assert!(pending.enabled);
        pending.op = *op;
        pending.site = site;
        if kind.may_block(op) {
            self.enqueue_waiter(kind, by, op);
        }
    }

    /// Gives the turn back to the creator of a thread that has started.
    fn back_to_creator(&mut self) -> Turn {
        self.enter(RunState::Running);
        self.running = self.creator;
        Turn::of(self.creator)
    }

    fn next_event(&self, thread: ThreadId) -> EventId {
        let known = &self.threads[..self.thread_count];
        known.get(thread.index()).map_or(EventId { thread, index: 0 }, |known| known.next)
    }
}

impl<L: Default> Default for Slot<L> {
    fn default() -> Slot<L> {
        Slot {
            object: Object::Variable,
            first_waiter: NO_WAITER,
            history: History::default(),
            is_stale: false,
            time: 0,
            shared_time: 0,
            location: L::default(),
        }
    }
}

impl<L> Slot<L> {
    /// Makes the slot ready for another object.
    #[inline(always)]
    fn renew(&mut self) {
        self.first_waiter = NO_WAITER;
        self.history = History::default();
        self.is_stale = false;
        self.time = 0;
        self.shared_time = 0;
    }
}

impl Thread {
    /// Prepares the thread for its first event in a run.
    #[inline(always)]
    fn begin(&mut self, life: ObjectId, time: u64) {
        self.life = life;
        self.parker = ObjectId::NONE;
        self.next.index = 0;
        self.children = 0;
        self.name = self.first_name;
        self.time = time;
    }

    /// A thread that has not started.
    fn absent(info: ThreadInfo, first_name: Name) -> Thread {
        Thread {
            info,
            life: ObjectId::NONE,
            parker: ObjectId::NONE,
            next: EventId { thread: info.id, index: 0 },
            name: first_name,
            first_name,
            children: 0,
            time: 0,
        }
    }
}

/// The entry in `pending` of a thread that has not announced anything.
fn nothing_pending(thread: ThreadId) -> Pending {
    let op = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield));
    Pending { thread, op, site: Site::UNKNOWN, enabled: false }
}

impl<M: Memory> Engine<M> {
    /// Returns whether the run ended with the end of its last thread, and its events, threads, objects and fingerprint
    /// are all there is to know of it. Returns false for runs with reader-writer locks, which have to be looked at.
    pub fn was_ordinary(&self) -> bool {
        let Trace { pending, stopped, plain, ends, unfreed, sources, choices, ending, .. } =
            &self.trace;
        matches!(ending, Ending::Finished)
            && pending.is_empty()
            && stopped.is_empty()
            && plain.is_empty()
            && ends.is_empty()
            && !self.has_rwlocks
            && unfreed.is_empty()
            && sources.is_empty()
            && *choices == 0
    }
}
