//! Vector clocks: how far each thread had come.

use raddle_core::{EventId, ThreadId};

/// For each thread, how many of its steps something comes after.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    /// How many steps of `thread`.
    pub(crate) fn of(&self, thread: ThreadId) -> u32 {
        self.0.get(thread.index()).copied().unwrap_or(0)
    }

    /// Whether `event` happened before, or is the thing itself, if steps are events.
    pub(crate) fn knows(&self, event: EventId) -> bool {
        self.of(event.thread) > event.index
    }

    /// Comes after what `other` comes after, too.
    pub(crate) fn join(&mut self, other: &Clock) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Comes after one more step of `thread`.
    pub(crate) fn advance(&mut self, thread: ThreadId) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, 0);
        }
        self.0[thread.index()] += 1;
    }
}
