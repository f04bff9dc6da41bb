//! One execution: who is about to do what, whose turn it is, what has happened.
//!
//! Invariant: every live thread but the one that runs has announced its next operation before a
//! choice is made. A new thread therefore runs up to its first announcement before its creator goes
//! on.

use alloc::vec::Vec;

use raddle_core::fingerprint::{self, History, Name};
use raddle_core::{
    Access, Action, Choice, Chooser, Effect, Ending, Event, EventId, ObjectId, ObjectInfo,
    ObjectKind, Op, Panic, PauseOp, Pending, Plan, Site, ThreadId, ThreadOp, Trace,
};

use crate::known::{AnyOp, Known, LifeOp};
use crate::object::Object;
use crate::objects::Life;
use crate::{Family, Memory};

mod decide;
mod declare;
mod roster;

/// No thread, in lists of threads linked by index.
const NOBODY: u32 = u32::MAX;

/// Whose turn it is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// This thread goes on: it performs what it announced.
    Run(ThreadId),
    /// The run is over.
    End,
}

/// The state of one execution, re-used for the next.
#[derive(Debug)]
pub struct Engine<M, C> {
    plan: Plan<C>,
    /// How much of the plan's prefix has been followed.
    followed: usize,
    memory: M,
    family: Family,
    threads: Vec<Thread>,
    pending: Vec<Pending>,
    /// The threads that run or could perform their pending operation.
    enabled: Vec<ThreadId>,
    changed: Vec<ThreadId>,
    /// By [`ObjectId`]; those from `trace.objects.len()` on are left over from earlier runs.
    objects: Vec<Slot>,
    trace: Trace,
    running: ThreadId,
    /// How many steps the running thread may go on without a question.
    lease: u32,
    /// Who goes on once the thread that is starting has announced its first operation, or `NOBODY`.
    creator: u32,
    /// Threads that ended and whose stacks the substrate has not taken back.
    ended: Vec<ThreadId>,
    alive: u32,
    max_alive: u32,
    max_steps: usize,
    /// The number of events at which a thread point needs more than the chooser: zero while the
    /// plan's prefix is followed, then the step limit.
    attention: usize,
    over: bool,
    /// Whether any thread's virtual time has moved.
    time_moved: bool,
    sources: Vec<EventId>,
}

#[derive(Clone, Debug)]
struct Thread {
    life: ObjectId,
    parker: ObjectId,
    /// Index in `enabled`, or `NOBODY`.
    place: u32,
    /// Neighbours among the threads whose pending operation an object may disable.
    next_waiter: u32,
    previous_waiter: u32,
    /// How many events it has performed.
    events: u32,
    children: u32,
    yields: u32,
    /// The fingerprint's name of its next event.
    name: Name,
    /// Virtual time in nanoseconds.
    time: u64,
}

#[derive(Clone, Debug)]
struct Slot {
    object: Object,
    /// The first thread whose pending operation this object may disable.
    first_waiter: u32,
    history: History,
    time: u64,
}

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// An engine that ends a run as [`Ending::StepLimit`] after `max_steps` events.
    pub fn new(memory: M, family: Family, then: C, max_steps: usize) -> Engine<M, C> {
        Engine {
            plan: Plan { prefix: Vec::new(), then },
            followed: 0,
            memory,
            family,
            threads: Vec::new(),
            pending: Vec::new(),
            enabled: Vec::new(),
            changed: Vec::new(),
            objects: Vec::new(),
            trace: Trace::default(),
            running: ThreadId::MAIN,
            lease: 0,
            creator: NOBODY,
            ended: Vec::new(),
            alive: 0,
            max_alive: 0,
            max_steps,
            attention: 0,
            over: false,
            time_moved: false,
            sources: Vec::new(),
        }
    }

    /// The plan of the next run.
    pub fn plan_mut(&mut self) -> &mut Plan<C> {
        &mut self.plan
    }

    /// The plan of this run.
    pub fn plan(&self) -> &Plan<C> {
        &self.plan
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

    /// Begins a run; main is about to start.
    pub fn reset(&mut self) {
        for info in &self.trace.threads {
            self.pending[info.id.index()].enabled = false;
            self.threads[info.id.index()].place = NOBODY;
        }
        self.trace.events.clear();
        self.trace.pending.clear();
        self.trace.threads.clear();
        self.trace.objects.clear();
        self.trace.sources.clear();
        self.trace.fingerprint = 0;
        self.trace.choices = 0;
        if !matches!(self.trace.ending, Ending::Finished) {
            self.trace.ending = Ending::Finished;
        }
        self.enabled.clear();
        self.changed.clear();
        self.memory.reset();
        self.followed = 0;
        self.lease = 0;
        self.creator = NOBODY;
        self.ended.clear();
        self.alive = 0;
        self.max_alive = 0;
        self.over = false;
        self.attention = if self.plan.prefix.is_empty() { self.max_steps } else { 0 };
        self.time_moved = false;
        self.running = ThreadId::MAIN;

        let name = EventId { thread: ThreadId::MAIN, index: 0 };
        let kind = ObjectKind::Thread(ThreadId::MAIN);
        let life = self.add_object(ObjectInfo { kind, name, site: Site::UNKNOWN });
        self.objects[life.index()].object = Object::Life(Life::Running);
        self.admit(ThreadId::MAIN, life, 0);
    }

    /// The newest value of an atomic variable.
    pub fn newest(&self, object: ObjectId) -> u64 {
        self.memory.newest(object)
    }

    /// `thread`'s virtual time in nanoseconds.
    pub fn time(&self, thread: ThreadId) -> u64 {
        self.threads[thread.index()].time
    }

    /// How often `thread` has given way to others.
    pub fn yields(&self, thread: ThreadId) -> u32 {
        self.threads[thread.index()].yields
    }

    /// A thread that has ended and whose stack can be used again; each is returned once.
    #[inline(always)]
    pub fn take_ended(&mut self) -> Option<ThreadId> {
        self.ended.pop()
    }

    /// Announces what `by` is about to do. Whose turn is it to [`perform`](Engine::perform) what it
    /// announced?
    ///
    /// A thread's first announcement gives the turn back to its creator, which has performed the
    /// spawn already.
    #[inline(always)]
    pub fn submit<K: Known>(&mut self, by: ThreadId, op: Op, site: Site) -> Turn {
        if self.lease > 0 && !(K::BLOCKS && op.may_block()) {
            // Only the running thread has a lease: it goes on, and nobody looks at what is pending.
            self.lease -= 1;
            return Turn::Run(by);
        }
        self.announce::<K>(by, op, site);
        if self.creator != NOBODY {
            return self.back_to_creator();
        }
        self.next_turn()
    }

    #[cold]
    fn back_to_creator(&mut self) -> Turn {
        self.running = ThreadId(core::mem::replace(&mut self.creator, NOBODY));
        Turn::Run(self.running)
    }

    /// As [`submit`](Engine::submit), but `by` goes first if it can: it is unwinding from a panic,
    /// and the language allows one panic at a time on a stack.
    #[cold]
    pub fn submit_unpreempted(&mut self, by: ThreadId, op: Op, site: Site) -> Turn {
        self.announce::<AnyOp>(by, op, site);
        if !self.pending[by.index()].enabled {
            return self.next_turn();
        }
        if self.followed < self.plan.prefix.len() {
            let expected = self.plan.prefix[self.followed];
            if expected != Choice::Thread(by) {
                return self.diverge(expected);
            }
            self.followed += 1;
        }
        Turn::Run(by)
    }

    /// Performs what `by`, whose turn it is, announced; spawns are [`start`](Engine::start)ed and
    /// exits [`exit`](Engine::exit). `None` if the run ended instead.
    #[inline(always)]
    pub fn perform<K: Known>(&mut self, by: ThreadId, op: Op, site: Site) -> Option<Effect> {
        self.running = by;
        if K::ATOMIC || !K::MUTEX && op.is_atomic() {
            let source = self.choose_source(by, op, site)?;
            let effect = self.memory.access(self.next_event(by), op, source);
            self.record::<K>(by, op, effect, site);
            return Some(effect);
        }
        let effect = if K::MUTEX || op.object() != ObjectId::NONE {
            self.objects[op.object().index()].object.apply(op, by)
        } else {
            self.perform_alone(by, op.action(), site)?
        };
        if K::BLOCKS && op.may_block() {
            self.unlink(by, op.object());
        }
        self.record::<K>(by, op, effect, site);
        Some(effect)
    }

    /// Performs an action that touches no object.
    #[cold]
    fn perform_alone(&mut self, by: ThreadId, action: Action, site: Site) -> Option<Effect> {
        match action {
            Action::Fence(order) => self.memory.fence(by, order),
            Action::Pause(PauseOp::Sleep { nanos }) => {
                self.time_moved = true;
                let time = &mut self.threads[by.index()].time;
                *time = time.saturating_add(nanos);
            }
            Action::Pause(PauseOp::Yield | PauseOp::Spin) => {}
            Action::Choose { bound } => return self.choose_value(by, bound, site),
            Action::Thread(_)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_) => {
                unreachable!("raddle invariant broken: {action:?} on no object")
            }
        }
        Some(Effect::None)
    }

    /// Performs the spawn that `creator`, whose turn it is, announced. The new thread is to run up
    /// to its first announcement.
    pub fn start(&mut self, creator: ThreadId, life: ObjectId, site: Site) -> ThreadId {
        let ObjectKind::Thread(child) = self.trace.objects[life.index()].kind else {
            unreachable!("raddle invariant broken: spawn of {life:?}")
        };
        self.objects[life.index()].object = Object::Life(Life::Running);
        let op = Op::new(life, Action::Thread(ThreadOp::Spawn));
        self.record::<LifeOp>(creator, op, Effect::Value(u64::from(child.0)), site);
        self.creator = creator.0;
        self.admit(child, life, self.threads[creator.index()].time);
        self.running = child;
        child
    }

    /// Performs the exit that `by`, whose turn it is, announced. Whose turn is it now?
    pub fn exit(&mut self, by: ThreadId) -> Turn {
        let life = self.threads[by.index()].life;
        self.objects[life.index()].object = Object::Life(Life::Ended);
        let op = Op::new(life, Action::Thread(ThreadOp::Exit));
        self.record::<LifeOp>(by, op, Effect::None, Site::UNKNOWN);
        self.withdraw(by);
        self.alive -= 1;
        self.ended.push(by);
        self.next_turn()
    }

    /// Ends the run because of a panic that escaped a thread.
    pub fn fail(&mut self, panic: Panic) {
        self.end(Ending::Panicked(panic));
    }

    /// Performs an operation of a thread that is being unwound after the end of the run. It is not
    /// recorded. `None` if it cannot be performed now.
    pub fn settle(&mut self, by: ThreadId, op: Op) -> Option<Effect> {
        match op.action() {
            Action::Atomic(_) => Some(self.memory.access(self.next_event(by), op, None)),
            Action::Thread(ThreadOp::Spawn) => None,
            Action::Choose { .. } => Some(Effect::Value(0)),
            Action::Cell(_) | Action::Fence(_) | Action::Pause(_) => Some(Effect::None),
            Action::Thread(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_) => {
                let object = &mut self.objects[op.object().index()].object;
                object.enabled(op, by).then(|| object.apply(op, by))
            }
        }
    }

    #[inline(always)]
    fn announce<K: Known>(&mut self, by: ThreadId, op: Op, site: Site) {
        let pending = &mut self.pending[by.index()];
        pending.op = op;
        pending.site = site;
        pending.enabled = true;
        self.note(by);
        if K::BLOCKS && op.may_block() {
            self.link(by, op.object());
            if !self.objects[op.object().index()].object.enabled(op, by) {
                self.disable(by);
            }
        }
    }

    /// Writes down an event, and lets its object's other threads know.
    #[inline(always)]
    fn record<K: Known>(&mut self, by: ThreadId, op: Op, effect: Effect, site: Site) {
        let thread = &mut self.threads[by.index()];
        let id = EventId { thread: by, index: thread.events };
        thread.events += 1;
        self.trace.events.push(Event { id, op, effect, site });
        let name = thread.name.advance();
        let known = K::ATOMIC || K::MUTEX || !K::BLOCKS;
        if !known && op.gave_way(effect) {
            thread.yields += 1;
        }
        if !known && op.object() == ObjectId::NONE {
            let value = if let Effect::Value(value) = effect { value } else { 0 };
            self.add_to_fingerprint(fingerprint::event_alone(name, value));
            return;
        }
        let access = op.access_with(effect);
        let slot = &mut self.objects[op.object().index()];
        let hash = fingerprint::event_on_object(name, access, &mut slot.history);
        if self.time_moved {
            thread.time = thread.time.max(slot.time);
            if access == Access::Update {
                slot.time = thread.time;
            }
        }
        let waiter = slot.first_waiter;
        self.add_to_fingerprint(hash);
        if access == Access::Update && waiter != NOBODY {
            self.reconsider(waiter, op.object());
        }
    }

    #[inline(always)]
    fn add_to_fingerprint(&mut self, hash: u64) {
        self.trace.fingerprint = self.trace.fingerprint.wrapping_add(hash);
    }

    #[cold]
    fn end(&mut self, ending: Ending) {
        self.trace.ending = ending;
        self.over = true;
        if self.alive > 0 {
            let panicked = match &self.trace.ending {
                Ending::Panicked(panic) => Some(panic.thread),
                Ending::Finished
                | Ending::Deadlock
                | Ending::StepLimit
                | Ending::Abandoned
                | Ending::Diverged(_) => None,
            };
            let others = self.trace.threads.iter().filter(|info| Some(info.id) != panicked);
            for info in others {
                let slot = &self.objects[self.threads[info.id.index()].life.index()];
                if matches!(slot.object, Object::Life(Life::Running)) {
                    self.trace.pending.push(self.pending[info.id.index()]);
                }
            }
        }
        // A run that ended in the middle has nobody left to run.
        self.enabled.clear();
        self.lease = 0;
    }

    #[inline(always)]
    fn next_event(&self, thread: ThreadId) -> EventId {
        // Without a way to panic, so that it costs nothing where nobody looks at the result.
        let index = self.threads.get(thread.index()).map_or(0, |thread| thread.events);
        EventId { thread, index }
    }
}

impl Thread {
    fn absent() -> Thread {
        Thread {
            life: ObjectId::NONE,
            parker: ObjectId::NONE,
            place: NOBODY,
            next_waiter: NOBODY,
            previous_waiter: NOBODY,
            events: 0,
            children: 0,
            yields: 0,
            name: Name::MAIN,
            time: 0,
        }
    }
}

/// What stands in `pending` for a thread that has not announced anything yet.
fn pending_nothing(thread: ThreadId) -> Pending {
    let op = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield));
    Pending { thread, op, site: Site::UNKNOWN, enabled: false }
}
