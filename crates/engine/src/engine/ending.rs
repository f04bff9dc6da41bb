//! Threads that unwind, and the end of a run: what is done before it and after.

use raddle_core::{Action, Chooser, Effect, Ending, Op, Panic, Pending, Site, ThreadId, ThreadOp};

use super::{Engine, Lease, NOBODY, Turn};
use crate::Memory;
use crate::known::AnyOp;
use crate::object::Object;
use crate::objects::Life;

impl<M: Memory, C: Chooser> Engine<M, C> {
    /// The running thread goes on with a question at its next step.
    #[cold]
    pub fn end_lease(&mut self) {
        self.lease = Lease::NONE;
        self.ahead = 0;
    }

    /// Puts `by`, which announced `op` without it, among those who wait for its object.
    #[cold]
    pub fn line_up_late(&mut self, by: ThreadId, op: Op) {
        self.line_up::<AnyOp>(by, &op);
    }

    /// As [`submit`](Engine::submit), but `by` is the only option if it can go on: it is unwinding
    /// from a panic, and the language allows one panic at a time on an OS thread. A thread that begins by unwinding
    /// gives the turn back to its creator first, as any other: nobody could be chosen before that has announced
    /// something too.
    #[cold]
    pub fn submit_unpreempted(&mut self, by: ThreadId, op: Op, site: Site) -> Turn {
        self.announce::<AnyOp>(by, &op, site);
        if self.creator != NOBODY {
            return self.back_to_creator();
        }
        if self.is_enabled(by) { self.only_turn(by) } else { self.next_turn() }
    }

    /// Ends the run because of a panic that escaped a thread.
    pub fn fail(&mut self, panic: Panic) {
        self.trace.ending = Ending::Panicked(panic);
        self.end();
    }

    /// Lays a run that has ended well to the charge of a panic that nobody heard of.
    pub fn blame(&mut self, panic: Panic) {
        if self.trace.ending == Ending::Finished {
            self.trace.ending = Ending::Panicked(panic);
            self.unusual = true;
        }
    }

    /// Counts a thread that was unwound after the end of the run as ended.
    pub fn settle_exit(&mut self, by: ThreadId) {
        let life = self.threads[by.index()].life;
        self.objects[life.index()].object.become_life(Life::Ended);
    }

    /// Performs an operation of a thread that is being unwound after the end of the run. It is not
    /// recorded. `None` if it cannot be performed now.
    pub fn settle(&mut self, by: ThreadId, op: Op) -> Option<Effect> {
        match op.action() {
            Action::Atomic(_) => {
                let id = self.next_event(by);
                let location = &mut self.objects[op.object().index()].location;
                Some(self.memory.access::<AnyOp>(location, id, &op, None))
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
                let object = &mut self.objects[op.object().index()].object;
                object.enabled(op, by).then(|| object.apply(op, by))
            }
        }
    }

    /// Ends the run; its ending has been written down, unless it is the ordinary one.
    #[cold]
    pub(super) fn end(&mut self) {
        self.over = true;
        self.ahead = 0;
        self.unusual = true;
        if self.alive > 0 {
            self.look_at_stale_objects();
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
                    let enabled = self.is_enabled(info.id);
                    let pending = self.pending[info.id.index()];
                    let op = pending.op.in_plain_words();
                    let pending = Pending { enabled, op, ..pending };
                    self.trace.pending.push(pending);
                }
            }
        }
        // A run that ended in the middle has nobody left to run.
        for thread in self.enabled.as_slice() {
            self.pending[thread.index()].enabled = false;
        }
        self.enabled.clear();
        self.lease = Lease::NONE;
    }
}
