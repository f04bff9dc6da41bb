//! Runs that respect constraints: an event is held back until others have happened.

use std::collections::{HashMap, HashSet};

use raddle_core::{Chooser, Event, Pending, Pick, Point, Rng, Threads};

use super::labels::{Deed, Label, Sites};
use super::lock_order::LockOrder;
use super::wishes::running;

/// The event `after` does not happen before `before` has.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Constraint {
    pub(super) before: Label,
    pub(super) after: Label,
}

/// The numbers that a run chose.
pub(super) type Numbers = HashMap<Label, u32>;

/// What some thread does at a place of the program.
pub(super) type Place = (u32, u8);

/// A part of the program, from one thing that a thread does to another.
#[derive(Clone)]
pub(super) struct Region {
    pub(super) first: Place,
    pub(super) last: Place,
    /// What threads do in it. A thread leaves the region when it is about to do something else.
    pub(super) within: HashSet<Place>,
}

/// Regions of which only one thread is in one at a time: a lock that is not there.
#[derive(Clone, Default)]
pub(super) struct Regions {
    regions: Vec<Region>,
    /// By thread: the region in which it is.
    inside: Vec<Option<usize>>,
}

impl Regions {
    pub(super) fn new(regions: Vec<Region>) -> Regions {
        Regions { regions, inside: Vec::new() }
    }

    fn are_none(&self) -> bool {
        self.regions.is_empty()
    }

    fn is_inside(&self, thread: usize) -> bool {
        self.inside.get(thread).copied().flatten().is_some()
    }

    /// Returns whether a thread has to wait before it does this.
    fn holds(&self, deed: Deed) -> bool {
        let own = deed.thread.index();
        !self.is_inside(own)
            && self.regions.iter().any(|region| region.first == deed.place())
            && (0..self.inside.len()).any(|thread| thread != own && self.is_inside(thread))
    }

    /// Lets a thread leave its region if it is about to do something that is not in it.
    fn look_ahead(&mut self, deed: Deed) {
        let thread = deed.thread.index();
        let region = self.inside.get(thread).copied().flatten();
        if region.is_some_and(|region| !self.regions[region].within.contains(&deed.place())) {
            self.inside[thread] = None;
        }
    }

    fn observe(&mut self, deed: Deed) {
        self.look_ahead(deed);
        let thread = deed.thread.index();
        if self.inside.len() <= thread {
            self.inside.resize(thread + 1, None);
        }
        let inside = &mut self.inside[thread];
        if inside.is_none() {
            *inside = self.regions.iter().position(|region| region.first == deed.place());
        }
        if inside.is_some_and(|region| self.regions[region].last == deed.place()) {
            *inside = None;
        }
    }
}

/// The constraints of a run, and how far the run has come.
pub(super) struct Guide<'a> {
    constraints: &'a [Constraint],
    numbers: &'a Numbers,
    sites: &'a mut Sites,
    /// How often each deed was done, of those that constraints or numbers name.
    counts: HashMap<Deed, u32>,
    /// The number of events in `counts`.
    counted: usize,
    regions: Regions,
    order: Option<LockOrder>,
}

impl<'a> Guide<'a> {
    pub(super) fn new(
        constraints: &'a [Constraint],
        numbers: &'a Numbers,
        sites: &'a mut Sites,
    ) -> Guide<'a> {
        let of_constraints = constraints.iter().flat_map(|c| [c.before.deed, c.after.deed]);
        let deeds = of_constraints.chain(numbers.keys().map(|label| label.deed));
        let counts = deeds.map(|deed| (deed, 0)).collect();
        Guide {
            constraints,
            numbers,
            sites,
            counts,
            counted: 0,
            regions: Regions::default(),
            order: None,
        }
    }

    /// Lets only one thread at a time into these regions.
    pub(super) fn exclude(&mut self, regions: Regions) {
        self.regions = regions;
    }

    /// Lets threads acquire locks in this order.
    pub(super) fn put_in_order(&mut self, order: LockOrder) {
        self.counts.extend(order.deeds().map(|deed| (deed, 0)));
        self.order = Some(order);
    }

    /// Returns whether every run kept to what the order of locks needs, if there is one.
    pub(super) fn keeps_order(&self) -> bool {
        self.order.as_ref().is_none_or(LockOrder::is_kept)
    }

    /// Begins a run.
    pub(super) fn begin(&mut self) {
        if let Some(order) = &mut self.order {
            order.begin();
        }
        self.regions.inside.clear();
        self.counted = 0;
        self.counts.values_mut().for_each(|count| *count = 0);
    }

    /// Returns the options whose threads are not held back.
    pub(super) fn allowed(&mut self, threads: &Threads<'_>, past: &[Event]) -> Vec<usize> {
        self.count(past);
        for thread in 0..self.regions.inside.len() {
            if self.regions.is_inside(thread) {
                let pending = &threads.pending[thread];
                let deed = self.sites.deed(pending.thread, pending.op, pending.site);
                self.regions.look_ahead(deed);
            }
        }
        let is_allowed =
            |option: &usize| !self.holds(&threads.pending[threads.enabled[*option].index()]);
        (0..threads.enabled.len()).filter(is_allowed).collect()
    }

    /// Returns the number that the failing run chose here, if it came here.
    pub(super) fn number(&mut self, by: &Pending, past: &[Event]) -> Option<u32> {
        self.count(past);
        let deed = self.sites.deed(by.thread, by.op, by.site);
        let nth = *self.counts.get(&deed)?;
        self.numbers.get(&Label { deed, nth }).copied()
    }

    fn count(&mut self, past: &[Event]) {
        if !self.counts.is_empty() || !self.regions.are_none() {
            for event in &past[self.counted..] {
                let deed = self.sites.deed_of(event);
                self.regions.observe(deed);
                if let Some(order) = &mut self.order {
                    let label = self.counts.get(&deed).map(|&nth| Label { deed, nth });
                    order.observe(event, deed, label);
                }
                if let Some(count) = self.counts.get_mut(&deed) {
                    *count += 1;
                }
            }
        }
        self.counted = past.len();
    }

    fn holds(&mut self, pending: &Pending) -> bool {
        if self.constraints.is_empty() && self.regions.are_none() && self.order.is_none() {
            return false;
        }
        let deed = self.sites.deed(pending.thread, pending.op, pending.site);
        let label = self.counts.get(&deed).map(|&nth| Label { deed, nth });
        if self.order.as_ref().is_some_and(|order| order.holds(pending, label)) {
            return true;
        }
        if self.regions.holds(deed) {
            return true;
        }
        let has_happened = |label: &Label| self.counts[&label.deed] > label.nth;
        let is_next = |label: &Label| label.deed == deed && self.counts[&deed] == label.nth;
        self.constraints.iter().any(|c| is_next(&c.after) && !has_happened(&c.before))
    }
}

/// Draws a run that respects constraints.
pub(super) struct Draws<'g, 'a> {
    guide: &'g mut Guide<'a>,
    rng: Rng,
    /// Whether the running thread mostly continues.
    is_sticky: bool,
    is_held: bool,
}

/// The mean number of steps between two switches of a sticky run.
const STEPS_PER_SWITCH: usize = 6;

impl<'g, 'a> Draws<'g, 'a> {
    pub(super) fn new(guide: &'g mut Guide<'a>, rng: Rng, is_sticky: bool) -> Draws<'g, 'a> {
        guide.begin();
        Draws { guide, rng, is_sticky, is_held: false }
    }

    /// Returns whether the run could not continue because every enabled thread was held back.
    pub(super) fn is_held(&self) -> bool {
        self.is_held
    }
}

impl Chooser for Draws<'_, '_> {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let threads = match at {
            Point::Thread(threads) => threads,
            Point::Value { by, .. } => {
                let number = self.guide.number(by, past).map(|number| number as usize);
                let number = number.filter(|&number| number < at.options());
                return Pick::Take(number.unwrap_or_else(|| self.rng.below(at.options())));
            }
            Point::Source { .. } | Point::Place { .. } => {
                return Pick::Take(self.rng.below(at.options()));
            }
        };
        let allowed = self.guide.allowed(threads, past);
        if allowed.is_empty() {
            self.is_held = true;
            return Pick::Abandon;
        }
        let current = running(past).and_then(|thread| {
            allowed.iter().copied().find(|&option| threads.enabled[option] == thread)
        });
        Pick::Take(match current {
            Some(current) if self.is_sticky && self.rng.below(STEPS_PER_SWITCH) > 0 => current,
            _ => allowed[self.rng.below(allowed.len())],
        })
    }
}
