//! When each thread of a run was alive.

use raddle_core::{Action, ObjectKind, ThreadId, ThreadOp, Trace};

/// The lifetimes of the threads of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lifetimes(Vec<Lifetime>);

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Lifetime {
    thread: ThreadId,
    spawn: Option<usize>,
    exit: Option<usize>,
}

impl Lifetimes {
    /// Derives the lifetimes of the threads of `trace`.
    pub fn of(trace: &Trace) -> Lifetimes {
        let unknown = |thread| Lifetime { thread, spawn: None, exit: None };
        let mut all: Vec<Lifetime> = trace.threads.iter().map(|info| unknown(info.id)).collect();
        for (position, event) in trace.events.iter().enumerate() {
            let Action::Thread(op) = event.op.action() else { continue };
            let object = trace.objects.get(event.op.object().index());
            let Some(ObjectKind::Thread(thread)) = object.map(|object| object.kind) else {
                continue;
            };
            let Some(lifetime) = all.iter_mut().find(|lifetime| lifetime.thread == thread) else {
                continue;
            };
            match op {
                ThreadOp::Spawn => lifetime.spawn = Some(position),
                ThreadOp::Exit => lifetime.exit = Some(position),
                ThreadOp::Join | ThreadOp::IsFinished => {}
            }
        }
        Lifetimes(all)
    }

    /// Returns the position of the spawn of `thread`. Returns `None` for main and for threads never spawned.
    pub fn spawn(&self, thread: ThreadId) -> Option<usize> {
        self.of_thread(thread)?.spawn
    }

    /// Returns the position of the exit of `thread`. Returns `None` if the thread did not exit.
    pub fn exit(&self, thread: ThreadId) -> Option<usize> {
        self.of_thread(thread)?.exit
    }

    fn of_thread(&self, thread: ThreadId) -> Option<&Lifetime> {
        self.0.iter().find(|lifetime| lifetime.thread == thread)
    }
}
