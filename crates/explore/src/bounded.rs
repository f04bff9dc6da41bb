//! Bounded depth-first search: every execution that takes few enough liberties, without reduction.
//!
//! *Preemption bound* (Musuvathi and Qadeer, PLDI 2007; CHESS): at most so many switches away from a
//! thread that could have gone on. *Delay bound* (Emmi, Qadeer and Rakamarić, POPL 2011): at most so
//! many departures from a deterministic scheduler, here the non-preemptive round-robin in the order
//! of thread ids; passing over one thread that could go on is one delay.
//!
//! Promise: when it ends, every interleaving within the bound has been run, once. Numbers that the
//! program asks for are all tried and cost nothing.
//!
//! Deviation: a thread that gave way (a pause, or a wait that timed out) loses its turn. To switch
//! away from it is no preemption, and the round-robin scheduler goes on to the next thread.

use raddle_core::{Choice, Chooser, Event, Pick, Plan, Point, ThreadId, Threads, Trace};
use raddle_results::Bounds;

use crate::branches::{Branch, Branches};
use crate::{Covered, Explorer, Refusal};

/// What is counted, and how much of it an execution may have.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Preemptions.
    Preemptions(u32),
    /// Delays.
    Delays(u32),
}

/// The search.
#[derive(Clone, Debug)]
pub struct BoundedDfs {
    limit: Limit,
    branches: Branches<Offer>,
    pruned: bool,
    refusal: Option<Refusal>,
}

/// What the bound allows; of several the cheapest comes first.
#[derive(Copy, Clone, Debug)]
struct Offer {
    choice: Choice,
    /// What has been spent once this is chosen.
    spent: u32,
}

/// Takes the cheapest option everywhere and remembers the others that the bound allows.
#[derive(Clone, Debug)]
pub struct BoundedDfsChooser {
    limit: Limit,
    spent: u32,
    met: Vec<Branch<Offer>>,
    pruned: bool,
    refusal: Option<Refusal>,
}

impl BoundedDfs {
    /// A search that stays within `limit`.
    pub fn new(limit: Limit) -> BoundedDfs {
        BoundedDfs { limit, branches: Branches::default(), pruned: false, refusal: None }
    }

    /// Whether the bound has kept any execution out so far.
    pub fn pruned(&self) -> bool {
        self.pruned
    }
}

impl Explorer for BoundedDfs {
    type Then = BoundedDfsChooser;

    fn chooser(&self) -> BoundedDfsChooser {
        BoundedDfsChooser {
            limit: self.limit,
            spent: 0,
            met: Vec::new(),
            pruned: false,
            refusal: None,
        }
    }

    fn next(&mut self, plan: &mut Plan<BoundedDfsChooser>) -> bool {
        if !self.branches.advance() {
            return false;
        }
        plan.prefix.clear();
        plan.prefix.extend(self.branches.taken().map(|offer| offer.choice));
        plan.then.spent = self.branches.taken().next_back().map_or(0, |offer| offer.spent);
        true
    }

    fn learn(&mut self, _run: u64, _trace: &Trace, plan: &mut Plan<BoundedDfsChooser>) {
        self.branches.append(&mut plan.then.met);
        self.pruned |= plan.then.pruned;
        self.refusal = plan.then.refusal;
    }

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

    fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }
}

impl Chooser for BoundedDfsChooser {
    const WATCHES_CHANGES: bool = false;

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
        self.met.push(Branch::new(options.into_iter().map(|(_, offer)| offer)));
        Pick::Take(first)
    }
}

impl BoundedDfsChooser {
    /// The threads that can go on, the cheapest first, each with its place among the options.
    fn offers(&self, threads: &Threads<'_>, past: &[Event]) -> Vec<(usize, Offer)> {
        let mut order: Vec<(usize, ThreadId)> =
            threads.enabled.iter().copied().enumerate().collect();
        order.sort_unstable_by_key(|&(_, thread)| thread);
        let mut in_force = None;
        if let Some(last) = past.last() {
            let may_go_on = !last.op.gave_way(last.effect);
            let thread = last.id.thread;
            in_force = order.iter().position(|option| may_go_on && option.1 == thread);
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
