//! Happens-before in a finished trace, by vector clocks.
//!
//! Dependent events are ordered as they happened; besides, a thread's events happen after its spawn.

use raddle_core::{Access, ObjectId, ThreadId, Trace};

use super::races::spawned;
use raddle_engine::causality::Clock;

/// The clocks of a trace.
pub(super) struct Clocks {
    /// By position.
    events: Vec<Clock>,
    /// By thread: the positions of its events and of its spawn, ascending.
    threads: Vec<Vec<usize>>,
    nothing: Clock,
}

/// What happened before the accesses of an object so far, including them.
#[derive(Clone, Default)]
struct Known {
    reads: Clock,
    updates: Clock,
    shares: Clock,
}

impl Clocks {
    pub(super) fn new(trace: &Trace) -> Clocks {
        let threads = trace.threads.iter().map(|info| info.id.index() + 1).max().unwrap_or(0);
        let mut clocks = Clocks {
            events: Vec::with_capacity(trace.events.len()),
            threads: vec![Vec::new(); threads],
            nothing: Clock::default(),
        };
        let mut objects = vec![Known::default(); trace.objects.len()];
        for (position, event) in trace.events.iter().enumerate() {
            let mut clock = clocks.at_announcement(event.id.thread, position).clone();
            clock.advance(event.id.thread);
            if event.op.object() != ObjectId::NONE {
                let known = &mut objects[event.op.object().index()];
                let access = event.access();
                let Known { reads, updates, shares } = known;
                for (other, passed) in [
                    (Access::Read, &*reads),
                    (Access::Update, &*updates),
                    (Access::Share, &*shares),
                ] {
                    if access.conflicts(other) {
                        clock.join(passed);
                    }
                }
                match access {
                    Access::Read => reads.join(&clock),
                    Access::Update => updates.join(&clock),
                    Access::Share => shares.join(&clock),
                }
            }
            clocks.events.push(clock);
            clocks.threads[event.id.thread.index()].push(position);
            if let Some(child) = spawned(event) {
                clocks.threads[child.index()].push(position);
            }
        }
        clocks
    }

    /// Returns what happened before the event at `position`, including the event.
    pub(super) fn of(&self, position: usize) -> &Clock {
        &self.events[position]
    }

    /// Returns what had happened before a thread at `state`: up to its last event, or its spawn.
    pub(super) fn at_announcement(&self, thread: ThreadId, state: usize) -> &Clock {
        let own = &self.threads[thread.index()];
        let before = own.partition_point(|&position| position < state);
        match before.checked_sub(1) {
            Some(last) => &self.events[own[last]],
            None => &self.nothing,
        }
    }
}
