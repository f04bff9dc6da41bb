//! The choices of a reduced search inside a run.

use raddle_core::{Choice, Chooser, Event, IdleRounds, Needs, Pick, Point, Threads};

use super::Mistake;
use super::bound::{Account, Bound, Offer, Ties};
use super::sleep::{Asleep, Waiters, wake};
use super::tree::Node;
use crate::{Refusal, WIDEST_CHOICE};

/// Takes the cheapest thread that does not sleep, and records the others.
#[derive(Clone, Debug)]
pub(super) struct ReducedChooser {
    bound: Bound,
    pub(super) mistake: Option<Mistake>,
    account: Account,
    sleep: Vec<Asleep>,
    /// The states after the prefix.
    pub(super) met: Vec<Node>,
    /// The options of a point that follows the last thread of the prefix.
    pub(super) answers: Vec<Choice>,
    /// Why the run was abandoned.
    pub(super) gave_up: Option<GaveUp>,
    pub(super) refusal: Option<Refusal>,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum GaveUp {
    AllSleep,
    BoundExceeded,
}

impl ReducedChooser {
    pub(super) fn new(bound: Bound) -> ReducedChooser {
        ReducedChooser {
            bound,
            mistake: None,
            account: Account::default(),
            sleep: Vec::new(),
            met: Vec::new(),
            answers: Vec::new(),
            gave_up: None,
            refusal: None,
        }
    }

    /// Sets which of the threads that cost the same is tried first.
    pub(super) fn set_ties(&mut self, ties: Ties) {
        self.account.ties = ties;
    }

    pub(super) fn ties(&self) -> Ties {
        self.account.ties
    }

    /// Begins a run whose prefix has this many preemptions and leads to a state with this sleep set.
    pub(super) fn begin(&mut self, preemptions: u32, sleep: &[Asleep]) {
        self.gave_up = None;
        self.met.clear();
        self.answers.clear();
        self.sleep.clear();
        self.sleep.extend_from_slice(sleep);
        self.account.begin(self.bound, preemptions);
    }
}

impl ReducedChooser {
    /// Returns whether the run, which was given up, exceeds the bound with this many more preemptions.
    pub(super) fn is_beyond_bound(&self, preemptions: u32) -> bool {
        let all = self.account.preemptions + preemptions;
        let has_too_many = self.bound.preemptions.is_some_and(|most| all > most);
        let was_stopped = self.gave_up == Some(GaveUp::BoundExceeded);
        has_too_many || was_stopped && self.bound.lead.is_some()
    }
}

impl Chooser for ReducedChooser {
    fn needs(&self) -> Needs {
        let idle_rounds = match self.bound {
            // A fair bound excludes long loops by itself.
            Bound { lead: Some(_), .. } => IdleRounds::Performed,
            // With a thread that is cut off a class may need more preemptions.
            Bound { preemptions: Some(_), .. } => IdleRounds::Awaited,
            Bound { preemptions: None, lead: None } => IdleRounds::Cut,
        };
        Needs { idle_rounds, ..Needs::default() }
    }

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        match at {
            Point::Thread(threads) => self.choose_thread(threads, past),
            Point::Value { by, bound } if *bound > WIDEST_CHOICE => {
                self.refusal = Refusal::of_choice(by, *bound);
                Pick::Abandon
            }
            Point::Value { .. } | Point::Source { .. } | Point::Place { .. } => {
                let answers = (0..at.options()).map(|option| at.choice(option)).collect();
                match self.met.last_mut() {
                    Some(node) => node.set_answers(answers),
                    None => self.answers = answers,
                }
                Pick::Take(0)
            }
        }
    }
}

impl ReducedChooser {
    fn choose_thread(&mut self, threads: &Threads<'_>, past: &[Event]) -> Pick {
        self.account.catch_up(past);
        if let Some(last) = past.last() {
            let waiters = match self.mistake {
                Some(Mistake::NoWaiters) => Waiters::None,
                Some(_) | None if self.bound.lead.is_some() => Waiters::All,
                Some(_) | None => Waiters::Last,
            };
            wake(&mut self.sleep, last, threads, &self.account, waiters);
        }
        let (offers, in_force) = self.account.offers(threads, past);
        let sleeps = |offer: &Offer| self.sleep.iter().any(|one| one.thread == offer.thread);
        let taken = offers.iter().position(|offer| !offer.over && !sleeps(offer));
        if taken.is_none() {
            let all_sleep = offers.iter().all(sleeps);
            self.gave_up = Some(if all_sleep { GaveUp::AllSleep } else { GaveUp::BoundExceeded });
        }
        let able = threads.pending.iter().filter(|pending| pending.enabled).count();
        let pick = taken.map(|taken| offers[taken]);
        let forced = able > threads.enabled.len();
        self.met.push(Node::new(offers, taken, in_force, forced, self.sleep.clone()));
        let Some(offer) = pick else { return Pick::Abandon };
        self.account.preemptions = offer.preemptions;
        let option = threads.enabled.iter().position(|&thread| thread == offer.thread);
        Pick::Take(option.expect("raddle invariant broken: the thread is among the options"))
    }
}
