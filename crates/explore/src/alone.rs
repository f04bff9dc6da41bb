//! A thread that runs alone after the beginning of a recorded run, to see whether it stays in a round.

use raddle_core::{Chooser, Event, EventId, IdleRounds, Needs, Pick, Point, ThreadId, Trace};
use raddle_engine::Round;

use crate::InOrder;

/// The number of rounds that a thread goes alone before its loop is said to wait.
const ROUNDS: usize = 1000;
/// The number of steps in which the other threads may end the run afterwards.
const STEPS_TO_THE_END: usize = 10_000;

/// Follows a recorded run to the end of a round, and then lets its thread go round alone. If another thread disturbed the
/// round, what the thread looked at is no longer what it was, so the run is followed to the beginning of the round instead.
#[derive(Debug)]
pub(crate) struct Alone<'t> {
    trace: &'t Trace,
    round: &'t Round,
    /// The number of events that are followed.
    followed: usize,
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
    /// Returns `None` if the trace does not have the round.
    pub(crate) fn new(trace: &'t Trace, round: &'t Round) -> Option<Alone<'t>> {
        let position = |event: &Event| trace.events.iter().rposition(|other| other.id == event.id);
        let (first, last) = (position(round.looks.first()?)?, position(round.looks.last()?)?);
        let followed = if round.is_disturbed { first } else { last + 1 };
        let order: Vec<usize> = (0..followed).collect();
        let before = InOrder::new(trace, &order);
        Some(Alone { trace, round, followed, before, left: followed, made: 0, end: None })
    }

    /// Returns the number of events that the run may have: those until it is given up, and then to be led to its end.
    pub(crate) fn max_steps(&self) -> usize {
        self.followed + ROUNDS * self.round.looks.len() + STEPS_TO_THE_END
    }

    /// Returns what the thread did in the run of `alone`.
    pub(crate) fn stays(&self, alone: &Trace) -> Stays {
        let is_same = |one: &Event, other: &Event| {
            (one.id.thread, one.op, one.site, one.effect)
                == (other.id.thread, other.op, other.site, other.effect)
        };
        let before = &self.trace.events[..self.followed];
        let has_followed = alone.events.len() >= self.followed
            && before.iter().zip(&alone.events).all(|(one, other)| is_same(one, other));
        if !has_followed || self.made == 0 || self.end == Some(End::NotOffered) {
            return Stays::Unknown;
        }
        let mut expected = self.round.looks.iter().cycle();
        let own = &alone.events[before.len()..];
        let is_next = |event: &&Event| expected.next().is_some_and(|look| is_same(look, event));
        let same = own.iter().take_while(is_next).count();
        if same == own.len() && self.end == Some(End::Enough) {
            Stays::Yes
        } else if self.round.is_disturbed && same < self.round.looks.len() {
            // The thread went round only because it was disturbed.
            Stays::Unknown
        } else {
            Stays::No
        }
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
