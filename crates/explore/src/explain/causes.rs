//! Causes: the least set of orderings under which every run fails in the same way (an implicit hitting set).
//!
//! A failing run satisfies many orderings. A set of them is enough if every run that respects the set fails like it.
//! Runs that respect a set and do not, or cannot continue under it, are counterexamples: any set that is enough has one
//! of the orderings that the counterexample breaks. So the least set that breaks all counterexamples so far is tried,
//! until a sweep of all runs that respect it finds no counterexample. Then the set is enough, and no smaller one is.
//!
//! An ordering may be about a step that the failing run has not come to: what is wrong is often that something has not
//! happened yet. So orderings are made from counterexamples, whose steps they name.

use raddle_core::dependence::conflict;
use raddle_core::{Choices, Effect, ObjectId, Op, Rng, Schedule, Site, ThreadId, Trace, mix};
use raddle_results::{CauseEvent, Causes, Certificate, OrderedPair, Sufficiency};

use super::guide::{Constraint, Draws, Guide, Numbers};
use super::hitting::least_hitting_set;
use super::labels::{Label, Labelled, Sites};
use super::sweep::{Swept, sweep};
use super::{Outcome, Trials};

/// Longer runs have too many orderings.
const MAX_STEPS: usize = 1_000;
/// The most sets that are tried.
const MAX_ROUNDS: u64 = 200;
/// The most tokens of counterexamples that are kept.
const MAX_TOKENS: usize = 20;

/// Returns the causes of a failing run, or `None` if they are not found within the budget. Each set is tried on `draws`
/// runs before it is proved.
pub(crate) fn causes(trials: &mut dyn Trials, failing: &Trace, draws: u64) -> Option<Causes> {
    if failing.events.len() > MAX_STEPS {
        return None;
    }
    let mut sites = Sites::default();
    let failing = Labelled::new(failing.clone(), &mut sites);
    let numbers = numbers_of(&failing);
    let mut seeker = Seeker { trials, failing, numbers, sites, clauses: Vec::new(), draws };
    seeker.seek()
}

/// A run that does not fail in the same way.
struct Counterexample {
    /// The orderings of the failing run that it breaks.
    clause: Vec<Constraint>,
    token: String,
    /// Its events, to describe steps that the failing run has not come to.
    run: Labelled,
}

struct Seeker<'t> {
    trials: &'t mut dyn Trials,
    failing: Labelled,
    numbers: Numbers,
    sites: Sites,
    clauses: Vec<Counterexample>,
    draws: u64,
}

impl Seeker<'_> {
    fn seek(&mut self) -> Option<Causes> {
        for round in 0..MAX_ROUNDS {
            let clauses: Vec<Vec<Constraint>> =
                self.clauses.iter().map(|known| known.clause.clone()).collect();
            let set = least_hitting_set(&clauses, |c| rank(&self.failing, c))?;
            let sufficient = match self.refute(&set, round) {
                Refuted::Yes => {
                    let run = Labelled::new(self.trials.trace().clone(), &mut self.sites);
                    let clause = broken(&self.failing, &run);
                    if clause.is_empty() {
                        // Orderings of what is seen do not tell the two runs apart.
                        return None;
                    }
                    self.clauses.push(Counterexample { clause, token: self.trials.token(), run });
                    continue;
                }
                Refuted::No { executions } => Sufficiency::Proved { executions },
                Refuted::Sampled { executions } => Sufficiency::Sampled { executions },
                Refuted::Unknown => return None,
            };
            return Some(self.result(&set, sufficient));
        }
        None
    }

    /// Looks for a run that respects `set` and does not fail in the same way. It is the last run then.
    fn refute(&mut self, set: &[Constraint], round: u64) -> Refuted {
        let mut guide = Guide::new(set, &self.numbers, &mut self.sites);
        let mut failing = 0;
        for draw in 0..self.draws {
            let rng = Rng::new(mix(round, draw));
            let mut chooser = Draws::new(&mut guide, rng, draw % 2 == 1);
            let choices = Choices::Chooser(&mut chooser);
            let Some(outcome) = self.trials.run(&Schedule::new(), choices) else {
                return Refuted::Unknown;
            };
            match outcome {
                Outcome::Other | Outcome::Passes => return Refuted::Yes,
                Outcome::GivenUp if chooser.is_held() => return Refuted::Yes,
                Outcome::Same => failing += 1,
                // No whole executions.
                Outcome::GivenUp | Outcome::Stopped | Outcome::Incomplete => {}
            }
        }
        match sweep(self.trials, &mut guide) {
            Swept::AllFail(executions) => Refuted::No { executions },
            Swept::Counterexample => Refuted::Yes,
            Swept::Unfinished if failing > 0 => Refuted::Sampled { executions: failing },
            Swept::Unfinished => Refuted::Unknown,
        }
    }

    fn result(&self, set: &[Constraint], sufficient: Sufficiency) -> Causes {
        let mut orderings: Vec<OrderedPair> = set.iter().map(|pair| self.ordered(pair)).collect();
        let place = |event: &CauseEvent| event.position.unwrap_or(usize::MAX);
        orderings.sort_by_key(|pair| (place(&pair.before), place(&pair.after)));
        let tokens = self.clauses.iter().take(MAX_TOKENS).map(|known| known.token.clone());
        let certificate = Certificate {
            sufficient,
            refuted: self.clauses.len() as u64,
            counterexamples: tokens.collect(),
        };
        Causes { orderings, certificate }
    }

    fn ordered(&self, pair: &Constraint) -> OrderedPair {
        let before = self.event(&pair.before, None);
        // Both are about one object.
        let object = before.op.object();
        OrderedPair { after: self.event(&pair.after, Some(object)), before }
    }

    /// Describes an event in terms of the failing run.
    fn event(&self, label: &Label, object: Option<ObjectId>) -> CauseEvent {
        let of = |thread: ThreadId, op: Op, site: Site, position: Option<usize>| CauseEvent {
            thread,
            op: object.map_or(op, |object| op.on(object)),
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
        let known = self.clauses.iter().find_map(|known| {
            let position = *known.run.positions.get(label)?;
            Some(&known.run.trace.events[position])
        });
        let event = known.expect("raddle invariant broken: an ordering of an unknown event");
        of(event.id.thread, event.op, event.site, None)
    }
}

/// Whether a set is not enough.
enum Refuted {
    /// The last run respects it and does not fail in the same way.
    Yes,
    /// All runs that respect it, this many, fail in the same way.
    No {
        executions: u64,
    },
    /// All drawn runs that respect it, this many, fail in the same way.
    Sampled {
        executions: u64,
    },
    Unknown,
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
    let mut clause = Vec::new();
    for (other_after, after) in other.labels.iter().enumerate() {
        if !other.is_candidate(other_after) {
            continue;
        }
        let failing_after = failing.positions.get(after).copied();
        let end = failing_after.unwrap_or(failing.labels.len());
        for (failing_before, before) in failing.labels[..end].iter().enumerate() {
            let other_before = other.positions.get(before).copied();
            if before.deed.thread == after.deed.thread
                || !failing.is_candidate(failing_before)
                || other_before.is_some_and(|position| position < other_after)
            {
                continue;
            }
            let of_failing = failing.trace.events[failing_before].footprint();
            let of_failing = (of_failing.object, of_failing.access);
            let of_other = other.trace.events[other_after].footprint();
            let of_other = (of_other.object, of_other.access);
            let is_dependent = if let Some(position) = failing_after {
                let footprint = failing.trace.events[position].footprint();
                conflict(of_failing, (footprint.object, footprint.access))
            } else if let Some(pending) = failing.pending.get(after) {
                conflict(of_failing, (pending.op.object(), pending.op.access()))
            } else if let Some(position) = other_before {
                let footprint = other.trace.events[position].footprint();
                conflict((footprint.object, footprint.access), of_other)
            } else {
                is_same_object(failing, of_failing.0, other, of_other.0)
                    && of_failing.1.conflicts(of_other.1)
            };
            if is_dependent {
                clause.push(Constraint { before: *before, after: *after });
            }
        }
    }
    clause
}

/// Returns whether objects of two runs are the same as far as their first use tells.
fn is_same_object(one: &Labelled, object: ObjectId, other: &Labelled, same: ObjectId) -> bool {
    let info = |run: &Labelled, object: ObjectId| {
        run.trace.objects.get(object.index()).map(|info| (info.kind, info.identity, info.site))
    };
    object != ObjectId::NONE
        && info(one, object).is_some_and(|known| Some(known) == info(other, same))
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
