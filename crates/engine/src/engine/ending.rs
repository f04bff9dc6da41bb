//! The end of a run, and operations after it.

use alloc::vec::Vec;

use raddle_core::{Action, Effect, Ending, Op, Panic, Pending, ThreadId, ThreadOp};

use super::{Engine, RunState, Turn};
use crate::Memory;
use crate::objects::Life;

impl<M: Memory> Engine<M> {
    /// Blames a run that has ended well on a panic that no thread joined.
    pub fn blame(&mut self, panic: Panic) {
        let trace = self.whole_trace_mut();
        if trace.ending == Ending::Finished {
            trace.ending = Ending::Panicked(panic);
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
            | Action::Channel(_)
            | Action::Semaphore(_)
            | Action::Futex(_) => {
                let object = &mut self.objects[op.object().index()].object;
                object.enabled(op, by).then(|| object.apply(op, by))
            }
        }
    }

    /// Ends the run, and notes the operations that were announced but not performed.
    pub(super) fn end_with(&mut self, ending: Ending) -> Turn {
        self.enter(RunState::Ended);
        self.end_lease();
        self.record_sleepers();
        if self.alive > 0 {
            let panicked = match &ending {
                Ending::Panicked(panic) => Some(panic.thread),
                Ending::Finished
                | Ending::Deadlock
                | Ending::Stopped
                | Ending::StepLimit
                | Ending::TimeLimit
                | Ending::Abandoned
                | Ending::Diverged(_) => None,
            };
            let unfinished: Vec<Pending> = self.unfinished(panicked).collect();
            self.trace.pending = unfinished;
            // The next run begins with no enabled thread, and no thread in a list.
            for thread in self.enabled.as_slice() {
                self.pending[thread.index()].enabled = false;
            }
            self.enabled.clear();
            self.clear_links();
        }
        self.trace.ending = ending;
        if self.is_leading() {
            self.cut_tail();
        }
        Turn::END
    }
}
