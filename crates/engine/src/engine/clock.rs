//! Loops that read the clock until a deadline.
//!
//! Virtual time passes for threads that sleep or whose wait times out. A thread that only looks at the clock again and again
//! would see the same time forever. So if it has read the clock often without changing anything, time passes for it, ever
//! faster. That depends on the steps of this thread alone, so that it is the same in every equivalent run and in a replay.

use alloc::vec::Vec;

use raddle_core::{Event, ObjectId, ThreadId};

use super::Engine;
use crate::Memory;

/// A thread reads the clock this often before time passes: other threads should have had their turn by then.
const PATIENT_READS: u32 = 1_000;
/// The time that passes at the first reading after that, in nanoseconds. It doubles with each.
const FIRST_STEP: u64 = 1_000;

/// The readings of the clock in a run.
#[derive(Debug, Default)]
pub(super) struct ClockReads {
    /// By thread.
    threads: Vec<Reads>,
}

#[derive(Clone, Debug, Default)]
struct Reads {
    /// The number of events of the run at the last reading.
    events: usize,
    /// The readings since the thread last changed something.
    count: u32,
}

impl ClockReads {
    /// Forgets the last run.
    #[inline(always)]
    pub(super) fn begin(&mut self) {
        if !self.threads.is_empty() {
            self.threads.clear();
        }
    }

    /// Notes that `by` reads the clock after `events`. Returns the time that passes for it.
    fn note(&mut self, by: ThreadId, events: &[Event]) -> u64 {
        if self.threads.len() <= by.index() {
            self.threads.resize(by.index() + 1, Reads::default());
        }
        let reads = &mut self.threads[by.index()];
        let changes = |event: &Event| {
            event.id.thread == by && event.op.object() != ObjectId::NONE && event.access().changes()
        };
        // After the end of a run its trace may have been cut back.
        let has_changed = events.iter().skip(reads.events).any(changes);
        reads.count = if has_changed { 0 } else { reads.count + 1 };
        reads.events = events.len();
        match reads.count.checked_sub(PATIENT_READS) {
            None => 0,
            Some(more) => FIRST_STEP.saturating_mul(1 << more.min(40)),
        }
    }
}

impl<M: Memory> Engine<M> {
    /// Returns the virtual time of `by`, which reads the clock, in nanoseconds.
    #[cold]
    pub fn read_clock(&mut self, by: ThreadId) -> u64 {
        self.note_clock(by);
        let passed = self.clock_reads.note(by, &self.trace.events);
        if passed > 0 && !self.state.is_over() {
            self.advance(by, passed);
        }
        self.time(by)
    }
}
