//! Runs that have the steps of a recorded run in another order.

use raddle_core::{
    Chooser, Effect, Event, EventId, IdleRounds, Needs, Pick, Point, ThreadId, Trace,
};

/// Follows an order of the steps of a recorded run. Loads read the stores that they read there, and stores have
/// the place in modification order that they had there. A run that cannot follow is abandoned.
#[derive(Clone, Debug)]
pub struct InOrder {
    steps: Vec<Step>,
    /// The number of steps begun.
    begun: usize,
    is_lost: bool,
}

/// A step, and what it chose besides its thread.
#[derive(Copy, Clone, Debug)]
struct Step {
    thread: ThreadId,
    /// The store chosen. `None` stands for the newest.
    store: Option<EventId>,
    /// The number chosen.
    value: usize,
}

impl InOrder {
    /// Makes a chooser for the events of `trace` in `order`, which holds positions in `trace.events`.
    pub fn new(trace: &Trace, order: &[usize]) -> InOrder {
        let store = |position: usize| {
            let found = trace.sources.binary_search_by_key(&position, |source| source.0);
            found.ok().map(|found| trace.sources[found].1)
        };
        let step = |&position: &usize| {
            let event = &trace.events[position];
            let value = if let Effect::Value(value) = event.effect { value as usize } else { 0 };
            Step { thread: event.id.thread, store: store(position), value }
        };
        InOrder { steps: order.iter().map(step).collect(), begun: 0, is_lost: false }
    }

    /// Returns whether an enabled thread was to have a step and was not among the options. While a thread unwinds,
    /// other threads may not be.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }
}

impl Chooser for InOrder {
    fn needs(&self) -> Needs {
        Needs { idle_rounds: IdleRounds::Performed, ..Needs::default() }
    }

    fn choose(&mut self, at: &Point<'_>, _past: &[Event]) -> Pick {
        if self.is_lost {
            return Pick::Take(at.options() - 1);
        }
        let option = match at {
            Point::Thread(threads) => {
                let Some(step) = self.steps.get(self.begun) else { return Pick::Abandon };
                self.begun += 1;
                let option = threads.enabled.iter().position(|&thread| thread == step.thread);
                self.is_lost = option.is_none() && threads.pending[step.thread.index()].enabled;
                if self.is_lost { Some(0) } else { option }
            }
            Point::Source { options, .. } | Point::Place { options, .. } => {
                match self.steps[self.begun - 1].store {
                    None => options.len().checked_sub(1),
                    Some(store) => options.iter().position(|&option| option == store),
                }
            }
            Point::Value { bound, .. } => {
                Some(self.steps[self.begun - 1].value).filter(|&value| value < *bound as usize)
            }
        };
        option.map_or(Pick::Abandon, Pick::Take)
    }
}
