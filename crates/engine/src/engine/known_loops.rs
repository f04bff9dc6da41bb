//! Loops in which threads wait, and what the host knows of them.
//!
//! A loop that counts its rounds where no local state shows it looks idle. So the host runs a thread alone that closed a
//! round which is not known yet, and tells whether it stays in the loop.

use alloc::vec::Vec;

use raddle_core::{Event, Site, ThreadId};

use super::Engine;
use super::rounds::Look;
use crate::Memory;

/// A round that left the local state of its thread as it was.
#[derive(Clone, Debug)]
pub struct Round {
    /// The thread.
    pub thread: ThreadId,
    /// The events of the round, in order, all by the thread.
    pub looks: Vec<Event>,
}

/// A loop in which a thread seems to wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownLoop {
    /// The thread.
    pub thread: ThreadId,
    /// The places of the events of a round, in order.
    pub places: Vec<Site>,
    /// Whether the thread left the loop when it ran alone. Its rounds are not idle then: something counts them.
    pub counts: bool,
}

impl KnownLoop {
    fn is_of(&self, thread: ThreadId, looks: &[Look]) -> bool {
        let places = self.places.iter().copied();
        self.thread == thread && places.eq(looks.iter().map(|look| look.event.site))
    }
}

impl Round {
    fn is_of(&self, thread: ThreadId, looks: &[Look]) -> bool {
        let places = self.looks.iter().map(|look| look.site);
        self.thread == thread && places.eq(looks.iter().map(|look| look.event.site))
    }
}

/// What is known of loops, and the rounds of others.
#[derive(Debug, Default)]
pub(super) struct KnownLoops {
    known: Vec<KnownLoop>,
    unknown: Vec<Round>,
}

impl KnownLoops {
    /// Forgets the rounds of the last run.
    pub(super) fn begin(&mut self) {
        self.unknown.clear();
    }

    /// Returns whether a loop at this place counts its rounds.
    pub(super) fn counts_at(&self, site: Site) -> bool {
        self.known.iter().any(|known| known.counts && known.places.contains(&site))
    }

    /// Notes a round that its thread has closed.
    pub(super) fn note(&mut self, thread: ThreadId, looks: &[Look]) {
        let is_known = self.known.iter().any(|known| known.is_of(thread, looks));
        if !is_known && !self.unknown.iter().any(|round| round.is_of(thread, looks)) {
            let looks = looks.iter().map(|look| look.event).collect();
            self.unknown.push(Round { thread, looks });
        }
    }
}

impl<M: Memory> Engine<M> {
    /// Tells what is known of loops.
    pub fn set_known_loops(&mut self, known: Vec<KnownLoop>) {
        self.idle.loops.known = known;
    }

    /// Returns whether the last run closed a round in a loop that is not known.
    #[inline(always)]
    pub fn has_unknown_rounds(&self) -> bool {
        !self.idle.loops.unknown.is_empty()
    }

    /// Returns the rounds of the last run in loops that are not known, and forgets them.
    pub fn take_unknown_rounds(&mut self) -> Vec<Round> {
        core::mem::take(&mut self.idle.loops.unknown)
    }
}
