//! The beginnings and ends of threads.

use raddle_core::{Choices, Ending, ObjectId, ObjectInfo, ObjectKind, Op, Site, ThreadId};

use super::{Engine, RunState, Thread, Turn};
use crate::objects::Life;
use crate::{Kind, Memory};

impl<M: Memory> Engine<M> {
    /// Declares the thread that `by` is about to spawn, and the object for the announcement of its spawn.
    pub fn declare_child(&mut self, by: ThreadId, site: Site) -> (ThreadId, ObjectId) {
        let parent = &mut self.threads[by.index()];
        let (name, position) = (parent.next, parent.children);
        parent.children += 1;
        let child = match self.thread_ids.child(by, position) {
            Some(child) => child,
            None => self.register_child(by, position),
        };
        if self.thread_count <= child.index() {
            self.make_room_for(child);
        }
        let kind = ObjectKind::Thread(child);
        let life = self.add_object(ObjectInfo { kind, initial: 0, identity: 0, name, site });
        self.objects[life.index()].object.set_life(Life::NotStarted);
        let state = &mut self.threads[child.index()];
        state.life = life;
        self.trace.threads.push(state.info);
        (child, life)
    }

    /// Registers a child of `by` that no earlier run has had.
    #[cold]
    fn register_child(&mut self, by: ThreadId, position: u32) -> ThreadId {
        let known = self.thread_ids.count();
        let child = self.thread_ids.register_child(by, position);
        // Under other thread ids these may have been other threads.
        for id in known..self.thread_ids.count().min(self.thread_count) {
            let thread = ThreadId(id as u32);
            let (info, first) = (self.thread_ids.info(thread), self.thread_ids.first_event(thread));
            self.threads[id] = Thread::absent(info, first);
        }
        child
    }

    /// The object that tells whether `thread` has ended.
    #[inline(always)]
    pub fn life(&self, thread: ThreadId) -> ObjectId {
        self.threads[thread.index()].life
    }

    /// Performs the spawn that `creator`, whose turn it is, announced, and returns the new thread. That thread is to run
    /// up to its first announcement.
    pub fn start(&mut self, creator: ThreadId, life: ObjectId, site: Site) -> ThreadId {
        let ObjectKind::Thread(child) = self.trace.objects[life.index()].kind else {
            unreachable!("raddle invariant broken: spawn of {life:?}")
        };
        let op = Op::SPAWN.on(life);
        self.perform_on_object(Kind::Any, creator, &op, site, None, Some(child));
        let time = self.time(creator);
        self.threads[child.index()].begin(life, time);
        self.enable(child);
        self.alive += 1;
        self.max_alive = self.max_alive.max(self.alive);
        self.end_lease();
        self.creator = creator;
        self.running = child;
        self.enter(RunState::Starting);
        child
    }

    /// Announces that `by` is about to end, and returns the turn that follows. The thread [`exit`](Engine::exit)s when
    /// it has its turn.
    #[inline(always)]
    pub fn submit_exit(&mut self, by: ThreadId, choices: &mut Choices<'_>) -> Turn {
        let op = Op::EXIT.on(self.life(by));
        self.submit(Kind::Any, by, &op, Site::UNKNOWN, choices)
    }

    /// Performs the exit that `by`, whose turn it is, announced, and returns the turn that follows.
    pub fn exit(&mut self, by: ThreadId, choices: &mut Choices<'_>) -> Turn {
        let op = Op::EXIT.on(self.life(by));
        self.perform_on_object(Kind::Any, by, &op, Site::UNKNOWN, None, None);
        self.disable(by);
        self.alive -= 1;
        self.ended.push(by);
        if self.alive == 0 && self.followed >= self.prefix.len() {
            return self.end_with(Ending::Finished);
        }
        self.next_turn(choices)
    }

    /// Returns a thread that has ended and whose stack can be used again. Each is returned once.
    pub fn take_ended(&mut self) -> Option<ThreadId> {
        self.ended.pop()
    }
}
