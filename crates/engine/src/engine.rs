//! One execution: who is about to do what, whose turn it is, what has happened.
//!
//! Invariant: every live thread but the one that runs has announced its next operation before a
//! choice is made. A new thread therefore runs up to its first announcement before its creator goes
//! on.

use alloc::vec::Vec;

use raddle_core::fingerprint::{self, History};
use raddle_core::{
    Access, Action, Choice, Chooser, Divergence, Effect, Ending, Event, EventId, ObjectId,
    ObjectInfo, ObjectKind, Op, Panic, PauseOp, Pending, Pick, Plan, Point, Site, ThreadId,
    ThreadOp, Threads, Trace, dependence,
};

use crate::object::{Initial, Object};
use crate::objects::{Life, Parker};
use crate::{Family, Memory};

/// No thread, in lists of threads linked by index.
const NOBODY: u32 = u32::MAX;

/// Whose turn it is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Turn {
    /// This thread goes on, its announced operation having had this effect. A thread named for the
    /// first time starts.
    Run(ThreadId, Effect),
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
    objects: Vec<Slot>,
    trace: Trace,
    running: ThreadId,
    /// How many steps the running thread may go on without a question.
    lease: u32,
    /// Who goes on once the thread that is starting has announced its first operation.
    creator: Option<ThreadId>,
    /// Threads that ended and whose stacks the substrate has not taken back.
    ended: Vec<ThreadId>,
    alive: u32,
    max_alive: u32,
    max_steps: usize,
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
    path: u64,
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
            creator: None,
            ended: Vec::new(),
            alive: 0,
            max_alive: 0,
            max_steps,
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
        self.trace.ending = Ending::Finished;
        self.enabled.clear();
        self.changed.clear();
        self.objects.clear();
        self.memory.reset();
        self.followed = 0;
        self.lease = 0;
        self.creator = None;
        self.ended.clear();
        self.alive = 0;
        self.max_alive = 0;
        self.over = false;
        self.time_moved = false;
        self.running = ThreadId::MAIN;

        let name = EventId { thread: ThreadId::MAIN, index: 0 };
        let life = self.add_object(
            Object::Life(Life::Running),
            ObjectInfo { kind: ObjectKind::Thread(ThreadId::MAIN), name, site: Site::UNKNOWN },
        );
        self.admit(ThreadId::MAIN, life, 0);
    }

    /// Names an object at its first announcement, by `by` at `site`.
    pub fn declare(&mut self, by: ThreadId, initial: Initial, site: Site) -> ObjectId {
        let name = self.next_event(by);
        let info = ObjectInfo { kind: initial.kind(), name, site };
        let id = self.add_object(Object::from(initial), info);
        if let Initial::Atomic(scalar, value) = initial {
            self.memory.declare(id, name, scalar.truncate(value));
        }
        id
    }

    /// The thread that `by` is about to spawn, and its object for the announcement.
    pub fn declare_child(&mut self, by: ThreadId, site: Site) -> (ThreadId, ObjectId) {
        let name = self.next_event(by);
        let parent = &mut self.threads[by.index()];
        let position = parent.children;
        parent.children += 1;
        let child = self.family.child(by, position);
        if self.threads.len() <= child.index() {
            self.threads.resize(child.index() + 1, Thread::absent());
            for id in self.pending.len()..self.threads.len() {
                self.pending.push(pending_nothing(ThreadId(id as u32)));
            }
        }
        let info = ObjectInfo { kind: ObjectKind::Thread(child), name, site };
        let life = self.add_object(Object::Life(Life::Unborn), info);
        self.threads[child.index()].life = life;
        (child, life)
    }

    /// The object that tells whether `thread` has ended.
    #[inline]
    pub fn life(&self, thread: ThreadId) -> ObjectId {
        self.threads[thread.index()].life
    }

    /// The park token of `thread`, about to be used by `by`.
    pub fn parker(&mut self, thread: ThreadId, by: ThreadId, site: Site) -> ObjectId {
        let known = self.threads[thread.index()].parker;
        if known != ObjectId::NONE {
            return known;
        }
        let name = self.next_event(by);
        let info = ObjectInfo { kind: ObjectKind::Parker(thread), name, site };
        let parker = self.add_object(Object::Parker(Parker::default()), info);
        self.threads[thread.index()].parker = parker;
        parker
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
    #[inline]
    pub fn take_ended(&mut self) -> Option<ThreadId> {
        self.ended.pop()
    }

    /// Announces what `by` is about to do. Somebody performs an operation; whose turn is it now?
    #[inline]
    pub fn submit(&mut self, by: ThreadId, op: Op, site: Site) -> Turn {
        self.announce(by, op, site);
        if let Some(creator) = self.creator {
            self.creator = None;
            self.running = creator;
            return Turn::Run(creator, Effect::Spawned(by));
        }
        self.step()
    }

    /// As [`submit`](Engine::submit), but `by` goes first if it can: it is unwinding from a panic,
    /// and the language allows one panic at a time on a stack.
    #[cold]
    pub fn submit_unpreempted(&mut self, by: ThreadId, op: Op, site: Site) -> Turn {
        self.announce(by, op, site);
        if !self.pending[by.index()].enabled {
            return self.step();
        }
        if self.followed < self.plan.prefix.len() {
            let expected = self.plan.prefix[self.followed];
            if expected != Choice::Thread(by) {
                return self.diverge(expected);
            }
            self.followed += 1;
        }
        match self.perform(by) {
            Some(turn) => turn,
            None => self.step(),
        }
    }

    /// Ends the run because of a panic that escaped a thread.
    pub fn fail(&mut self, panic: Panic) {
        self.end(Ending::Panicked(panic));
    }

    /// Performs an operation of a thread that is being unwound after the end of the run. It is not
    /// recorded. `None` if it cannot be performed now.
    pub fn settle(&mut self, by: ThreadId, op: Op) -> Option<Effect> {
        match op.action {
            Action::Atomic(atomic) => {
                let id = self.next_event(by);
                Some(self.memory.access(id, op.object, atomic, None))
            }
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
                let object = &mut self.objects[op.object.index()].object;
                object.enabled(&op.action, by).then(|| object.apply(&op.action, by))
            }
        }
    }

    #[inline]
    fn announce(&mut self, by: ThreadId, op: Op, site: Site) {
        self.pending[by.index()] = Pending { thread: by, op, site, enabled: true };
        self.note(by);
        if op.action.may_block() {
            self.link(by, op.object);
            if !self.objects[op.object.index()].object.enabled(&op.action, by) {
                self.disable(by);
            }
        }
    }

    fn step(&mut self) -> Turn {
        loop {
            let thread = if self.lease > 0 && self.pending[self.running.index()].enabled {
                self.lease -= 1;
                self.running
            } else {
                match self.question() {
                    Some(thread) => thread,
                    None => return Turn::End,
                }
            };
            if let Some(turn) = self.perform(thread) {
                return turn;
            }
        }
    }

    /// Asks who goes next. `None` if nobody does.
    #[inline]
    fn question(&mut self) -> Option<ThreadId> {
        if self.enabled.is_empty() {
            if self.over {
                return None;
            }
            let main_ended = self.objects[0].object == Object::Life(Life::Ended);
            self.end(if main_ended { Ending::Finished } else { Ending::Deadlock });
            return None;
        }
        self.trace.choices += u64::from(self.enabled.len() > 1);
        if self.followed < self.plan.prefix.len() {
            return self.follow_thread();
        }
        let steps_left = self.max_steps.saturating_sub(self.trace.events.len());
        if steps_left == 0 {
            self.end(Ending::StepLimit);
            return None;
        }
        let point = Point::Thread(Threads {
            pending: &self.pending,
            enabled: &self.enabled,
            changed: &self.changed,
        });
        let pick = self.plan.then.choose(&point, &self.trace.events);
        self.changed.clear();
        match pick {
            Pick::Take(option) => {
                self.lease = 0;
                Some(self.enabled[option])
            }
            Pick::Run { option, steps } => {
                let thread = self.enabled[option];
                self.lease = (steps - 1).min(u32::try_from(steps_left - 1).unwrap_or(u32::MAX));
                self.running = thread;
                Some(thread)
            }
            Pick::Abandon => {
                self.end(Ending::Abandoned);
                None
            }
        }
    }

    #[cold]
    fn follow_thread(&mut self) -> Option<ThreadId> {
        let expected = self.plan.prefix[self.followed];
        match expected {
            Choice::Thread(thread)
                if self.threads.get(thread.index()).is_some_and(|t| t.place != NOBODY) =>
            {
                self.followed += 1;
                Some(thread)
            }
            Choice::Thread(_) | Choice::Source(_) | Choice::Value(_) => {
                self.diverge(expected);
                None
            }
        }
    }

    /// Performs the pending operation of `thread`. `None` if that was its last, or the run ended.
    #[inline]
    fn perform(&mut self, thread: ThreadId) -> Option<Turn> {
        let Pending { op, site, .. } = self.pending[thread.index()];
        let id = self.next_event(thread);
        let effect = match op.action {
            Action::Atomic(atomic) => {
                let source = self.choose_source(thread)?;
                self.memory.access(id, op.object, atomic, source)
            }
            Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Thread(_) => self.objects[op.object.index()].object.apply(&op.action, thread),
            Action::Cell(_) => Effect::None,
            Action::Fence(order) => {
                self.memory.fence(thread, order);
                Effect::None
            }
            Action::Pause(pause) => {
                if let PauseOp::Sleep { nanos } = pause {
                    self.time_moved = true;
                    let time = &mut self.threads[thread.index()].time;
                    *time = time.saturating_add(nanos);
                }
                Effect::None
            }
            Action::Choose { bound } => Effect::Value(u64::from(self.choose_value(thread, bound)?)),
        };
        if op.action.may_block() {
            self.unlink(thread, op.object);
        }
        self.running = thread;
        match op.action {
            Action::Thread(ThreadOp::Spawn) => {
                let ObjectKind::Thread(child) = self.trace.objects[op.object.index()].kind else {
                    unreachable!("raddle invariant broken: spawn of {:?}", op.object)
                };
                self.record(id, op, Effect::Spawned(child), site);
                self.creator = Some(thread);
                self.admit(child, op.object, self.threads[thread.index()].time);
                self.running = child;
                Some(Turn::Run(child, Effect::None))
            }
            Action::Thread(ThreadOp::Exit) => {
                self.record(id, op, effect, site);
                self.withdraw(thread);
                self.alive -= 1;
                self.ended.push(thread);
                None
            }
            Action::Thread(ThreadOp::Join | ThreadOp::IsFinished)
            | Action::Atomic(_)
            | Action::Cell(_)
            | Action::Mutex(_)
            | Action::RwLock(_)
            | Action::Condvar(_)
            | Action::Barrier(_)
            | Action::Once(_)
            | Action::Park(_)
            | Action::Channel(_)
            | Action::Fence(_)
            | Action::Pause(_)
            | Action::Choose { .. } => {
                self.record(id, op, effect, site);
                Some(Turn::Run(thread, effect))
            }
        }
    }

    /// Writes down an event, and lets its object's other threads know.
    #[inline]
    fn record(&mut self, id: EventId, op: Op, effect: Effect, site: Site) {
        self.trace.events.push(Event { id, op, effect, site });
        let thread = &mut self.threads[id.thread.index()];
        thread.events += 1;
        let name = fingerprint::event_name(thread.path, id.index);
        if op.action.gives_way(effect) {
            thread.yields += 1;
        }
        if op.object == ObjectId::NONE {
            let value = if let Effect::Value(value) = effect { value } else { 0 };
            self.add_to_fingerprint(fingerprint::event_alone(name, value));
            return;
        }
        let access = dependence::executed_access(&op.action, effect);
        let slot = &mut self.objects[op.object.index()];
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
            self.reconsider(waiter, op.object);
        }
    }

    #[inline]
    fn add_to_fingerprint(&mut self, hash: u64) {
        self.trace.fingerprint = self.trace.fingerprint.wrapping_add(hash);
    }

    /// An object changed: who among its waiters can go on now?
    fn reconsider(&mut self, first: u32, object: ObjectId) {
        let mut waiter = first;
        while waiter != NOBODY {
            let thread = ThreadId(waiter);
            let pending = &self.pending[thread.index()];
            let can = self.objects[object.index()].object.enabled(&pending.op.action, thread);
            if can != pending.enabled {
                if can {
                    self.enable(thread)
                } else {
                    self.disable(thread)
                }
                self.note(thread);
            }
            waiter = self.threads[thread.index()].next_waiter;
        }
    }

    #[inline]
    fn choose_source(&mut self, thread: ThreadId) -> Option<Option<EventId>> {
        let by = &self.pending[thread.index()];
        self.memory.sources(by, &mut self.sources);
        if self.sources.is_empty() {
            return Some(None);
        }
        self.ask_source(thread)
    }

    #[cold]
    fn ask_source(&mut self, thread: ThreadId) -> Option<Option<EventId>> {
        let options = core::mem::take(&mut self.sources);
        let point = Point::Source { by: &self.pending[thread.index()].clone(), options: &options };
        let answer = self.answer(&point);
        let chosen = answer.map(|option| options[option]);
        if let Some(source) = chosen {
            self.trace.sources.push((self.trace.events.len(), source));
        }
        self.sources = options;
        self.sources.clear();
        chosen.map(Some)
    }

    #[cold]
    fn choose_value(&mut self, thread: ThreadId, bound: u32) -> Option<u32> {
        let by = self.pending[thread.index()];
        self.answer(&Point::Value { by: &by, bound }).map(|option| option as u32)
    }

    /// The answer to a point that is not about threads. `None` if the run ended instead.
    fn answer(&mut self, point: &Point<'_>) -> Option<usize> {
        self.trace.choices += u64::from(point.options() > 1);
        if self.followed < self.plan.prefix.len() {
            let expected = self.plan.prefix[self.followed];
            let found = (0..point.options()).find(|&option| point.choice(option) == expected);
            if found.is_none() {
                self.diverge(expected);
            } else {
                self.followed += 1;
            }
            return found;
        }
        match self.plan.then.choose(point, &self.trace.events) {
            Pick::Take(option) | Pick::Run { option, .. } => Some(option),
            Pick::Abandon => {
                self.end(Ending::Abandoned);
                None
            }
        }
    }

    #[cold]
    fn diverge(&mut self, expected: Choice) -> Turn {
        self.end(Ending::Diverged(Divergence { at: self.followed, expected }));
        Turn::End
    }

    #[cold]
    fn end(&mut self, ending: Ending) {
        self.trace.ending = ending;
        self.over = true;
        if self.alive > 0 {
            for info in &self.trace.threads {
                let slot = &self.objects[self.threads[info.id.index()].life.index()];
                if slot.object == Object::Life(Life::Running) {
                    self.trace.pending.push(self.pending[info.id.index()]);
                }
            }
        }
        // A run that ended in the middle has nobody left to run.
        self.enabled.clear();
        self.lease = 0;
    }

    /// A thread comes to life.
    fn admit(&mut self, thread: ThreadId, life: ObjectId, time: u64) {
        let path = self.family.path(thread);
        let state = Thread { life, path, time, ..Thread::absent() };
        match self.threads.get_mut(thread.index()) {
            Some(slot) => {
                *slot = state;
                self.pending[thread.index()] = pending_nothing(thread);
            }
            None => {
                self.threads.push(state);
                self.pending.push(pending_nothing(thread));
            }
        }
        self.trace.threads.push(self.family.info(thread));
        self.alive += 1;
        self.max_alive = self.max_alive.max(self.alive);
        self.enable(thread);
    }

    #[inline]
    fn next_event(&self, thread: ThreadId) -> EventId {
        EventId { thread, index: self.threads[thread.index()].events }
    }

    fn add_object(&mut self, object: Object, info: ObjectInfo) -> ObjectId {
        let id = ObjectId(self.objects.len() as u32);
        self.objects.push(Slot {
            object,
            first_waiter: NOBODY,
            history: History::default(),
            time: 0,
        });
        self.trace.objects.push(info);
        id
    }

    /// Notes that a thread's pending operation or enabledness changed.
    #[inline]
    fn note(&mut self, thread: ThreadId) {
        if self.changed.last() != Some(&thread) {
            self.changed.push(thread);
        }
    }

    #[inline]
    fn enable(&mut self, thread: ThreadId) {
        self.pending[thread.index()].enabled = true;
        self.threads[thread.index()].place = self.enabled.len() as u32;
        self.enabled.push(thread);
        // Somebody else could go on now; the chooser must hear of it.
        self.lease = 0;
    }

    #[inline]
    fn disable(&mut self, thread: ThreadId) {
        self.pending[thread.index()].enabled = false;
        self.withdraw(thread);
    }

    /// Takes a thread out of the enabled ones.
    #[inline]
    fn withdraw(&mut self, thread: ThreadId) {
        let place = self.threads[thread.index()].place;
        self.threads[thread.index()].place = NOBODY;
        self.pending[thread.index()].enabled = false;
        self.enabled.swap_remove(place as usize);
        if let Some(moved) = self.enabled.get(place as usize) {
            self.threads[moved.index()].place = place;
        }
    }

    #[inline]
    fn link(&mut self, thread: ThreadId, object: ObjectId) {
        let slot = &mut self.objects[object.index()];
        let next = core::mem::replace(&mut slot.first_waiter, thread.0);
        let state = &mut self.threads[thread.index()];
        state.next_waiter = next;
        state.previous_waiter = NOBODY;
        if next != NOBODY {
            self.threads[next as usize].previous_waiter = thread.0;
        }
    }

    #[inline]
    fn unlink(&mut self, thread: ThreadId, object: ObjectId) {
        let Thread { next_waiter, previous_waiter, .. } = self.threads[thread.index()];
        match previous_waiter {
            NOBODY => self.objects[object.index()].first_waiter = next_waiter,
            previous => self.threads[previous as usize].next_waiter = next_waiter,
        }
        if next_waiter != NOBODY {
            self.threads[next_waiter as usize].previous_waiter = previous_waiter;
        }
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
            path: 0,
            time: 0,
        }
    }
}

/// What stands in `pending` for a thread that has not announced anything yet.
fn pending_nothing(thread: ThreadId) -> Pending {
    let op = Op { object: ObjectId::NONE, action: Action::Pause(PauseOp::Yield) };
    Pending { thread, op, site: Site::UNKNOWN, enabled: false }
}
