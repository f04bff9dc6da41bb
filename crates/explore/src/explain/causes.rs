//! Causes: the least set of orderings under which every run fails in the same way (an implicit hitting set).
//!
//! A failing run satisfies many orderings. A set of them is enough if every run that respects the set fails like it.
//! Runs that respect a set and do not, or cannot continue under it, are counterexamples: any set that is enough has one
//! of the orderings that the counterexample breaks. So the least set that breaks all counterexamples so far is tried,
//! until a sweep of all runs that respect it finds no counterexample. Then the set is enough, and no smaller one is.
//!
//! An ordering may be about a step that the failing run has not come to: what is wrong is often that something has not
//! happened yet. So orderings are made from counterexamples, whose steps they name.

use std::collections::HashMap;

use raddle_core::{
    Choices, Effect, ObjectId, ObjectInfo, Op, Rng, Schedule, Site, ThreadId, Trace, mix,
};
use raddle_results::{CauseEvent, Causes, Certificate, OrderedPair, Sufficiency, Unknown};

use super::blocks::{answers_of, blocks_of};
use super::guide::{Constraint, Draws, Guide, Numbers};
use super::hitting::{Clauses, MAX_CLAUSES};
use super::labels::{Label, Labelled, Sites};
use super::shrink::neighbours;
use super::sweep::{Swept, sweep};
use super::wishes::Wishes;
use super::{Outcome, Trials};

/// Longer runs have too many orderings.
const MAX_STEPS: usize = 1_000;
/// The most changes of the failing run that are tried.
const MAX_NEIGHBOURS: usize = 128;
/// The most tokens of counterexamples that are kept.
const MAX_TOKENS: usize = 20;

/// The causes of a failing run.
pub(crate) struct Found {
    pub(crate) causes: Causes,
    /// The orderings.
    pub(super) set: Vec<Constraint>,
    pub(super) failing: Labelled,
    pub(super) sites: Sites,
    counterexamples: Vec<Counterexample>,
}

/// Returns the causes of a failing run. Each set is tried on `draws` runs before it is proved.
pub(crate) fn causes(
    trials: &mut dyn Trials,
    failing: &Trace,
    draws: u64,
) -> Result<Found, Unknown> {
    if failing.events.len() > MAX_STEPS {
        return Err(Unknown::Steps);
    }
    let mut sites = Sites::default();
    let failing = Labelled::new(failing.clone(), &mut sites);
    let numbers = numbers_of(&failing);
    let (clauses, counterexamples) = (Clauses::new(), Vec::new());
    let mut seeker = Seeker { trials, failing, numbers, sites, clauses, counterexamples, draws };
    seeker.look_around();
    let (set, sufficient) = seeker.seek()?;
    let Seeker { failing, sites, counterexamples, .. } = seeker;
    let certificate = Certificate {
        sufficient,
        refuted: counterexamples.len() as u64,
        counterexamples: counterexamples
            .iter()
            .take(MAX_TOKENS)
            .map(|one| one.token.clone())
            .collect(),
    };
    let causes = Causes { orderings: Vec::new(), certificate };
    let mut found = Found { causes, set, failing, sites, counterexamples };
    let mut orderings: Vec<OrderedPair> =
        found.set.iter().map(|pair| found.ordered(pair)).collect();
    let place = |event: &CauseEvent| event.position.unwrap_or(usize::MAX);
    orderings.sort_by_key(|pair| (place(&pair.before), place(&pair.after)));
    found.causes.orderings = orderings;
    Ok(found)
}

/// A run that does not fail in the same way.
struct Counterexample {
    token: String,
    /// Its events, to describe steps that the failing run has not come to.
    run: Labelled,
}

struct Seeker<'t> {
    trials: &'t mut dyn Trials,
    failing: Labelled,
    numbers: Numbers,
    sites: Sites,
    /// For each counterexample, the orderings of the failing run that it breaks.
    clauses: Clauses<Constraint>,
    counterexamples: Vec<Counterexample>,
    draws: u64,
}

impl Seeker<'_> {
    /// Tries small changes of the failing run. One that does not fail breaks few orderings, and so says most.
    fn look_around(&mut self) {
        let answers = answers_of(&self.failing.trace);
        for blocks in neighbours(&blocks_of(&self.failing.trace)).take(MAX_NEIGHBOURS) {
            let mut wishes = Wishes::new(blocks, &answers);
            match self.trials.run(&Schedule::new(), Choices::Chooser(&mut wishes)) {
                None => return,
                Some(Outcome::Other | Outcome::Passes) => {}
                Some(_) => continue,
            }
            let run = Labelled::new(self.trials.trace().clone(), &mut self.sites);
            let chosen = numbers_of(&run);
            let mut known = self.numbers.iter();
            if known.all(|(label, number)| chosen.get(label).is_none_or(|other| other == number)) {
                self.learn(run);
            }
        }
    }

    /// Learns from the last run, a counterexample. Returns false if orderings do not tell it from the failing run.
    fn learn(&mut self, run: Labelled) -> bool {
        let clause = broken(&self.failing, &run);
        if clause.is_empty() {
            return false;
        }
        self.clauses.add(&clause);
        self.counterexamples.push(Counterexample { token: self.trials.token(), run });
        true
    }

    /// Returns a least set that is enough, and why it is.
    fn seek(&mut self) -> Result<(Vec<Constraint>, Sufficiency), Unknown> {
        for round in 0..(MAX_CLAUSES - MAX_NEIGHBOURS) as u64 {
            let set = self.clauses.least_hitting_set(|pair| rank(&self.failing, pair));
            let set = set.ok_or(Unknown::NoOrder)?;
            let sufficient = match self.refute(&set, round)? {
                Refuted::Yes => {
                    let run = Labelled::new(self.trials.trace().clone(), &mut self.sites);
                    if !self.learn(run) {
                        return Err(Unknown::NoOrder);
                    }
                    continue;
                }
                Refuted::No { executions } => Sufficiency::Proved { executions },
                Refuted::Sampled { executions } => Sufficiency::Sampled { executions },
            };
            return Ok((set, sufficient));
        }
        Err(Unknown::NoOrder)
    }

    /// Looks for a run that respects `set` and does not fail in the same way. It is the last run then.
    fn refute(&mut self, set: &[Constraint], round: u64) -> Result<Refuted, Unknown> {
        let mut guide = Guide::new(set, &self.numbers, &mut self.sites);
        let mut failing = 0;
        for draw in 0..self.draws {
            let rng = Rng::new(mix(round, draw));
            let mut chooser = Draws::new(&mut guide, rng, draw % 2 == 1);
            let choices = Choices::Chooser(&mut chooser);
            let outcome = self.trials.run(&Schedule::new(), choices);
            match outcome.ok_or_else(|| self.trials.limit())? {
                Outcome::Other | Outcome::Passes => return Ok(Refuted::Yes),
                Outcome::GivenUp if chooser.is_held() => return Ok(Refuted::Yes),
                Outcome::Same => failing += 1,
                // No whole executions.
                Outcome::GivenUp | Outcome::Stopped | Outcome::Incomplete => {}
            }
        }
        Ok(match sweep(self.trials, &mut guide, Outcome::Same) {
            Swept::All(executions) => Refuted::No { executions },
            Swept::Counterexample => Refuted::Yes,
            Swept::Unfinished if failing > 0 => Refuted::Sampled { executions: failing },
            Swept::Unfinished => return Err(self.trials.limit()),
        })
    }
}

impl Found {
    /// Returns the runs that are known, the failing one first.
    pub(super) fn others(&self) -> impl Iterator<Item = &Labelled> {
        std::iter::once(&self.failing).chain(self.counterexamples.iter().map(|known| &known.run))
    }

    /// Describes an ordering in terms of the failing run.
    pub(super) fn ordered(&self, pair: &Constraint) -> OrderedPair {
        let before = self.event(&pair.before);
        let mut after = self.event(&pair.after);
        // Both are about one object.
        after.op = after.op.on(before.op.object());
        OrderedPair { before, after }
    }

    /// Describes an event in terms of the failing run.
    pub(super) fn event(&self, label: &Label) -> CauseEvent {
        let of = |thread: ThreadId, op: Op, site: Site, position: Option<usize>| CauseEvent {
            thread,
            op,
            site,
            nth: label.nth,
            position,
        };
        if let Some(&position) = self.failing.positions.get(label) {
            let event = &self.failing.trace.events[position];
            return of(event.id.thread, event.op, event.site, Some(position));
        }
        if let Some(pending) = self.failing.pending.get(label) {
            return of(pending.thread, pending.op, pending.site, None);
        }
        let known = self.counterexamples.iter().find_map(|known| {
            let position = *known.run.positions.get(label)?;
            Some((&known.run, &known.run.trace.events[position]))
        });
        let (run, event) = known.expect("raddle invariant broken: an ordering of an unknown event");
        let object = counterparts(&self.failing, run).get(&event.op.object()).copied();
        of(event.id.thread, event.op.on(object.unwrap_or(ObjectId::NONE)), event.site, None)
    }
}

/// Whether a set is not enough.
enum Refuted {
    /// The last run respects it and does not fail in the same way.
    Yes,
    /// All runs that respect it, this many, fail in the same way.
    No { executions: u64 },
    /// All drawn runs that respect it, this many, fail in the same way.
    Sampled { executions: u64 },
}

/// Returns the numbers that a run chose.
fn numbers_of(run: &Labelled) -> Numbers {
    let events = run.trace.events.iter().zip(&run.labels);
    let numbers = events.filter(|(event, _)| event.op.is_choose());
    let numbers = numbers.filter_map(|(event, label)| match event.effect {
        Effect::Value(value) => Some((*label, value as u32)),
        _ => None,
    });
    numbers.collect()
}

/// Returns the orderings of dependent events that hold in `failing` and not in `other`.
fn broken(failing: &Labelled, other: &Labelled) -> Vec<Constraint> {
    let (accesses, counterparts) = (by_object(failing), counterparts(failing, other));
    let mut clause = Vec::new();
    for (other_after, after) in other.labels.iter().enumerate() {
        if !other.is_candidate(other_after) {
            continue;
        }
        let failing_after = failing.positions.get(after).copied();
        let (object, access) = if let Some(position) = failing_after {
            let footprint = failing.trace.events[position].footprint();
            (footprint.object, footprint.access)
        } else if let Some(pending) = failing.pending.get(after) {
            (pending.op.object(), pending.op.access())
        } else {
            let footprint = other.trace.events[other_after].footprint();
            let object = counterparts.get(&footprint.object);
            (object.copied().unwrap_or(ObjectId::NONE), footprint.access)
        };
        let end = failing_after.unwrap_or(failing.labels.len());
        let before = accesses.get(&object).into_iter().flatten();
        for &position in before.take_while(|&&position| position < end) {
            let before = failing.labels[position];
            let is_kept = || other.positions.get(&before).is_some_and(|&at| at < other_after);
            let is_dependent = failing.trace.events[position].access().conflicts(access);
            if before.deed.thread != after.deed.thread && is_dependent && !is_kept() {
                clause.push(Constraint { before, after: *after });
            }
        }
    }
    clause
}

/// Returns the positions of the candidates on each object.
fn by_object(run: &Labelled) -> HashMap<ObjectId, Vec<usize>> {
    let mut positions: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    for (position, event) in run.trace.events.iter().enumerate() {
        if run.is_candidate(position) {
            positions.entry(event.op.object()).or_default().push(position);
        }
    }
    positions
}

/// Returns the object of `failing` for each one of `other`: both have an event of one label, or look alike.
pub(super) fn counterparts(failing: &Labelled, other: &Labelled) -> HashMap<ObjectId, ObjectId> {
    let mut found = HashMap::new();
    for (event, label) in other.trace.events.iter().zip(&other.labels) {
        if let Some(&position) = failing.positions.get(label) {
            let object = failing.trace.events[position].op.object();
            found.entry(event.op.object()).or_insert(object);
        }
    }
    let looks = |info: &ObjectInfo| (info.kind, info.identity, info.site);
    for (number, info) in (0..).zip(&other.trace.objects) {
        found.entry(ObjectId(number)).or_insert_with(|| {
            let alike =
                (0..).zip(&failing.trace.objects).find(|known| looks(known.1) == looks(info));
            alike.map_or(ObjectId::NONE, |known| ObjectId(known.0))
        });
    }
    found
}

/// Returns how far apart the two events are in the failing run: neighbours explain most.
fn rank(failing: &Labelled, pair: Constraint) -> usize {
    let Some(&before) = failing.positions.get(&pair.before) else { return 0 };
    let after = failing.positions.get(&pair.after).copied();
    let object = failing.trace.events[before].op.object();
    let between = &failing.trace.events[before + 1..after.unwrap_or(failing.labels.len())];
    let between = between.iter().filter(|event| event.op.object() == object).count();
    let is_unknown = after.is_none() && !failing.pending.contains_key(&pair.after);
    2 * between + usize::from(is_unknown)
}
