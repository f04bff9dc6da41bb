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
    /// Whether another thread has changed something after the thread had looked at it.
    pub is_disturbed: bool,
}

/// A loop in which a thread seems to wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KnownLoop {
    /// The thread.
    pub thread: ThreadId,
    /// The places of the events of a round, in order.
    pub places: Vec<Site>,
    /// What is known of it.
    pub nature: LoopNature,
}

/// What is known of a loop in which a thread seems to wait.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LoopNature {
    /// The thread stayed in it when it ran alone.
    Waits,
    /// The thread left it when it ran alone. Its rounds are not idle: something counts them.
    Counts,
    /// The thread goes round only because others disturb it, so that nothing is known. Rounds that are disturbed are not
    /// idle.
    Unclear,
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
        let mut counting = self.known.iter().filter(|known| known.nature == LoopNature::Counts);
        counting.any(|known| known.places.contains(&site))
    }

    /// Returns whether nothing is known of a loop but that other threads disturb it.
    pub(super) fn is_unclear(&self, thread: ThreadId, looks: &[Look]) -> bool {
        let mut unclear = self.known.iter().filter(|known| known.nature == LoopNature::Unclear);
        unclear.any(|known| known.is_of(thread, looks))
    }

    /// Notes a round that its thread has closed.
    pub(super) fn note(&mut self, thread: ThreadId, looks: &[Look], is_disturbed: bool) {
        let is_known = |known: &KnownLoop| {
            known.is_of(thread, looks) && (is_disturbed || known.nature != LoopNature::Unclear)
        };
        let is_noted =
            |round: &Round| round.is_of(thread, looks) && (is_disturbed || !round.is_disturbed);
        if !self.known.iter().any(is_known) && !self.unknown.iter().any(is_noted) {
            let looks = looks.iter().map(|look| look.event).collect();
            self.unknown.push(Round { thread, looks, is_disturbed });
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
