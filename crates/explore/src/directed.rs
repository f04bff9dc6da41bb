//! Runs that try to turn a lock-order inversion into a deadlock.
//!
//! [`Directed`] follows a recorded run, but holds each thread of a [`Suspicion`] back where it is about to
//! acquire its second lock, until the others have arrived. The result is an execution like any other.

use raddle_analysis::Suspicion;
use raddle_core::{Chooser, Event, EventId, Pick, Point, ThreadId, Trace};

/// Follows a recorded run as far as possible, but holds some threads back before a certain event.
#[derive(Clone, Debug)]
pub(crate) struct Directed {
    /// The events before which threads are held back.
    stops: Vec<EventId>,
    /// The order of events in the recorded run.
    order: Vec<EventId>,
    /// The number of events each thread has performed.
    done: Vec<u32>,
    /// The number of events counted in `done`.
    counted: usize,
    /// Invariant: every event of `order` before this position has been performed.
    next: usize,
}

impl Directed {
    pub(crate) fn new(trace: &Trace, suspicion: &Suspicion) -> Directed {
        Directed {
            stops: suspicion.waits.clone(),
            order: trace.events.iter().map(|event| event.id).collect(),
            done: Vec::new(),
            counted: 0,
            next: 0,
        }
    }

    fn count(&mut self, past: &[Event]) {
        for event in &past[self.counted..] {
            let index = event.id.thread.index();
            if self.done.len() <= index {
                self.done.resize(index + 1, 0);
            }
            self.done[index] = event.id.index + 1;
        }
        self.counted = past.len();
    }

    fn coming(&self, thread: ThreadId) -> EventId {
        EventId { thread, index: self.done.get(thread.index()).copied().unwrap_or(0) }
    }
}

impl Chooser for Directed {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else { return Pick::Take(0) };
        self.count(past);
        while self.order.get(self.next).is_some_and(|event| {
            self.done.get(event.thread.index()).is_some_and(|&done| done > event.index)
        }) {
            self.next += 1;
        }
        let rank = |option: &usize| {
            let coming = self.coming(threads.enabled[*option]);
            let is_held_back = self.stops.contains(&coming);
            let ahead = &self.order[self.next..];
            let place = ahead.iter().position(|event| *event == coming).unwrap_or(ahead.len());
            (is_held_back, place, coming.thread)
        };
        let option = (0..threads.enabled.len()).min_by_key(rank);
        Pick::Take(option.expect("raddle invariant broken: a thread point without options"))
    }
}
