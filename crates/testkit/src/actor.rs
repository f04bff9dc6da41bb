//! A thread of a scripted program: follows its script and remembers the effects of its operations.
//!
//! An actor holds thread-local state only, so that all substrates share it.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use raddle_core::{
    Action, BarrierOp, ChannelOp, CondvarOp, Effect, FutexOp, MutexOp, OnceOp, ParkOp, RwLockOp,
    ThreadId, ThreadOp,
};
use raddle_engine::Initial;

use crate::{Program, Relative, Step};

/// A thread in the middle of its script.
#[derive(Clone, Debug)]
pub struct Actor {
    me: ThreadId,
    parent: ThreadId,
    script: usize,
    position: usize,
    children: Vec<ThreadId>,
    /// The locks and initialisations that the thread holds, with the action that releases each. May contain duplicates.
    held: Vec<(usize, Action)>,
    /// The remaining requests of the current step.
    rest: VecDeque<Request>,
    /// The last request.
    current: Request,
    /// The last value that an operation returned.
    last: u64,
    /// How often the thread has gone back in a row, where that is counted.
    attempts: u32,
    /// The value that was kept.
    kept: u64,
}

/// What a thread is about to do.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// Performs an operation.
    Perform(Target, Action),
    /// Spawns a thread with this script.
    Spawn(usize),
    /// Goes no further.
    Stop,
    /// Panics.
    Panic,
    /// Ends.
    Exit,
}

/// The object of an operation.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Target {
    /// An object of the program, by position.
    Object(usize),
    /// A thread.
    Life(ThreadId),
    /// A thread's park token.
    Parker(ThreadId),
    /// No object.
    Nothing,
}

impl Actor {
    /// Returns a thread at the beginning of `script`.
    pub fn new(me: ThreadId, parent: ThreadId, script: usize) -> Actor {
        Actor {
            me,
            parent,
            script,
            position: 0,
            children: Vec::new(),
            held: Vec::new(),
            rest: VecDeque::new(),
            current: Request::Exit,
            last: 0,
            attempts: 0,
            kept: 0,
        }
    }

    /// Returns the next request.
    pub fn next(&mut self, program: &Program) -> Request {
        self.current = loop {
            if let Some(request) = self.rest.pop_front() {
                break request;
            }
            let Some(&step) = program.scripts[self.script].get(self.position) else {
                break Request::Exit;
            };
            self.position += 1;
            self.request(step);
        };
        self.current
    }

    /// Returns a hash of the local state, from which everything follows that the thread does next.
    pub fn frame(&self) -> u64 {
        let Actor { me: _, parent: _, script: _, position, children, held, rest, .. } = self;
        let Actor { current, last, attempts, kept, .. } = self;
        let mut hasher = DefaultHasher::new();
        // Actions have no hash.
        format!("{position} {children:?} {held:?} {rest:?} {current:?} {last} {attempts} {kept}")
            .hash(&mut hasher);
        hasher.finish()
    }

    /// Processes the effect of the last request, an operation.
    pub fn observe(&mut self, program: &Program, effect: Effect) {
        match effect {
            Effect::Value(value) | Effect::Exchanged(value) | Effect::Kept(value) => {
                self.last = value;
            }
            Effect::Yes => self.last = 1,
            Effect::No => self.last = 0,
            Effect::None | Effect::Ticket(_) | Effect::LastTicket(_) | Effect::Closed => {}
        }
        let Request::Perform(Target::Object(object), action) = self.current else { return };
        match (action, effect) {
            (Action::Barrier(BarrierOp::Arrive), Effect::Ticket(generation)) => {
                self.push(object, Action::Barrier(BarrierOp::Leave { generation }));
            }
            (Action::Channel(ChannelOp::Send), Effect::Ticket(ticket))
                if program.objects[object] == (Initial::Channel { capacity: Some(0) }) =>
            {
                self.push(object, Action::Channel(ChannelOp::AwaitTaken { ticket }));
            }
            _ => self.update_held(object, action, effect),
        }
    }

    /// Adds the thread that the last request, a spawn, created.
    pub fn add_child(&mut self, child: ThreadId) {
        self.children.push(child);
    }

    /// Adds the requests of a step to `rest`, if the thread may make them in its state.
    fn request(&mut self, step: Step) {
        match step {
            Step::On(object, action) => {
                let releases = [
                    Action::Mutex(MutexOp::Unlock),
                    Action::RwLock(RwLockOp::UnlockRead),
                    Action::RwLock(RwLockOp::UnlockWrite),
                    Action::Once(OnceOp::Complete),
                ];
                // A failed initialisation releases what `Begin` acquired, as a complete one does.
                let release = match action {
                    Action::Once(OnceOp::Reset) => Action::Once(OnceOp::Complete),
                    other => other,
                };
                if !releases.contains(&release) || self.held.contains(&(object, release)) {
                    self.push(object, action);
                }
            }
            Step::Alone(action) => {
                self.rest.push_back(Request::Perform(Target::Nothing, action));
            }
            Step::Wait { condvar, mutex, timed } => {
                if self.held.contains(&(mutex, Action::Mutex(MutexOp::Unlock))) {
                    self.push(condvar, Action::Condvar(CondvarOp::Enqueue));
                    self.push(mutex, Action::Mutex(MutexOp::Unlock));
                    self.push(condvar, Action::Condvar(CondvarOp::Consume { timed }));
                    self.push(mutex, Action::Mutex(MutexOp::Lock));
                }
            }
            Step::FutexWait { variable, part, mask, timed } => {
                self.push(variable, Action::Futex(FutexOp::Enqueue { part, mask }));
                self.push(variable, Action::Futex(FutexOp::Consume { timed }));
            }
            Step::Meet(barrier) => self.push(barrier, Action::Barrier(BarrierOp::Arrive)),
            Step::Park { timed } => {
                let park = Action::Park(ParkOp::Park { timed });
                self.rest.push_back(Request::Perform(Target::Parker(self.me), park));
            }
            Step::Unpark(who) => {
                let who = match who {
                    Relative::Myself => Some(self.me),
                    Relative::Parent => Some(self.parent),
                    Relative::Child(position) => self.children.get(position).copied(),
                };
                let unpark = Action::Park(ParkOp::Unpark);
                self.rest.extend(who.map(|who| Request::Perform(Target::Parker(who), unpark)));
            }
            Step::Spawn(script) => {
                if script > self.script {
                    self.rest.push_back(Request::Spawn(script));
                }
            }
            Step::Join(child) => self.query_child(child, ThreadOp::Join),
            Step::IsFinished(child) => self.query_child(child, ThreadOp::IsFinished),
            Step::SkipIfOdd(steps) => self.position += steps * (self.last & 1) as usize,
            Step::BackIfEven(steps) => {
                // `position` is already after this step.
                let back = (steps + 1) * (self.last & 1 ^ 1) as usize;
                self.position = self.position.saturating_sub(back);
            }
            Step::AttemptAgainIfEven { steps, times } => {
                let goes_back = self.last % 2 == 0 && self.attempts < times;
                self.attempts = if goes_back { self.attempts + 1 } else { 0 };
                self.position = self.position.saturating_sub((steps + 1) * usize::from(goes_back));
            }
            Step::Keep => self.kept = self.last,
            Step::BackUnlessKept(steps) => {
                let back = (steps + 1) * usize::from(self.last != self.kept);
                self.position = self.position.saturating_sub(back);
            }
            Step::AssumeOdd => {
                if self.last % 2 == 0 {
                    self.rest.push_back(Request::Stop);
                }
            }
            Step::Panic => self.rest.push_back(Request::Panic),
        }
    }

    fn push(&mut self, object: usize, action: Action) {
        self.rest.push_back(Request::Perform(Target::Object(object), action));
    }

    fn query_child(&mut self, position: usize, op: ThreadOp) {
        if let Some(&child) = self.children.get(position) {
            self.rest.push_back(Request::Perform(Target::Life(child), Action::Thread(op)));
        }
    }

    /// Updates `held` by an operation.
    fn update_held(&mut self, object: usize, action: Action, effect: Effect) {
        let succeeded = effect != Effect::No;
        match action {
            Action::Mutex(MutexOp::Lock | MutexOp::TryLock) if succeeded => {
                self.held.push((object, Action::Mutex(MutexOp::Unlock)));
            }
            Action::RwLock(RwLockOp::Read | RwLockOp::TryRead) if succeeded => {
                self.held.push((object, Action::RwLock(RwLockOp::UnlockRead)));
            }
            Action::RwLock(RwLockOp::Write | RwLockOp::TryWrite) if succeeded => {
                self.held.push((object, Action::RwLock(RwLockOp::UnlockWrite)));
            }
            Action::Once(OnceOp::Begin) if succeeded => {
                self.held.push((object, Action::Once(OnceOp::Complete)));
            }
            Action::Once(OnceOp::Reset) => self.release(object, Action::Once(OnceOp::Complete)),
            other => self.release(object, other),
        }
    }

    fn release(&mut self, object: usize, action: Action) {
        if let Some(release) = self.held.iter().position(|&held| held == (object, action)) {
            self.held.remove(release);
        }
    }
}
