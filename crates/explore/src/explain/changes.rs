//! Orders of steps that repair a failure: one order of locks, one lock around what the threads do, or a cause turned round.
//!
//! Promise: every repair was tried on all executions of the program, each of which ended well, and none of which was
//! held up by the change. A cause turned round says which order the program has to enforce. A lock is tried around what a
//! thread does between its first and last step in the causes, and around all that it does with their objects, each time
//! with whole critical sections. A thread that is about to do something that was not seen in between gives the lock back,
//! as one that takes another branch.

use std::collections::HashSet;

use raddle_core::locks::{Change as LockChange, change};
use raddle_core::{Choices, ObjectId, Rng, Schedule, ThreadId, mix};
use raddle_results::{Change, MovedLock, Region, Repair, Unknown};

use super::causes::{Found, counterparts};
use super::guide::{self, Constraint, Draws, Guide, Numbers, Regions};
use super::labels::{Label, Labelled};
use super::lock_order::{LockOrder, cycle, orders};
use super::sweep::{Swept, sweep};
use super::{Outcome, Trials};

/// The executions that are drawn before all are tried.
const DRAWS: u64 = 20;
/// The most orderings that are turned round.
const MAX_TURNED: usize = 4;

/// Returns repairs of a failure whose causes are known.
pub(crate) fn changes(trials: &mut dyn Trials, found: &mut Found) -> Result<Vec<Repair>, Unknown> {
    let mut repairs = Vec::new();
    let mut unknown = Unknown::NoChange;
    let cycle = cycle(&found.failing.trace);
    for (locks, order) in cycle.iter().flat_map(|cycle| orders(found, cycle)).collect::<Vec<_>>() {
        let moved = order.moved.clone();
        match holds(trials, found, &[], &[], Some(order)) {
            Ok(Some(executions)) => {
                let moved = moved.iter().map(|(first, second)| MovedLock {
                    first: found.event(first),
                    second: found.event(second),
                });
                let change = Change::LockOrder { locks, moved: moved.collect() };
                return Ok(vec![Repair { change, executions }]);
            }
            Ok(None) => {}
            Err(limit) => unknown = limit,
        }
    }
    for by in [Extent::Causes, Extent::Objects] {
        let regions = regions(found, by);
        if regions.is_empty() {
            continue;
        }
        match holds(trials, found, &[], &regions, None) {
            Ok(Some(executions)) => {
                let regions = regions.iter().map(|region| Region {
                    first: found.event(&region.first),
                    last: found.event(&region.last),
                });
                repairs.push(Repair { change: Change::Excluded(regions.collect()), executions });
                break;
            }
            Ok(None) => {}
            Err(limit) => unknown = limit,
        }
    }
    let is_repaired = !repairs.is_empty();
    for pair in found.set.clone().into_iter().take(if is_repaired { 0 } else { MAX_TURNED }) {
        let turned = Constraint { before: pair.after, after: pair.before };
        match holds(trials, found, &[turned], &[], None) {
            Ok(Some(executions)) => {
                let change = Change::Turned(found.ordered(&pair));
                repairs.push(Repair { change, executions });
            }
            Ok(None) => {}
            Err(limit) => unknown = limit,
        }
    }
    if repairs.is_empty() { Err(unknown) } else { Ok(repairs) }
}

/// What a region has to contain.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Extent {
    /// The steps of the thread in the causes.
    Causes,
    /// All that the thread does with the objects of the causes.
    Objects,
}

/// A region, as one thread shows it.
#[derive(Clone)]
struct Shown {
    first: Label,
    last: Label,
    region: guide::Region,
}

/// Tries a change on all executions. Returns their number, or `None` if one of them fails or is held up.
fn holds(
    trials: &mut dyn Trials,
    found: &mut Found,
    constraints: &[Constraint],
    regions: &[Shown],
    order: Option<LockOrder>,
) -> Result<Option<u64>, Unknown> {
    let numbers = Numbers::new();
    let mut guide = Guide::new(constraints, &numbers, &mut found.sites);
    guide.exclude(Regions::new(regions.iter().map(|shown| shown.region.clone()).collect()));
    if let Some(order) = order {
        guide.put_in_order(order);
    }
    for draw in 0..DRAWS {
        let mut chooser = Draws::new(&mut guide, Rng::new(mix(draw, 1)), draw % 2 == 1);
        let choices = Choices::Chooser(&mut chooser);
        let outcome = trials.run(&Schedule::new(), choices);
        let is_held = chooser.is_held();
        match outcome.ok_or_else(|| trials.limit())? {
            Outcome::Same | Outcome::Other => return Ok(None),
            _ if is_held => return Ok(None),
            Outcome::Passes | Outcome::GivenUp | Outcome::Stopped | Outcome::Incomplete => {}
        }
    }
    match sweep(trials, &mut guide, Outcome::Passes) {
        Swept::All(executions) => Ok(guide.keeps_order().then_some(executions)),
        Swept::Counterexample => Ok(None),
        Swept::Unfinished => Err(trials.limit()),
    }
}

/// Returns a region for each thread in the causes. Threads with the same code show the same region.
fn regions(found: &Found, extent: Extent) -> Vec<Shown> {
    let labels: Vec<Label> = found.set.iter().flat_map(|pair| [pair.before, pair.after]).collect();
    let of_label = |label: &Label| {
        let event = found.event(label);
        (event.op.object() != ObjectId::NONE).then(|| event.op.object())
    };
    let objects: HashSet<ObjectId> = labels.iter().filter_map(of_label).collect();
    let mut threads: Vec<ThreadId> = labels.iter().map(|label| label.deed.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut regions: Vec<Shown> = Vec::new();
    for thread in threads {
        let wanted: Vec<&Label> =
            labels.iter().filter(|label| label.deed.thread == thread).collect();
        // A run in which the thread does all of that, and more, if there is one.
        let has_all =
            |run: &&Labelled| wanted.iter().all(|label| run.positions.contains_key(label));
        let steps = |run: &&Labelled| {
            run.trace.events.iter().filter(|event| event.id.thread == thread).count()
        };
        let runs = found.others().filter(has_all);
        let Some(run) = runs.max_by_key(steps) else { continue };
        let to_failing = counterparts(&found.failing, run);
        let is_wanted = |position: usize| match extent {
            Extent::Causes => wanted.contains(&&run.labels[position]),
            Extent::Objects => to_failing
                .get(&run.trace.events[position].op.object())
                .is_some_and(|object| objects.contains(object)),
        };
        let Some((first, last)) = region(run, thread, is_wanted) else { continue };
        let own = (first..=last).filter(|&at| run.trace.events[at].id.thread == thread);
        let within: HashSet<guide::Place> = own.map(|at| run.labels[at].deed.place()).collect();
        let (first, last) = (run.labels[first], run.labels[last]);
        let (begin, end) = (first.deed.place(), last.deed.place());
        let is_same = |shown: &&mut Shown| (shown.region.first, shown.region.last) == (begin, end);
        match regions.iter_mut().find(is_same) {
            Some(known) => known.region.within.extend(within),
            None => {
                let region = guide::Region { first: begin, last: end, within };
                regions.push(Shown { first, last, region });
            }
        }
    }
    // What is done within another region needs none of its own.
    let places = |one: &Shown| [one.region.first, one.region.last];
    let is_part = |one: &Shown, of: &Shown| {
        places(one) != places(of)
            && places(one).iter().all(|place| of.region.within.contains(place))
    };
    let parts: Vec<bool> = regions
        .iter()
        .map(|one| regions.iter().any(|of| is_part(one, of) && !is_part(of, one)))
        .collect();
    let mut part = parts.iter();
    regions.retain(|_| !part.next().expect("raddle invariant broken: a region is missing"));
    regions
}

/// Returns the first and the last position of what a thread does from the first wanted event to the last, with whole
/// critical sections.
fn region(
    run: &Labelled,
    thread: ThreadId,
    is_wanted: impl Fn(usize) -> bool,
) -> Option<(usize, usize)> {
    let events = &run.trace.events;
    let own: Vec<usize> = (0..events.len())
        .filter(|&position| events[position].id.thread == thread && run.is_candidate(position))
        .collect();
    let first = own.iter().copied().find(|&position| is_wanted(position))?;
    let last = own.iter().copied().rfind(|&position| is_wanted(position))?;
    let (mut first, mut last) = (first, last);
    loop {
        let before = (first, last);
        let mut held: Vec<(ObjectId, usize)> = Vec::new();
        for &position in &own {
            let lock = events[position].op.object();
            match change(&events[position]) {
                Some(LockChange::Acquired { .. }) => held.push((lock, position)),
                Some(LockChange::Released) => {
                    let Some(place) = held.iter().rposition(|one| one.0 == lock) else { continue };
                    let (_, acquired) = held.remove(place);
                    let (begins, ends) =
                        ((first..=last).contains(&acquired), (first..=last).contains(&position));
                    if begins != ends {
                        (first, last) = (first.min(acquired), last.max(position));
                    }
                }
                None => {}
            }
        }
        if (first, last) == before {
            return Some((first, last));
        }
    }
}
