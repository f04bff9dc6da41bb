//! The whole state of a program, and its history.

use std::collections::BTreeMap;

use raddle_core::{Action, Effect, ThreadId, ThreadOp};

use super::model::{Model, only_read};
use super::{EventName, Key, Path, child};
use crate::{Actor, Program, Request, Target};

/// A program in the middle of an execution.
#[derive(Clone, Debug)]
pub struct World<'a> {
    program: &'a Program,
    objects: BTreeMap<Target, Model>,
    /// In the order of their spawns; the handle of a thread is its place here.
    threads: Vec<Thread>,
    history: Vec<Happening>,
    panicked: bool,
}

#[derive(Clone, Debug)]
struct Thread {
    actor: Actor,
    path: Path,
    children: u32,
    events: u32,
    wants: Request,
    ended: bool,
}

#[derive(Clone, Debug)]
struct Happening {
    name: EventName,
    target: Target,
    effect: Effect,
    reads: bool,
}

/// How an execution ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Main has ended and nobody can go on.
    Finished,
    /// Nobody can go on.
    Deadlock,
    /// A thread panicked.
    Panicked,
}

impl<'a> World<'a> {
    /// A program about to begin.
    pub fn new(program: &'a Program) -> World<'a> {
        let objects = program
            .objects
            .iter()
            .enumerate()
            .map(|(position, &initial)| (Target::Object(position), Model::new(initial)))
            .collect();
        let history = Vec::new();
        let mut world = World { program, objects, threads: Vec::new(), history, panicked: false };
        world.begin(0, ThreadId::MAIN, 0);
        world
    }

    /// Who can go on, and with which number if it is about to choose one.
    pub fn options(&self) -> Vec<(usize, u64)> {
        if self.panicked {
            return Vec::new();
        }
        let mut options = Vec::new();
        for (place, thread) in self.threads.iter().enumerate() {
            match thread.wants {
                _ if !self.can_go_on(place) => {}
                Request::Perform(_, Action::Choose { bound }) => {
                    options.extend((0..u64::from(bound)).map(|value| (place, value)));
                }
                Request::Perform(..) | Request::Spawn(_) | Request::Exit | Request::Panic => {
                    options.push((place, 0));
                }
            }
        }
        options
    }

    /// Whether the thread at `place` can go on.
    pub fn can_go_on(&self, place: usize) -> bool {
        let thread = &self.threads[place];
        match thread.wants {
            _ if thread.ended || self.panicked => false,
            Request::Perform(target, action) => match self.objects.get(&target) {
                Some(model) => model.allows(action, handle(place)),
                None => target == Target::Nothing || self.untouched(target, action),
            },
            Request::Spawn(_) | Request::Exit | Request::Panic => true,
        }
    }

    /// Lets the thread at `place` do what it wants; `value` is what it chooses, if it does. Returns
    /// what it is told.
    pub fn step(&mut self, place: usize, value: u64) -> Effect {
        let program = self.program;
        match self.threads[place].wants {
            Request::Perform(target, action) => {
                let effect = self.perform(place, target, action, value);
                self.record(place, target, effect, only_read(action, effect));
                self.threads[place].actor.told(program, effect);
                self.want(place);
                effect
            }
            Request::Spawn(script) => {
                let spawned = handle(self.threads.len());
                self.record(place, Target::Life(spawned), Effect::None, false);
                let parent = &mut self.threads[place];
                let path = child(parent.path, parent.children);
                parent.children += 1;
                self.begin(path, handle(place), script);
                self.threads[place].actor.has_child(spawned);
                if !self.panicked {
                    self.want(place);
                }
                Effect::None
            }
            Request::Exit => {
                self.perform(place, Target::Life(handle(place)), exit(), 0);
                self.record(place, Target::Life(handle(place)), Effect::None, false);
                self.threads[place].ended = true;
                Effect::None
            }
            Request::Panic => panic!("a panic happens at once"),
        }
    }

    /// How it ended; only if nobody can go on.
    pub fn outcome(&self) -> Outcome {
        match (self.panicked, self.threads[0].ended) {
            (true, _) => Outcome::Panicked,
            (false, true) => Outcome::Finished,
            (false, false) => Outcome::Deadlock,
        }
    }

    /// Which thread has this spawn path.
    pub fn place_of(&self, path: Path) -> Option<usize> {
        self.threads.iter().position(|thread| thread.path == path)
    }

    /// The spawn path of the thread at `place`.
    pub fn path_of(&self, place: usize) -> Path {
        self.threads[place].path
    }

    /// What the thread at `place` wants next, or wanted last.
    pub fn wants(&self, place: usize) -> Request {
        self.threads[place].wants
    }

    /// The class of what has happened so far.
    pub fn key(&self) -> Key {
        let chosen = |happening: &Happening| match (happening.target, happening.effect) {
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

    fn begin(&mut self, path: Path, parent: ThreadId, script: usize) {
        let me = handle(self.threads.len());
        let actor = Actor::new(me, parent, script);
        let wants = Request::Exit;
        self.threads.push(Thread { actor, path, children: 0, events: 0, wants, ended: false });
        self.objects.insert(Target::Life(me), Model::Life { ended: false });
        self.want(self.threads.len() - 1);
    }

    fn want(&mut self, place: usize) {
        let thread = &mut self.threads[place];
        thread.wants = thread.actor.next(self.program);
        self.panicked |= thread.wants == Request::Panic;
    }

    /// Park tokens come into being when they are first used.
    fn untouched(&self, target: Target, action: Action) -> bool {
        assert!(matches!(target, Target::Parker(_)), "{target:?} is unknown");
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

    fn record(&mut self, place: usize, target: Target, effect: Effect, reads: bool) {
        let thread = &mut self.threads[place];
        let name = (thread.path, thread.events);
        thread.events += 1;
        self.history.push(Happening { name, target, effect, reads });
    }
}

fn conflict(a: &Happening, b: &Happening) -> bool {
    a.name.0 != b.name.0
        && a.target == b.target
        && a.target != Target::Nothing
        && !(a.reads && b.reads)
}

fn handle(place: usize) -> ThreadId {
    ThreadId(place as u32)
}

fn exit() -> Action {
    Action::Thread(ThreadOp::Exit)
}
