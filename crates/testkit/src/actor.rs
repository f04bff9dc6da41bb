//! What a thread does on its own: follows its script and remembers what it was told.
//!
//! Local to one thread and free of objects, so that every way to run a program shares it.

use std::collections::VecDeque;

use raddle_core::{
    Action, BarrierOp, ChannelOp, CondvarOp, Effect, MutexOp, OnceOp, ParkOp, RwLockOp, ThreadId,
    ThreadOp,
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
    /// What it holds and must give back, with how; may name one thing several times.
    owes: Vec<(usize, Action)>,
    /// The rest of a step that takes several requests.
    rest: VecDeque<Request>,
    /// What it asked for last.
    current: Request,
    /// What it learnt last.
    last: u64,
}

/// What a thread wants to happen.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Request {
    /// An operation.
    Perform(Target, Action),
    /// A thread with this script.
    Spawn(usize),
    /// A panic.
    Panic,
    /// The end.
    Exit,
}

/// What an operation is on.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Target {
    /// An object of the program, by position.
    Object(usize),
    /// A thread's life.
    Life(ThreadId),
    /// A thread's park token.
    Parker(ThreadId),
    /// No object.
    Nothing,
}

impl Actor {
    /// A thread about to follow `script`.
    pub fn new(me: ThreadId, parent: ThreadId, script: usize) -> Actor {
        Actor {
            me,
            parent,
            script,
            position: 0,
            children: Vec::new(),
            owes: Vec::new(),
            rest: VecDeque::new(),
            current: Request::Exit,
            last: 0,
        }
    }

    /// What the thread wants next.
    pub fn next(&mut self, program: &Program) -> Request {
        self.current = loop {
            if let Some(request) = self.rest.pop_front() {
                break request;
            }
            let Some(&step) = program.scripts[self.script].get(self.position) else {
                break Request::Exit;
            };
            self.position += 1;
            self.take(step);
        };
        self.current
    }

    /// The last request, an operation, had this effect.
    pub fn told(&mut self, program: &Program, effect: Effect) {
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
                self.then(object, Action::Barrier(BarrierOp::Leave { generation }));
            }
            (Action::Channel(ChannelOp::Send), Effect::Ticket(ticket))
                if program.objects[object] == (Initial::Channel { capacity: Some(0) }) =>
            {
                self.then(object, Action::Channel(ChannelOp::AwaitTaken { ticket }));
            }
            _ => self.keep_books(object, action, effect),
        }
    }

    /// The last request, a spawn, made this thread.
    pub fn has_child(&mut self, child: ThreadId) {
        self.children.push(child);
    }

    /// Puts the requests of a step into `rest`, if the thread may make them.
    fn take(&mut self, step: Step) {
        match step {
            Step::On(object, action) => {
                let settles = [
                    Action::Mutex(MutexOp::Unlock),
                    Action::RwLock(RwLockOp::UnlockRead),
                    Action::RwLock(RwLockOp::UnlockWrite),
                    Action::Once(OnceOp::Complete),
                ];
                // A failed initialisation settles the same debt as a complete one.
                let debt = match action {
                    Action::Once(OnceOp::Reset) => Action::Once(OnceOp::Complete),
                    other => other,
                };
                if !settles.contains(&debt) || self.owes.contains(&(object, debt)) {
                    self.then(object, action);
                }
            }
            Step::Alone(action) => {
                self.rest.push_back(Request::Perform(Target::Nothing, action));
            }
            Step::Wait { condvar, mutex, timed } => {
                if self.owes.contains(&(mutex, Action::Mutex(MutexOp::Unlock))) {
                    self.then(condvar, Action::Condvar(CondvarOp::Enqueue));
                    self.then(mutex, Action::Mutex(MutexOp::Unlock));
                    self.then(condvar, Action::Condvar(CondvarOp::Consume { timed }));
                    self.then(mutex, Action::Mutex(MutexOp::Lock));
                }
            }
            Step::Meet(barrier) => self.then(barrier, Action::Barrier(BarrierOp::Arrive)),
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
            Step::Join(child) => self.ask_child(child, ThreadOp::Join),
            Step::IsFinished(child) => self.ask_child(child, ThreadOp::IsFinished),
            Step::SkipIfOdd(steps) => self.position += steps * (self.last & 1) as usize,
            Step::BackIfEven(steps) => {
                // Counted from this step, which has been passed already.
                let back = (steps + 1) * (self.last & 1 ^ 1) as usize;
                self.position = self.position.saturating_sub(back);
            }
            Step::Panic => self.rest.push_back(Request::Panic),
        }
    }

    fn then(&mut self, object: usize, action: Action) {
        self.rest.push_back(Request::Perform(Target::Object(object), action));
    }

    fn ask_child(&mut self, position: usize, op: ThreadOp) {
        if let Some(&child) = self.children.get(position) {
            self.rest.push_back(Request::Perform(Target::Life(child), Action::Thread(op)));
        }
    }

    /// Notes what the thread has come to hold, or has given back.
    fn keep_books(&mut self, object: usize, action: Action, effect: Effect) {
        let succeeded = effect != Effect::No;
        match action {
            Action::Mutex(MutexOp::Lock | MutexOp::TryLock) if succeeded => {
                self.owes.push((object, Action::Mutex(MutexOp::Unlock)));
            }
            Action::RwLock(RwLockOp::Read | RwLockOp::TryRead) if succeeded => {
                self.owes.push((object, Action::RwLock(RwLockOp::UnlockRead)));
            }
            Action::RwLock(RwLockOp::Write | RwLockOp::TryWrite) if succeeded => {
                self.owes.push((object, Action::RwLock(RwLockOp::UnlockWrite)));
            }
            Action::Once(OnceOp::Begin) if succeeded => {
                self.owes.push((object, Action::Once(OnceOp::Complete)));
            }
            Action::Once(OnceOp::Reset) => self.settle(object, Action::Once(OnceOp::Complete)),
            other => self.settle(object, other),
        }
    }

    fn settle(&mut self, object: usize, action: Action) {
        if let Some(debt) = self.owes.iter().position(|&owed| owed == (object, action)) {
            self.owes.remove(debt);
        }
    }
}
