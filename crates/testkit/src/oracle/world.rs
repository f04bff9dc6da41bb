//! The state of a program, and its history.

use std::collections::BTreeMap;

use raddle_core::{Action, Effect, MutexOp, RwLockOp, ThreadId, ThreadOp};

use super::model::{Model, is_reader, only_read};
use super::{EventName, Key, Path, child};
use crate::{Actor, Program, Request, Target};

/// The state of a program during an execution.
#[derive(Clone, Debug)]
pub struct World<'a> {
    program: &'a Program,
    objects: BTreeMap<Target, Model>,
    /// In the order of their spawns. The id of a thread is its index.
    threads: Vec<Thread>,
    history: Vec<Performed>,
    /// The locks that threads hold, by place; once for each acquisition.
    held: Vec<(Target, usize)>,
    panicked: bool,
}

#[derive(Clone, Debug)]
struct Thread {
    actor: Actor,
    path: Path,
    children: u32,
    events: u32,
    request: Request,
    ended: bool,
}

#[derive(Clone, Debug)]
struct Performed {
    name: EventName,
    target: Target,
    effect: Effect,
    /// Whether the operation left its object unchanged.
    reads: bool,
    /// Whether a reader of a reader-writer lock came or left.
    is_reader: bool,
}

/// How an execution ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Main has ended, no thread is enabled, and none waits for itself by way of others.
    Finished,
    /// No thread is enabled, and main has not ended or a thread waits for itself by way of others.
    Deadlock,
    /// No thread is enabled, and one was stopped.
    Stopped,
    /// A thread panicked.
    Panicked,
}

impl<'a> World<'a> {
    /// Returns the initial state of a program.
    pub fn new(program: &'a Program) -> World<'a> {
        let objects = program
            .objects
            .iter()
            .enumerate()
            .map(|(position, &initial)| (Target::Object(position), Model::new(initial)))
            .collect();
        let (threads, history, held) = (Vec::new(), Vec::new(), Vec::new());
        let mut world = World { program, objects, threads, history, held, panicked: false };
        world.add_thread(0, ThreadId::MAIN, 0);
        world
    }

    /// Returns the enabled threads, each with a number for it to choose. The number is 0 if it chooses none.
    pub fn options(&self) -> Vec<(usize, u64)> {
        if self.panicked {
            return Vec::new();
        }
        let mut options = Vec::new();
        for (place, thread) in self.threads.iter().enumerate() {
            match thread.request {
                _ if !self.is_enabled(place) => {}
                Request::Perform(_, Action::Choose { bound, .. }) => {
                    options.extend((0..u64::from(bound)).map(|value| (place, value)));
                }
                Request::Perform(..)
                | Request::Spawn(_)
                | Request::Exit
                | Request::Stop
                | Request::Panic => {
                    options.push((place, 0));
                }
            }
        }
        options
    }

    /// Returns whether the thread at `place` is enabled.
    pub fn is_enabled(&self, place: usize) -> bool {
        let thread = &self.threads[place];
        match thread.request {
            _ if thread.ended || self.panicked => false,
            Request::Stop => false,
            Request::Perform(target, action) => match self.objects.get(&target) {
                Some(model) => model.allows(action, handle(place)),
                None => target == Target::Nothing || self.new_parker_allows(target, action),
            },
            Request::Spawn(_) | Request::Exit | Request::Panic => true,
        }
    }

    /// Performs the next step of the thread at `place`, which chooses `value` if it chooses a number. Returns the
    /// effect.
    pub fn step(&mut self, place: usize, value: u64) -> Effect {
        let program = self.program;
        match self.threads[place].request {
            Request::Perform(target, action) => {
                let effect = self.perform(place, target, action, value);
                self.hold(place, target, action, effect);
                self.record(place, target, effect, Some(action));
                self.threads[place].actor.observe(program, effect);
                self.advance(place);
                effect
            }
            Request::Spawn(script) => {
                let spawned = handle(self.threads.len());
                self.record(place, Target::Life(spawned), Effect::None, None);
                let parent = &mut self.threads[place];
                let path = child(parent.path, parent.children);
                parent.children += 1;
                self.add_thread(path, handle(place), script);
                self.threads[place].actor.add_child(spawned);
                if !self.panicked {
                    self.advance(place);
                }
                Effect::None
            }
            Request::Exit => {
                self.perform(place, Target::Life(handle(place)), exit(), 0);
                self.record(place, Target::Life(handle(place)), Effect::None, None);
                self.threads[place].ended = true;
                Effect::None
            }
            Request::Stop | Request::Panic => panic!("a stop or a panic is never enabled"),
        }
    }

    /// Returns how the execution ended. No thread may be enabled.
    pub fn outcome(&self) -> Outcome {
        let is_stopped = |thread: &Thread| thread.request == Request::Stop;
        match (self.panicked, self.threads[0].ended) {
            (true, _) => Outcome::Panicked,
            (false, _) if self.has_cycle() => Outcome::Deadlock,
            (false, _) if self.threads.iter().any(is_stopped) => Outcome::Stopped,
            (false, true) => Outcome::Finished,
            (false, false) => Outcome::Deadlock,
        }
    }

    /// Notes the lock that the thread at `place` has acquired or released, if it has.
    fn hold(&mut self, place: usize, target: Target, action: Action, effect: Effect) {
        match (action, effect) {
            (
                Action::Mutex(MutexOp::Lock) | Action::RwLock(RwLockOp::Read | RwLockOp::Write),
                _,
            )
            | (
                Action::Mutex(MutexOp::TryLock)
                | Action::RwLock(RwLockOp::TryRead | RwLockOp::TryWrite),
                Effect::Yes,
            ) => self.held.push((target, place)),
            (
                Action::Mutex(MutexOp::Unlock)
                | Action::RwLock(RwLockOp::UnlockRead | RwLockOp::UnlockWrite),
                _,
            ) => {
                let released = self.held.iter().position(|held| *held == (target, place));
                self.held.swap_remove(released.expect("a thread releases what it holds"));
            }
            _ => {}
        }
    }

    /// Returns whether a blocked thread waits for itself: for a lock, or the end, of a thread that waits, and so on.
    fn has_cycle(&self) -> bool {
        let blockers = |place: usize| -> Vec<usize> {
            let thread = &self.threads[place];
            match thread.request {
                _ if thread.ended => Vec::new(),
                Request::Perform(Target::Life(joined), _) => vec![joined.index()],
                Request::Perform(target, Action::Mutex(_) | Action::RwLock(_)) => {
                    let holders = self.held.iter().filter(|held| held.0 == target);
                    holders.map(|held| held.1).collect()
                }
                Request::Perform(..)
                | Request::Spawn(_)
                | Request::Exit
                | Request::Stop
                | Request::Panic => Vec::new(),
            }
        };
        (0..self.threads.len()).any(|place| {
            let mut reached = blockers(place);
            for _ in 0..self.threads.len() {
                let more: Vec<usize> = reached.iter().flat_map(|&by| blockers(by)).collect();
                reached.extend(more);
                reached.sort_unstable();
                reached.dedup();
            }
            reached.contains(&place)
        })
    }

    /// Returns the place of the thread with this spawn path.
    pub fn place_of(&self, path: Path) -> Option<usize> {
        self.threads.iter().position(|thread| thread.path == path)
    }

    /// Returns the spawn path of the thread at `place`.
    pub fn path_of(&self, place: usize) -> Path {
        self.threads[place].path
    }

    /// Returns the pending request of the thread at `place`, or its last one if it has ended.
    pub fn request(&self, place: usize) -> Request {
        self.threads[place].request
    }

    /// Returns the state without its history, as text: equal states have equal continuations.
    pub fn state(&self) -> String {
        let threads: Vec<_> = self
            .threads
            .iter()
            .map(|thread| (&thread.actor, thread.request, thread.ended))
            .collect();
        format!("{threads:?} {:?} {}", self.objects, self.panicked)
    }

    /// Returns whether a thread has panicked.
    pub fn has_panicked(&self) -> bool {
        self.panicked
    }

    /// Returns the number of threads that have been spawned, main included.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Returns the equivalence class of the execution so far.
    pub fn key(&self) -> Key {
        let chosen = |performed: &Performed| match (performed.target, performed.effect) {
            (Target::Nothing, Effect::Value(value)) => Some(value),
            _ => None,
        };
        let history = &self.history;
        let mut events: Vec<_> = history.iter().map(|event| (event.name, chosen(event))).collect();
        let mut order = Vec::new();
        for (position, later) in history.iter().enumerate() {
            let earlier = history[..position].iter().filter(|earlier| conflict(earlier, later));
            order.extend(earlier.map(|earlier| (earlier.name, later.name)));
        }
        events.sort_unstable();
        order.sort_unstable();
        Key { events, order }
    }

    fn add_thread(&mut self, path: Path, parent: ThreadId, script: usize) {
        let me = handle(self.threads.len());
        let actor = Actor::new(me, parent, script);
        let request = Request::Exit;
        self.threads.push(Thread { actor, path, children: 0, events: 0, request, ended: false });
        self.objects.insert(Target::Life(me), Model::Life { ended: false });
        self.advance(self.threads.len() - 1);
    }

    /// Sets the next request of the thread at `place`.
    fn advance(&mut self, place: usize) {
        let thread = &mut self.threads[place];
        thread.request = thread.actor.next(self.program);
        self.panicked |= thread.request == Request::Panic;
    }

    /// Returns whether a park token that has not been used allows `action`.
    fn new_parker_allows(&self, target: Target, action: Action) -> bool {
        assert!(matches!(target, Target::Parker(_)), "{target:?} does not exist");
        Model::Parker { token: false }.allows(action, ThreadId::MAIN)
    }

    fn perform(&mut self, place: usize, target: Target, action: Action, value: u64) -> Effect {
        if target == Target::Nothing {
            return match action {
                Action::Choose { .. } => Effect::Value(value),
                _ => Effect::None,
            };
        }
        let model = self.objects.entry(target).or_insert(Model::Parker { token: false });
        model.perform(action, handle(place))
    }

    /// Adds a step to the history. `action` is `None` for spawns and exits.
    fn record(&mut self, place: usize, target: Target, effect: Effect, action: Option<Action>) {
        let reads = action.is_some_and(|action| only_read(action, effect));
        let is_reader = action.is_some_and(|action| is_reader(action, effect));
        let thread = &mut self.threads[place];
        let name = (thread.path, thread.events);
        thread.events += 1;
        self.history.push(Performed { name, target, effect, reads, is_reader });
    }
}

fn conflict(a: &Performed, b: &Performed) -> bool {
    a.name.0 != b.name.0
        && a.target == b.target
        && a.target != Target::Nothing
        && !(a.reads && b.reads)
        && !(a.is_reader && b.is_reader)
}

fn handle(place: usize) -> ThreadId {
    ThreadId(place as u32)
}

fn exit() -> Action {
    Action::Thread(ThreadOp::Exit)
}
