//! Bounded depth-first search: every execution within a bound, without reduction.
//!
//! *Preemption bound* (Musuvathi and Qadeer, PLDI 2007; CHESS): limits the switches away from a thread
//! that is still enabled. *Delay bound* (Emmi, Qadeer and Rakamarić, POPL 2011): limits the departures
//! from a deterministic scheduler, here the non-preemptive round-robin in the order of thread ids;
//! passing over one enabled thread is one delay.
//!
//! Promise: when it ends, every interleaving within the bound has been run, once. Numbers that the
//! program asks for are all tried and cost nothing.
//!
//! Deviation: a thread that yielded (a pause, or a wait that timed out) loses its turn. Switching away
//! from it is no preemption, and the round-robin scheduler takes the next thread.

use raddle_core::{
    Choice, Choices, Chooser, Event, IdleRounds, Needs, Pick, Point, Schedule, ThreadId, Threads,
    Trace,
};
use raddle_results::Bounds;

use crate::branches::{Branch, Branches};
use crate::{Covered, Explorer, Refusal};

/// What is counted, and the most that an execution may have of it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Preemptions.
    Preemptions(u32),
    /// Delays.
    Delays(u32),
}

/// The search. Inside a run it takes the cheapest option of every point and records the others that the
/// bound allows.
#[derive(Clone, Debug)]
pub struct BoundedDfs {
    limit: Limit,
    branches: Branches<Offer>,
    /// The cost of the current run so far.
    spent: u32,
    pruned: bool,
    refusal: Option<Refusal>,
}

/// An option, with the cost of the run once it is chosen.
#[derive(Copy, Clone, Debug)]
struct Offer {
    choice: Choice,
    spent: u32,
}

impl BoundedDfs {
    /// Makes a search that stays within `limit`.
    pub fn new(limit: Limit) -> BoundedDfs {
        BoundedDfs { limit, branches: Branches::default(), spent: 0, pruned: false, refusal: None }
    }

    /// Returns whether the bound has excluded any execution so far.
    pub fn pruned(&self) -> bool {
        self.pruned
    }

    /// Returns the enabled threads, the cheapest first, each with its place among the options.
    fn offers(&self, threads: &Threads<'_>, past: &[Event]) -> Vec<(usize, Offer)> {
        let mut order: Vec<(usize, ThreadId)> =
            threads.enabled.iter().copied().enumerate().collect();
        order.sort_unstable_by_key(|&(_, thread)| thread);
        let mut in_force = None;
        if let Some(last) = past.last() {
            let keeps_turn = !last.op.has_yielded(last.effect);
            let thread = last.id.thread;
            in_force = order.iter().position(|option| keeps_turn && option.1 == thread);
            let next = order.iter().position(|option| option.1 > thread);
            order.rotate_left(in_force.or(next).unwrap_or(0));
        }
        let cost = |place: usize| match self.limit {
            Limit::Preemptions(_) => u32::from(in_force.is_some() && place > 0),
            Limit::Delays(_) => place as u32,
        };
        let offers = order.into_iter().enumerate().map(|(place, (option, thread))| {
            (option, Offer { choice: Choice::Thread(thread), spent: self.spent + cost(place) })
        });
        offers.collect()
    }
}

impl Explorer for BoundedDfs {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        if !self.branches.advance() {
            return false;
        }
        prefix.clear();
        prefix.extend(self.branches.taken().map(|offer| offer.choice));
        self.spent = self.branches.taken().next_back().map_or(0, |offer| offer.spent);
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(self)
    }

    fn skips_equivalent(&self) -> bool {
        false
    }

    fn learn(&mut self, _run: u64, _trace: &Trace) {}

    fn covered(&self, is_done: bool) -> Covered {
        match self.limit {
            _ if !is_done => Covered::Nothing,
            _ if !self.pruned => Covered::Everything,
            Limit::Preemptions(most) => {
                Covered::Within(Bounds { preemptions: Some(most), ..Bounds::default() })
            }
            Limit::Delays(most) => {
                Covered::Within(Bounds { delays: Some(most), ..Bounds::default() })
            }
        }
    }

    fn restart(&mut self) -> bool {
        *self = BoundedDfs::new(self.limit);
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal.clone()
    }
}

impl Chooser for BoundedDfs {
    fn needs(&self) -> Needs {
        Needs { idle_rounds: IdleRounds::Awaited, ..Needs::default() }
    }

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        if let Point::Value { by, bound } = at {
            self.refusal = Refusal::of_choice(by, *bound);
            if self.refusal.is_some() {
                return Pick::Abandon;
            }
        }
        let mut options: Vec<(usize, Offer)> = match at {
            Point::Thread(threads) => self.offers(threads, past),
            Point::Value { .. } | Point::Source { .. } | Point::Place { .. } => (0..at.options())
                .map(|option| (option, Offer { choice: at.choice(option), spent: self.spent }))
                .collect(),
        };
        let (Limit::Preemptions(most) | Limit::Delays(most)) = self.limit;
        let offered = options.len();
        options.retain(|(_, offer)| offer.spent <= most);
        self.pruned |= options.len() < offered;
        // One option is always free.
        let (first, Offer { spent, .. }) = options[0];
        self.spent = spent;
        self.branches.push(Branch::new(options.into_iter().map(|(_, offer)| offer)));
        Pick::Take(first)
    }
}
