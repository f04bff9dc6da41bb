//! Threads that unwind, the end of a run, and operations after it.

use raddle_core::{Action, Choices, Effect, Ending, Op, Panic, Pending, Site, ThreadId, ThreadOp};

use super::{Engine, RunState, Turn};
use crate::object::Object;
use crate::objects::Life;
use crate::{Kind, Memory};

impl<M: Memory> Engine<M> {
    /// A thread begins to unwind from a panic of the program.
    #[cold]
    pub fn begin_unwinding(&mut self) {
        self.end_lease();
        self.enter(RunState::Unwinding);
    }

    /// Announces the next operation of `by` like [`submit`](Engine::submit), but `by` is the only option if it is
    /// enabled: it unwinds from a panic, and the language allows one panic at a time on an OS thread. If `by` has just
    /// started, the turn goes back to its creator first.
    #[cold]
    pub fn submit_unpreempted(
        &mut self,
        by: ThreadId,
        op: Op,
        site: Site,
        choices: &mut Choices<'_>,
    ) -> Turn {
        self.announce(Kind::Any, by, &op, site);
        if self.creator.is_some() {
            return self.back_to_creator();
        }
        if self.is_enabled(by) {
            self.next_turn_of_only(by, choices)
        } else {
            self.next_turn(choices)
        }
    }

    /// Ends the run because of a panic that escaped a thread.
    pub fn fail(&mut self, panic: Panic) {
        self.end_with(Ending::Panicked(panic));
    }

    /// Blames a run that has ended well on a panic that no thread joined.
    pub fn blame(&mut self, panic: Panic) {
        if self.trace.ending == Ending::Finished {
            self.trace.ending = Ending::Panicked(panic);
        }
    }

    /// Marks a thread that was unwound after the end of the run as ended.
    pub fn exit_unrecorded(&mut self, by: ThreadId) {
        let life = self.life(by);
        self.objects[life.index()].object.set_life(Life::Ended);
    }

    /// Performs an operation of a thread that is unwound after the end of the run. Nothing is recorded. Returns `None`,
    /// with no side effect, if the operation is disabled.
    pub fn perform_unrecorded(&mut self, by: ThreadId, op: Op) -> Option<Effect> {
        match op.action() {
            Action::Atomic(_) => {
                let id = self.next_event(by);
                let location = &mut self.objects[op.object().index()].location;
                Some(self.memory.access(location, id, &op, None))
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

    /// Ends the run, and notes the operations that were announced but not performed.
    pub(super) fn end_with(&mut self, ending: Ending) -> Turn {
        self.enter(RunState::Ended);
        self.end_lease();
        if self.alive > 0 {
            let panicked = match &ending {
                Ending::Panicked(panic) => Some(panic.thread),
                Ending::Finished
                | Ending::Deadlock
                | Ending::Stopped
                | Ending::StepLimit
                | Ending::Abandoned
                | Ending::Diverged(_) => None,
            };
            let others = self.trace.threads.iter().filter(|info| Some(info.id) != panicked);
            for info in others {
                let life = self.threads[info.id.index()].life;
                let is_stopped = self.trace.stopped.iter().any(|stopped| stopped.thread == info.id);
                let is_running =
                    matches!(self.objects[life.index()].object, Object::Life(Life::Running));
                if is_running && !is_stopped {
                    let pending: Pending = self.pending[info.id.index()];
                    self.trace.pending.push(pending);
                }
            }
            // The next run begins with no enabled thread, and no thread in a list.
            for thread in self.enabled.as_slice() {
                self.pending[thread.index()].enabled = false;
            }
            self.enabled.clear();
            self.clear_links();
        }
        self.trace.ending = ending;
        Turn::END
    }
}
