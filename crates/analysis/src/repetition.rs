//! What the threads of an execution that does not end repeat.

use std::cmp::Reverse;

use raddle_core::{Event, Trace};

/// The number of steps at the end of a run that are looked at.
const RECENT_STEPS: usize = 1000;

/// The operations in the last steps of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Repetition<'a> {
    /// The number of steps looked at.
    pub steps: usize,
    /// The operations, most frequent first.
    pub operations: Vec<Repeated<'a>>,
}

/// An operation that one thread performs at one line.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Repeated<'a> {
    /// How many times it is performed.
    pub times: u64,
    /// Its first event among the steps looked at.
    pub event: &'a Event,
}

impl Repetition<'_> {
    /// Counts the operations in the last steps of `trace`.
    pub fn of(trace: &Trace) -> Repetition<'_> {
        let recent = &trace.events[trace.events.len().saturating_sub(RECENT_STEPS)..];
        let mut operations: Vec<Repeated<'_>> = Vec::new();
        for event in recent {
            let same = |known: &&mut Repeated<'_>| {
                let known = known.event;
                (known.id.thread, known.site, known.op) == (event.id.thread, event.site, event.op)
            };
            match operations.iter_mut().find(same) {
                Some(known) => known.times += 1,
                None => operations.push(Repeated { times: 1, event }),
            }
        }
        // Stable: operations performed equally often stay in the order of the run.
        operations.sort_by_key(|operation| Reverse(operation.times));
        Repetition { steps: recent.len(), operations }
    }
}
