//! Runs small programs directly on the engine, without any stacks: some ten million runs a minute.

use raddle_core::{
    Action, AtomicOp, Choices, ObjectId, Op, Order, Scalar, Site, ThreadId, ThreadOp,
};
use raddle_engine::{Engine, Initial, Kind, Memory, Substrate, Turn};

use super::program::{LENGTH, Micro, OBJECTS, THREADS};

/// The substrate of small programs. Main spawns the threads and ends.
#[derive(Debug)]
pub(crate) struct Scripted;

impl Substrate for Scripted {
    type Program = Micro;

    fn execute<M: Memory>(
        &mut self,
        engine: &mut Engine<M>,
        choices: Choices<'_>,
        program: &Micro,
    ) {
        engine.begin(&choices);
        let mut run = Run {
            engine,
            choices,
            program,
            objects: [None; OBJECTS],
            spawned: 0,
            child: ObjectId::NONE,
            script: [(0, 0); THREADS + 1],
        };
        let mut next = run.announce(ThreadId::MAIN);
        while let Some(thread) = next.thread() {
            match run.turn(thread) {
                Some(turn) => next = turn,
                None => break,
            }
        }
    }
}

struct Run<'a, 'c, M: Memory> {
    engine: &'a mut Engine<M>,
    choices: Choices<'c>,
    program: &'a Micro,
    /// What objects are called in this run, once announced.
    objects: [Option<ObjectId>; OBJECTS],
    spawned: usize,
    /// The thread that main is about to spawn.
    child: ObjectId,
    /// By [`ThreadId`]: which script, and how far in it.
    script: [(usize, usize); THREADS + 1],
}

impl<M: Memory> Run<'_, '_, M> {
    fn announce(&mut self, thread: ThreadId) -> Turn {
        if thread == ThreadId::MAIN && self.spawned < THREADS {
            let (_, life) = self.engine.declare_child(thread, Site::UNKNOWN);
            self.child = life;
            let op = Op::new(life, Action::Thread(ThreadOp::Spawn));
            return self.submit(Kind::Any, thread, op);
        }
        match self.next(thread) {
            Some(op) => self.submit(Kind::Atomic, thread, op),
            None => self.engine.submit_exit(thread, &mut self.choices),
        }
    }

    fn submit(&mut self, kind: Kind, thread: ThreadId, op: Op) -> Turn {
        self.engine.submit(kind, thread, &op, Site::UNKNOWN, &mut self.choices)
    }

    /// What `thread` does next, if it does anything.
    fn next(&mut self, thread: ThreadId) -> Option<Op> {
        let (script, at) = self.script[thread.index()];
        if thread == ThreadId::MAIN || at == LENGTH {
            return None;
        }
        let step = self.program.threads[script][at];
        let engine = &mut *self.engine;
        let object = *self.objects[step.object].get_or_insert_with(|| {
            let object = engine.declare(thread, Initial::Atomic(Scalar::U64, 0), Site::UNKNOWN);
            engine.identify(object, step.object as u64 + 1);
            object
        });
        let order = Order::SeqCst;
        let action = if step.writes {
            AtomicOp::Store { order, value: 0 }
        } else {
            AtomicOp::Load { order }
        };
        Some(Op::new(object, Action::Atomic(action)))
    }

    /// `thread` performs what it announced. Whose turn is it then? `None` if the run has ended.
    fn turn(&mut self, thread: ThreadId) -> Option<Turn> {
        if thread == ThreadId::MAIN && self.spawned < THREADS {
            let child = self.engine.start(thread, self.child, Site::UNKNOWN);
            self.script[child.index()] = (self.spawned, 0);
            self.spawned += 1;
            self.announce(child);
            return Some(self.announce(thread));
        }
        match self.next(thread) {
            Some(op) => {
                let kind = Kind::Atomic;
                self.engine.perform(kind, thread, &op, Site::UNKNOWN, &mut self.choices)?;
                self.script[thread.index()].1 += 1;
                Some(self.announce(thread))
            }
            None => Some(self.engine.exit(thread, &mut self.choices)),
        }
    }
}
