//! A thread that runs alone after the beginning of a recorded run, to see whether it stays in a round.

use raddle_core::{Chooser, Event, EventId, IdleRounds, Needs, Pick, Point, ThreadId, Trace};
use raddle_engine::Round;

use crate::InOrder;

/// The number of rounds that a thread goes alone before its loop is said to wait.
const ROUNDS: usize = 1000;
/// The number of steps in which the other threads may end the run afterwards.
const STEPS_TO_THE_END: usize = 10_000;

/// Follows a recorded run to the end of a round, and then lets its thread go round alone.
#[derive(Debug)]
pub(crate) struct Alone<'t> {
    trace: &'t Trace,
    round: &'t Round,
    /// The position of the last event of the round.
    last: usize,
    before: InOrder,
    /// The number of steps to follow.
    left: usize,
    /// The number of steps that the thread has begun alone.
    made: usize,
    end: Option<End>,
}

/// Why the run was given up.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum End {
    /// The thread went round often enough.
    Enough,
    /// The thread has ended, or is blocked.
    NotEnabled,
    /// The thread cannot read what it read in the round.
    NotOffered,
}

/// What a thread does that runs alone.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Stays {
    Yes,
    /// It leaves the round.
    No,
    /// Its round cannot be repeated like that.
    Unknown,
}

impl<'t> Alone<'t> {
    /// Returns `None` if another thread changed something during the round that the round depends on: the thread may
    /// then do something else for that reason.
    pub(crate) fn new(trace: &'t Trace, round: &'t Round) -> Option<Alone<'t>> {
        let position = |event: &Event| trace.events.iter().rposition(|other| other.id == event.id);
        let (first, last) = (position(round.looks.first()?)?, position(round.looks.last()?)?);
        let is_of_round =
            |event: &Event| round.looks.iter().any(|look| look.op.object() == event.op.object());
        let is_disturbed = trace.events[first..last].iter().any(|event| {
            event.id.thread != round.thread && is_of_round(event) && event.access().changes()
        });
        if is_disturbed {
            return None;
        }
        let order: Vec<usize> = (0..=last).collect();
        let before = InOrder::new(trace, &order);
        Some(Alone { trace, round, last, before, left: order.len(), made: 0, end: None })
    }

    /// Returns the number of events that the run may have: those until it is given up, and then to be led to its end.
    pub(crate) fn max_steps(&self) -> usize {
        self.last + 1 + ROUNDS * self.round.looks.len() + STEPS_TO_THE_END
    }

    /// Returns what the thread did in the run of `alone`.
    pub(crate) fn stays(&self, alone: &Trace) -> Stays {
        let is_same = |one: &Event, other: &Event| {
            (one.id.thread, one.op, one.site, one.effect)
                == (other.id.thread, other.op, other.site, other.effect)
        };
        let before = &self.trace.events[..=self.last];
        let has_followed = alone.events.len() > self.last
            && before.iter().zip(&alone.events).all(|(one, other)| is_same(one, other));
        if !has_followed || self.made == 0 || self.end == Some(End::NotOffered) {
            return Stays::Unknown;
        }
        let mut expected = self.round.looks.iter().cycle();
        let goes_round = alone.events[before.len()..]
            .iter()
            .all(|event| expected.next().is_some_and(|look| is_same(look, event)));
        if goes_round && self.end == Some(End::Enough) { Stays::Yes } else { Stays::No }
    }

    /// Returns the store that the thread read in the round where it is now.
    fn store(&self) -> Option<EventId> {
        let look = self.round.looks[(self.made - 1) % self.round.looks.len()];
        let sources = self.trace.sources.iter().rev();
        let mut sources = sources.filter(|(at, _)| self.trace.events[*at].id == look.id);
        sources.next().map(|&(_, store)| store)
    }

    fn abandon(&mut self, end: End) -> Pick {
        self.end = self.end.or(Some(end));
        Pick::Abandon
    }
}

impl Chooser for Alone<'_> {
    fn needs(&self) -> Needs {
        Needs { idle_rounds: IdleRounds::Performed, ..Needs::default() }
    }

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        if self.left > 0 || self.made == 0 && !matches!(at, Point::Thread(_)) {
            self.left -= usize::from(matches!(at, Point::Thread(_)));
            return self.before.choose(at, past);
        }
        match at {
            Point::Thread(threads) => {
                let thread: ThreadId = self.round.thread;
                let option = threads.enabled.iter().position(|&enabled| enabled == thread);
                if self.made == ROUNDS * self.round.looks.len() {
                    return self.abandon(End::Enough);
                }
                let Some(option) = option else { return self.abandon(End::NotEnabled) };
                self.made += 1;
                Pick::Take(option)
            }
            Point::Source { options, .. } => {
                let option = match self.store() {
                    None => options.len().checked_sub(1),
                    Some(store) => options.iter().position(|&option| option == store),
                };
                option.map_or_else(|| self.abandon(End::NotOffered), Pick::Take)
            }
            Point::Place { options, .. } => Pick::Take(options.len() - 1),
            Point::Value { .. } => Pick::Take(0),
        }
    }
}
