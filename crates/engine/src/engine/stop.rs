//! Threads that go no further in a run.

use raddle_core::{Choices, Site, StopReason, Stopped, ThreadId, Trace};

use super::{Engine, RunState, Turn};
use crate::Memory;

impl<M: Memory> Engine<M> {
    /// Stops the running thread because what the program assumed does not hold, and returns the turn that follows. The
    /// thread never has its turn again.
    #[cold]
    pub fn stop(&mut self, by: ThreadId, site: Site, choices: &mut Choices<'_>) -> Turn {
        self.end_lease();
        let after = self.trace.events.len();
        let why = StopReason::Assumption;
        self.trace.stopped.push(Stopped { thread: by, after, site, why });
        self.disable(by);
        if self.needs.changes {
            self.note_change(by);
        }
        if self.state == RunState::Starting {
            return self.back_to_creator();
        }
        self.next_turn(choices)
    }

    /// Returns the threads that have not ended when the run is over, those that were stopped last.
    pub fn unfinished_threads(&self) -> impl Iterator<Item = ThreadId> {
        let Trace { pending, stopped, .. } = self.whole_trace();
        let stopped = stopped.iter().map(|stopped| stopped.thread);
        pending.iter().map(|pending| pending.thread).chain(stopped)
    }

    /// Returns whether there are [unfinished threads](Engine::unfinished_threads).
    #[inline(always)]
    pub fn has_unfinished_threads(&self) -> bool {
        let Trace { pending, stopped, .. } = self.whole_trace();
        !pending.is_empty() || !stopped.is_empty()
    }
}
