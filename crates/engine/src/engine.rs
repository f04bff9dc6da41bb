//! One execution: who is about to do what, whose turn it is, what has happened.
//!
//! Invariant: every live thread but the one that runs has announced its next operation before a
//! choice is made. A new thread therefore runs up to its first announcement before its creator goes
//! on.

use alloc::boxed::Box;
use alloc::vec::Vec;

use raddle_core::fingerprint::{History, Name};
use raddle_core::{
    Action, Chooser, Ending, EventId, Events, ObjectId, ObjectInfo, ObjectKind, Op, PauseOp,
    Pending, Plan, Site, ThreadId, ThreadInfo, Trace,
};

use crate::known::Known;
use crate::object::Object;
use crate::objects::Life;
use crate::{Family, Memory};

mod decide;
mod declare;
mod enabled;
mod ending;
mod idle;
mod lives;
mod perform;
mod repeat;
mod roster;

use enabled::Enabled;

/// No thread, in lists of threads linked by index.
const NOBODY: u32 = u32::MAX;

/// Whose turn it is, if the run is not over.
///
/// One word, so that nothing needs to be taken apart on the way to the next thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Turn(u32);

impl Turn {
    /// The run is over.
    pub const END: Turn = Turn(NOBODY);

    /// This thread goes on: it performs what it announced.
    #[inline(always)]
    pub fn of(thread: ThreadId) -> Turn {
        Turn(thread.0)
    }

    /// As a word: the number of the thread, or all ones at the end of a run.
    #[inline(always)]
    pub const fn word(self) -> u32 {
        self.0
    }

    /// Whether it is the turn of `thread`.
    #[inline(always)]
    pub fn is_of(self, thread: ThreadId) -> bool {
        self.0 == thread.0
    }

    /// Whose turn it is, or `None` if the run is over.
    #[inline(always)]
    pub fn thread(self) -> Option<ThreadId> {
        if self.0 == NOBODY { None } else { Some(ThreadId(self.0)) }
    }
}

/// The state of one execution, re-used for the next.
#[derive(Debug)]
pub struct Engine<M: Memory, C> {
    plan: Plan<C>,
    /// How much of the plan's prefix has been followed.
    followed: usize,
    memory: M,
    family: Family,
    // Slices, not vectors, where every step looks: in a build that is not optimised, indexing a
    // vector is two calls.
    threads: Box<[Thread]>,
    pending: Box<[Pending]>,
    /// The threads that run or could perform their pending operation.
    enabled: Enabled,
    /// By thread, behind one that is nobody's.
    links: Box<[Link]>,
    changed: Vec<ThreadId>,
    /// By [`ObjectId`]; those from `trace.objects.len()` on are left over from earlier runs.
    objects: Box<[Slot<M::Location>]>,
    /// Objects that changed while a thread had a lease, and whose waiters were not looked at.
    stale: Vec<ObjectId>,
    trace: Trace,
    /// What had happened in the run that was repeated.
    earlier: Trace,
    running: ThreadId,
    lease: Lease,
    /// Who goes on once the thread that is starting has announced its first operation, or `NOBODY`.
    creator: u32,
    /// The last thread that ended and whose stack the substrate has not taken back, or `NOBODY`; the
    /// others follow as `next_ended`.
    ended: u32,
    alive: u32,
    max_alive: u32,
    max_steps: usize,
    /// The number of events at which a thread point needs more than the chooser: zero while the
    /// plan's prefix is followed, then the step limit.
    attention: usize,
    /// The number of events from which on nothing is chosen ahead.
    ahead: usize,
    over: bool,
    /// Whether nothing is chosen after the plan's prefix.
    repeats: bool,
    /// Whether the run did not end in the ordinary way, or anything was used that few runs use: there is
    /// more to look at after it, and more to clear before the next.
    unusual: bool,
    /// Whether any thread's virtual time has moved.
    time_moved: bool,
    sources: Vec<EventId>,
}

#[derive(Clone, Debug)]
struct Thread {
    life: ObjectId,
    parker: ObjectId,
    next_ended: u32,
    /// Its next event.
    next: EventId,
    children: u32,
    yields: u32,
    /// The fingerprint's name of its next event.
    name: Name,
    /// That of its first; the same in every run.
    first_name: Name,
    /// Likewise.
    info: ThreadInfo,
    /// Virtual time in nanoseconds.
    time: u64,
}

#[derive(Clone, Debug)]
struct Slot<L> {
    object: Object,
    /// The first thread whose pending operation this object may disable, as in a [`Link`].
    first_waiter: u32,
    history: History,
    time: u64,
    /// Whether it is among `stale`.
    news: News,
    /// What the memory model keeps of it, if it is a variable.
    location: L,
}

/// A thread's place among others.
#[derive(Copy, Clone, Debug)]
struct Link {
    /// Neighbours among those who wait for the same object, numbered from one on, or [`NO_WAITER`]. That has a link
    /// too, which is written to as any other: to ask whether there is a neighbour would be foreseen badly.
    next: u32,
    previous: u32,
    /// Index in `enabled`, if it is there.
    place: u32,
}

const NO_WAITER: u32 = 0;

/// How many steps the running thread may go on without a question.
#[derive(Copy, Clone, Debug)]
struct Lease {
    /// So many that need nothing done which is seldom: there is room in the list of events, and no time has
    /// to be kept.
    ready: u32,
    /// And then so many.
    later: u32,
}

impl Lease {
    const NONE: Lease = Lease { ready: 0, later: 0 };

    #[inline(always)]
    fn is_none(self) -> bool {
        self.ready == 0 && self.later == 0
    }
}

/// What those who wait for an object have heard of it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum News {
    /// All there is.
    Known,
    /// The object changed while a thread had a lease, and nobody looked at them.
    Withheld,
    /// Likewise, and none of them ends the lease if the object, a mutex, is given back.
    NeverMind,
}

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// An engine that ends a run as [`Ending::StepLimit`] after `max_steps` events.
    pub fn new(memory: M, family: Family, then: C, max_steps: usize) -> Engine<M, C> {
        Engine {
            plan: Plan { prefix: Vec::new(), then },
            followed: 0,
            memory,
            family,
            threads: Box::default(),
            pending: Box::default(),
            enabled: Enabled::default(),
            links: Box::default(),
            changed: Vec::new(),
            objects: Box::default(),
            stale: Vec::new(),
            // Enough for a small test, so that a check of it need not grow the list.
            trace: Trace { events: Events::with_room(16), ..Trace::default() },
            earlier: Trace { events: Events::with_room(16), ..Trace::default() },
            running: ThreadId::MAIN,
            lease: Lease::NONE,
            creator: NOBODY,
            ended: NOBODY,
            alive: 0,
            max_alive: 0,
            max_steps,
            attention: 0,
            ahead: 0,
            over: false,
            repeats: false,
            // There is no main yet.
            unusual: true,
            time_moved: false,
            sources: Vec::new(),
        }
    }

    /// The plan of the next run.
    pub fn plan_mut(&mut self) -> &mut Plan<C> {
        &mut self.plan
    }

    /// What has happened.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// What has happened, and the plan it came from.
    pub fn trace_and_plan_mut(&mut self) -> (&Trace, &mut Plan<C>) {
        (&self.trace, &mut self.plan)
    }

    /// What has happened, without the engine.
    pub fn into_trace(self) -> Trace {
        self.trace
    }

    /// The most threads that were alive at once in this run.
    pub fn max_alive(&self) -> u32 {
        self.max_alive
    }

    /// Gives threads their ids anew, so that those of the next run do not depend on earlier ones.
    #[inline(always)]
    pub fn forget_threads(&mut self) {
        if !self.family.is_flat() {
            self.set_family(Family::default());
        }
    }

    /// Whether the last run ended with the end of its last thread, and nothing else is to be said of it
    /// than its events, threads, objects and fingerprint.
    #[inline(always)]
    pub fn was_ordinary(&self) -> bool {
        !self.unusual
    }

    /// Begins a run; main is about to start.
    #[inline(always)]
    pub fn reset(&mut self) {
        if self.unusual {
            self.clear();
        }
        self.trace.events.clear();
        // Main is the first thread of every run, and its life the first object.
        self.trace.threads.truncate(1);
        self.trace.objects.truncate(1);
        self.trace.fingerprint = 0;
        if C::WATCHES_CHANGES {
            self.changed.clear();
        }
        self.memory.reset();
        self.followed = 0;
        self.attention = if self.plan.prefix.is_empty() { self.max_steps } else { 0 };
        self.ahead = 0;
        let slot = &mut self.objects[0];
        slot.renew();
        slot.object.become_life(Life::Running);
        self.threads[0].begin(ObjectId(0), 0);
        self.flag(ThreadId::MAIN, true);
        self.enabled.clear();
        self.enter_enabled(ThreadId::MAIN);
        // Also those that are so already: neighbours are written together.
        self.running = ThreadId::MAIN;
        self.lease = Lease::NONE;
        self.creator = NOBODY;
        self.ended = NOBODY;
        self.alive = 1;
        self.max_alive = 1;
        self.over = false;
        self.time_moved = false;
    }

    /// Clears what is clear already after an ordinary run.
    #[cold]
    fn clear(&mut self) {
        self.trace.pending.clear();
        self.trace.plain.clear();
        self.trace.unfreed.clear();
        self.trace.sources.clear();
        self.trace.choices = 0;
        self.trace.ending = Ending::Finished;
        self.enabled.clear();
        self.stale.clear();
        self.unusual = false;
        if self.objects.is_empty() {
            self.add_main();
        }
    }

    /// Before the first run.
    #[cold]
    fn add_main(&mut self) {
        let life = self.add_object(ObjectInfo {
            kind: ObjectKind::Thread(ThreadId::MAIN),
            initial: 0,
            identity: 0,
            name: EventId { thread: ThreadId::MAIN, index: 0 },
            site: Site::UNKNOWN,
        });
        self.objects[life.index()].object.become_life(Life::Running);
        self.make_room(ThreadId::MAIN);
        self.trace.threads.push(self.threads[0].info);
    }

    /// The newest value of an atomic variable.
    pub fn newest(&self, object: ObjectId) -> u64 {
        self.memory.newest(&self.objects[object.index()].location)
    }

    /// `thread`'s virtual time in nanoseconds.
    pub fn time(&self, thread: ThreadId) -> u64 {
        self.threads[thread.index()].time
    }

    /// Lets time pass for `thread`: a wait of its has timed out.
    #[cold]
    pub fn advance(&mut self, thread: ThreadId, nanos: u64) {
        self.time_moved = true;
        self.ahead = 0;
        self.unusual = true;
        self.lease.later += core::mem::take(&mut self.lease.ready);
        let time = &mut self.threads[thread.index()].time;
        *time = time.saturating_add(nanos);
    }

    /// How often `thread` has given way to others.
    pub fn yields(&self, thread: ThreadId) -> u32 {
        self.threads[thread.index()].yields
    }

    /// A thread that has ended and whose stack can be used again; each is returned once.
    #[inline(always)]
    pub fn take_ended(&mut self) -> Option<ThreadId> {
        let ended = Turn(self.ended).thread()?;
        self.ended = self.threads[ended.index()].next_ended;
        Some(ended)
    }

    /// Announces what `by` is about to do. Whose turn is it to [`perform`](Engine::perform) what it
    /// announced?
    ///
    /// A thread's first announcement gives the turn back to its creator, which has performed the
    /// spawn already.
    #[inline(always)]
    pub fn submit<K: Known>(&mut self, by: ThreadId, op: Op, site: Site) -> Turn {
        self.announce::<K>(by, &op, site);
        if self.creator != NOBODY {
            return self.back_to_creator();
        }
        self.next_turn()
    }

    /// As [`submit`](Engine::submit), for substrates that know that the thread has announced
    /// something before.
    #[inline(always)]
    pub fn submit_again<K: Known>(&mut self, by: ThreadId, op: &Op, site: Site) -> Turn {
        debug_assert!(self.creator == NOBODY);
        if cfg!(debug_assertions) && K::ATOMIC && self.may_draw_first() {
            let turn = self.draw();
            // What is performed at once need not be announced. Where it is optimised, it is not worth a branch.
            if !turn.is_of(by) {
                self.announce::<K>(by, op, site);
            }
            return turn;
        }
        self.announce::<K>(by, op, site);
        self.next_turn()
    }

    /// As [`submit`](Engine::submit), for substrates that know that the thread has not announced
    /// anything before.
    #[inline(always)]
    pub fn submit_first<K: Known>(&mut self, by: ThreadId, op: &Op, site: Site) -> Turn {
        debug_assert!(self.creator != NOBODY);
        self.announce::<K>(by, op, site);
        self.back_to_creator()
    }

    #[inline(always)]
    fn back_to_creator(&mut self) -> Turn {
        self.running = ThreadId(core::mem::replace(&mut self.creator, NOBODY));
        Turn::of(self.running)
    }

    /// Announces what `by` is about to do, after it was [chosen](Engine::draw) who goes next.
    #[inline(always)]
    pub fn announce<K: Known>(&mut self, by: ThreadId, op: &Op, site: Site) {
        let pending = at_mut!(self.pending, by.index());
        if K::BARE && C::DRAWS && !cfg!(debug_assertions) {
            // Nobody is shown what is announced, unless the run ends.
            pending.op.copy_bare_from(op);
        } else {
            pending.op.copy_from(op);
        }
        pending.site = site;
        // The running thread counts as enabled until it announces something that it must wait for.
        debug_assert!(C::DRAWS || pending.enabled);
        if C::WATCHES_CHANGES {
            self.note(by);
        }
        if K::BLOCKS && K::may_block(op) {
            self.line_up::<K>(by, op);
        }
    }

    #[inline(always)]
    fn next_event(&self, thread: ThreadId) -> EventId {
        // Without a way to panic, so that it costs nothing where nobody looks at the result, and without a
        // call, where nothing is optimised.
        let (threads, index) = (&*self.threads, thread.index());
        if index < threads.len() { threads[index].next } else { EventId { thread, index: 0 } }
    }
}

impl<L> Slot<L> {
    /// Makes the place ready for another object.
    #[inline(always)]
    fn renew(&mut self) {
        self.first_waiter = NO_WAITER;
        self.history = History::default();
        self.time = 0;
        self.news = News::Known;
    }
}

impl Thread {
    /// It comes to life.
    #[inline(always)]
    fn begin(&mut self, life: ObjectId, time: u64) {
        // Field by field: a whole structure would be put together elsewhere first and copied.
        self.life = life;
        self.parker = ObjectId::NONE;
        self.next.index = 0;
        self.children = 0;
        self.yields = 0;
        self.name = self.first_name;
        self.time = time;
    }

    fn absent(info: ThreadInfo, first_name: Name) -> Thread {
        Thread {
            life: ObjectId::NONE,
            parker: ObjectId::NONE,
            next_ended: NOBODY,
            next: EventId { thread: info.id, index: 0 },
            children: 0,
            yields: 0,
            name: first_name,
            first_name,
            info,
            time: 0,
        }
    }
}

/// Appends to a slice, which is done seldom.
#[cold]
fn append<T>(slice: &mut Box<[T]>, new: impl ExactSizeIterator<Item = T>) {
    let mut all = core::mem::take(slice).into_vec();
    all.reserve_exact(new.len());
    all.extend(new);
    *slice = all.into_boxed_slice();
}

/// What stands in `pending` for a thread that has not announced anything yet.
fn pending_nothing(thread: ThreadId) -> Pending {
    let op = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield));
    Pending { thread, op, site: Site::UNKNOWN, enabled: false }
}
