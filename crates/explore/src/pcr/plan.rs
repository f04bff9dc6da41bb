//! An order that a solver found as a plan for a run, and the comparison with the run.

use std::collections::{HashMap, VecDeque};

use raddle_core::{
    Action, Effect, Ending, EventId, ObjectId, ObjectKind, Scalar, Schedule, Site, Trace,
};
use raddle_results::PatternSearch;
use raddle_solve::OrderSolver;
use raddle_strategy::mix;

use super::layout::{name, operation};
use super::model::{Done, Model};
use crate::past::chosen;

/// A run to be made.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    /// Its prefix.
    pub(crate) schedule: Schedule,
    /// The steps after the prefix, in this order, each as soon as it is enabled.
    pub(crate) goals: Vec<EventId>,
    /// The expected events of the prefix.
    expected: Vec<Expected>,
    /// A hash of its equivalence class.
    pub(crate) class: u64,
}

#[derive(Clone, Debug)]
struct Expected {
    event: EventId,
    site: Site,
    kind: std::mem::Discriminant<Action>,
    /// `None` if it is unknown.
    effect: Option<Effect>,
}

impl Planned {
    /// Makes the plan of `order`, found by `model`. An attempted choice takes `number`.
    pub(crate) fn new(
        model: &Model<'_, impl OrderSolver>,
        order: &[Done],
        number: Option<u32>,
    ) -> Planned {
        let (now, later) = split(model, order);
        let events = |done: &Done| name(model.trace, &model.layout, done.step);
        let expected = now
            .iter()
            .map(|done| {
                let recorded = model.trace.events.get(done.step as usize);
                let site = match recorded {
                    Some(event) => event.site,
                    None => model.trace.pending[done.step as usize - model.trace.events.len()].site,
                };
                let op = operation(model.trace, done.step);
                let effect =
                    recorded.filter(|_| !done.is_attempt && !is_address(model.trace, op.object()));
                Expected {
                    event: events(done),
                    site,
                    kind: std::mem::discriminant(&op.action()),
                    effect: effect.map(|event| event.effect),
                }
            })
            .collect();
        Planned {
            schedule: model.schedule(&now, number),
            goals: later.iter().map(events).collect(),
            expected,
            class: mix(class(model, order), number.map_or(0, |number| u64::from(number) + 1)),
        }
    }

    /// Returns the outcome of the plan in a run.
    pub(crate) fn outcome(&self, trace: &Trace) -> Outcome {
        let as_expected = self.expected.iter().zip(&trace.events).all(|(expected, event)| {
            let kind = std::mem::discriminant(&event.op.action());
            let same =
                (event.id, event.site, kind) == (expected.event, expected.site, expected.kind);
            same && expected.effect.is_none_or(|effect| effect == event.effect)
        });
        if !as_expected {
            return Outcome::Missed;
        }
        let Some(rest) = trace.events.get(self.expected.len()..) else {
            let is_cut_off = matches!(trace.ending, Ending::Panicked(_));
            return if is_cut_off { Outcome::Blocked } else { Outcome::Missed };
        };
        let mut rest = rest.iter();
        if self.goals.iter().all(|goal| rest.any(|event| event.id == *goal)) {
            return Outcome::Exhibited;
        }
        // The thread of the next goal is still blocked, or the run failed before.
        let waits =
            |goal: &EventId| trace.pending.iter().any(|pending| pending.thread == goal.thread);
        if self.goals.iter().any(waits) { Outcome::Blocked } else { Outcome::Missed }
    }
}

/// The outcome of a plan.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// All steps were performed.
    Exhibited,
    /// The plan was followed until no thread was enabled.
    Blocked,
    /// The plan was not followed.
    Missed,
}

impl Outcome {
    /// Counts the outcome.
    pub(crate) fn count(self, counts: &mut PatternSearch) {
        match self {
            Outcome::Exhibited => counts.exhibited += 1,
            Outcome::Blocked => counts.blocked += 1,
            Outcome::Missed => counts.missed += 1,
        }
    }
}

/// Returns the steps that are certainly enabled, and those that may be blocked: a second attempt on an object
/// that is not a variable.
fn split(model: &Model<'_, impl OrderSolver>, order: &[Done]) -> (Vec<Done>, VecDeque<Done>) {
    let mut attempted: Vec<ObjectId> = Vec::new();
    let (mut now, mut later) = (Vec::with_capacity(order.len()), VecDeque::new());
    for &done in order {
        let object = operation(model.trace, done.step).object();
        let can_wait = done.is_attempt
            && object != ObjectId::NONE
            && !model.layout.is_variable[object.index()];
        if can_wait && attempted.contains(&object) {
            later.push_back(done);
            continue;
        }
        if can_wait {
            attempted.push(object);
        }
        now.push(done);
    }
    (now, later)
}

/// Returns a hash of the equivalence class of an order: every event with the update it follows.
fn class(model: &Model<'_, impl OrderSolver>, order: &[Done]) -> u64 {
    let pack = |event: EventId| u64::from(event.thread.0) << 32 | u64::from(event.index);
    let mut last: HashMap<ObjectId, u64> = HashMap::new();
    let mut class: u64 = 0;
    for done in order {
        let event = pack(name(model.trace, &model.layout, done.step));
        let op = operation(model.trace, done.step);
        let recorded = model.trace.events.get(done.step as usize);
        let access = match recorded {
            Some(event) if !done.is_attempt => event.access(),
            _ => op.access(),
        };
        let mut hash = mix(event, u64::from(done.is_attempt));
        if op.object() != ObjectId::NONE {
            let follows = last.entry(op.object()).or_insert(u64::MAX);
            hash = mix(hash, *follows);
            if model.layout.changes(op.object(), access) {
                *follows = event;
            }
        } else if let Some((_, value)) = recorded.filter(|_| !done.is_attempt).and_then(chosen) {
            hash = mix(hash, u64::from(value) + 1);
        }
        class = class.wrapping_add(hash);
    }
    class
}

fn is_address(trace: &Trace, object: ObjectId) -> bool {
    let info = trace.objects.get(object.index());
    info.is_some_and(|info| info.kind == ObjectKind::Atomic(Scalar::Pointer))
}
