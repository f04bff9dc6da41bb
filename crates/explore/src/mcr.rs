//! Maximal causality reduction (Huang, PLDI 2015): runs constructed by a solver in which one operation
//! gets another result.
//!
//! For every run, every operation that returns something, and every other result that it could get there,
//! a solver is asked for an order of the run's events in which it does. Of the other events as many as
//! possible are kept; if that can be done in several ways, all of them are run.
//!
//! Promise: when it ends, and neither [`MAX_ANSWERS`] nor the solver has cut anything off, an execution of
//! every class has been run, where executions are in one class if all operations get the same results.
//! Proof sketch: take an execution, and of all runs the one with the largest common part: events that both
//! have, together with everything before them. The next event got another result in that run. The order
//! that the solver was asked for keeps the common part, or the search has run another order that does.

use std::collections::{HashSet, VecDeque};
use std::marker::PhantomData;

use raddle_core::{Action, Choices, Ending, Event, ObjectId, Schedule, ThreadOp, Trace};
use raddle_engine::Object;
use raddle_results::PatternSearch;
use raddle_solve::{Cdcl, Literal, OrderSolver};
use raddle_strategy::mix;

use crate::past::chosen;
use crate::pcr::{
    Done, Found, Guided, Layout, Model, Planned, Question, name, operation, reads_variable,
};
use crate::{Covered, Explorer, Refusal, WIDEST_CHOICE};

/// The most answers to one question.
const MAX_ANSWERS: usize = 256;

/// The search.
#[derive(Debug)]
pub struct Mcr<S = Cdcl> {
    seed: u64,
    runs: u64,
    queue: VecDeque<Planned>,
    planned: HashSet<u64>,
    analysed: HashSet<u64>,
    current: Option<Planned>,
    counts: PatternSearch,
    is_cut_off: bool,
    refusal: Option<Refusal>,
    chooser: Guided,
    solver: PhantomData<S>,
}

/// Another result of a step.
struct OtherResult {
    step: u32,
    literals: Vec<Literal>,
    /// The number to choose, if the step is a choice.
    number: Option<u32>,
}

impl Mcr {
    /// Makes a search whose random choices are seeded from `seed`.
    pub fn new(seed: u64) -> Mcr {
        Mcr::with_solver(seed)
    }
}

impl<S: OrderSolver> Mcr<S> {
    /// Makes a search that asks another kind of solver, a new one for each run.
    pub fn with_solver(seed: u64) -> Mcr<S> {
        Mcr {
            seed,
            runs: 0,
            queue: VecDeque::new(),
            planned: HashSet::new(),
            analysed: HashSet::new(),
            current: None,
            counts: PatternSearch::default(),
            is_cut_off: false,
            refusal: None,
            chooser: Guided::default(),
            solver: PhantomData,
        }
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> PatternSearch {
        self.counts
    }

    fn analyse(&mut self, trace: &Trace) {
        let layout = Layout::new(trace);
        if !self.analysed.insert(results(trace, &layout)) {
            return;
        }
        let mut model = Model::<S>::new(trace);
        for step in 0..(trace.events.len() + trace.pending.len()) as u32 {
            for other in others(&mut model, step) {
                self.counts.generated += 1;
                self.solve(&other, &mut model);
            }
        }
        self.plan_other_ends(&mut model);
        model.count(&mut self.counts);
    }

    /// Plans runs with the same results in which other writes are the last to their variables.
    fn plan_other_ends(&mut self, model: &mut Model<'_, impl OrderSolver>) {
        let variables = last_writes(model.trace, &model.layout);
        if variables.is_empty() {
            return;
        }
        self.counts.generated += 1;
        let kept = (0..model.trace.events.len() as u32).collect();
        let mut literals = model.literals(&Question { kept, ..Question::default() });
        let switch = model.switch();
        literals.push(switch);
        let last: Vec<Vec<(u32, Literal)>> = variables
            .iter()
            .map(|writes| {
                let mut last = Vec::with_capacity(writes.len());
                for &write in writes {
                    last.push((write, model.last_of(write, writes)));
                }
                let any: Vec<Literal> = last.iter().map(|(_, literal)| *literal).collect();
                model.demand_any(switch, &any);
                last
            })
            .collect();
        for way in 0..=MAX_ANSWERS {
            let order = match model.solve(&literals) {
                Found::Order(order) => order,
                Found::Impossible(_) => return,
                Found::Unknown => {
                    self.counts.unknown += 1;
                    self.is_cut_off = true;
                    return;
                }
            };
            if way == MAX_ANSWERS {
                self.is_cut_off = true;
                return;
            }
            self.add(Planned::new(model, &order, None));
            let position = |write: u32| order.iter().position(|done| done.step == write);
            let as_here = |writes: &Vec<(u32, Literal)>| {
                let newest = writes.iter().max_by_key(|(write, _)| position(*write));
                newest.map(|(_, literal)| !*literal)
            };
            let other: Vec<Literal> = last.iter().filter_map(as_here).collect();
            model.demand_any(switch, &other);
        }
    }

    fn add(&mut self, planned: Planned) {
        self.counts.solved += 1;
        if self.planned.insert(planned.class) {
            self.queue.push_back(planned);
        } else {
            self.counts.duplicates += 1;
        }
    }

    /// Plans a run for every way to give a step another result.
    fn solve(&mut self, other: &OtherResult, model: &mut Model<'_, impl OrderSolver>) {
        let wanted: Vec<u32> = {
            let me = name(model.trace, &model.layout, other.step);
            let events = model.trace.events.iter().enumerate();
            let is_free = |id: raddle_core::EventId| id.thread != me.thread || id.index < me.index;
            events
                .filter(|(_, event)| is_free(event.id))
                .map(|(position, _)| position as u32)
                .collect()
        };
        let switch = model.switch();
        let mut literals = other.literals.clone();
        literals.push(switch);
        for way in 0..=MAX_ANSWERS {
            let order = match model.solve(&literals) {
                Found::Order(order) => grow(model, &literals, &wanted, order),
                Found::Impossible(_) if way > 0 => return,
                Found::Impossible(_) => {
                    self.counts.unsat += 1;
                    return;
                }
                Found::Unknown => {
                    self.counts.unknown += 1;
                    self.is_cut_off = true;
                    return;
                }
            };
            if way == MAX_ANSWERS {
                self.is_cut_off = true;
                return;
            }
            let is_kept =
                |event: u32| order.iter().any(|done| done.step == event && !done.is_attempt);
            let left: Vec<u32> = wanted.iter().copied().filter(|&event| !is_kept(event)).collect();
            self.add(Planned::new(model, &order, other.number));
            if left.is_empty() {
                return;
            }
            let left: Vec<Literal> = left.into_iter().map(|event| model.keep(event)).collect();
            model.demand_any(switch, &left);
        }
    }
}

/// Adds events of `wanted` to an order until no further one can be kept.
fn grow(
    model: &mut Model<'_, impl OrderSolver>,
    literals: &[Literal],
    wanted: &[u32],
    order: Vec<Done>,
) -> Vec<Done> {
    let mut all = literals.to_vec();
    all.extend(wanted.iter().map(|&event| model.keep(event)));
    if let Found::Order(order) = model.solve(&all) {
        return order;
    }
    let mut order = order;
    for &event in wanted {
        let is_kept = |event: u32, order: &[Done]| {
            order.iter().any(|done| done.step == event && !done.is_attempt)
        };
        if is_kept(event, &order) {
            continue;
        }
        let mut more = literals.to_vec();
        more.extend(order.iter().filter(|done| !done.is_attempt).map(|done| model.keep(done.step)));
        more.push(model.keep(event));
        if let Found::Order(larger) = model.solve(&more) {
            order = larger;
        }
    }
    order
}

/// Returns the other results that a step could get, as far as the run shows.
fn others(model: &mut Model<'_, impl OrderSolver>, step: u32) -> Vec<OtherResult> {
    let trace = model.trace;
    let op = operation(trace, step);
    let object = op.object();
    let attempt = Question { attempted: vec![step], ..Question::default() };
    let recorded = trace.events.get(step as usize);
    if object == ObjectId::NONE {
        let Some((bound, value)) = recorded.and_then(chosen) else { return Vec::new() };
        let literals = model.literals(&attempt);
        let other = |number| OtherResult { step, literals: literals.clone(), number: Some(number) };
        return (0..bound).filter(|&number| number != value).map(other).collect();
    }
    if model.layout.is_variable[object.index()] {
        if !reads_variable(op) || recorded.is_none() {
            return Vec::new();
        }
        let found = model.layout.reads[step as usize];
        let values = model.values(object).into_iter().filter(|&value| Some(value) != found);
        let mut others = Vec::new();
        for value in values {
            let mut literals = model.literals(&attempt);
            literals.push(model.find(step, value));
            others.push(OtherResult { step, literals, number: None });
        }
        return others;
    }
    other_versions(model, step, &attempt)
}

/// Returns a result for every other state of an object, not a variable, in which a step on it is enabled.
fn other_versions(
    model: &mut Model<'_, impl OrderSolver>,
    step: u32,
    attempt: &Question,
) -> Vec<OtherResult> {
    let trace = model.trace;
    let op = operation(trace, step);
    let thread = name(trace, &model.layout, step).thread;
    let object = op.object().index();
    let updates = model.layout.updates[object].clone();
    let found =
        model.layout.version.get(step as usize).map_or(updates.len(), |&version| version as usize);
    let mut state = Object::from(&trace.objects[object]);
    let mut others = Vec::new();
    for version in 0..=updates.len() {
        if version > 0 {
            let update = updates[version - 1];
            if update == step {
                break;
            }
            state.apply(operation(trace, update), trace.events[update as usize].id.thread);
        }
        if version == found || !state.enabled(op, thread) {
            continue;
        }
        let mut literals = model.literals(attempt);
        if version > 0 {
            literals.push(model.keep(updates[version - 1]));
        }
        if version < updates.len() {
            literals.push(!model.keep(updates[version]));
        }
        others.push(OtherResult { step, literals, number: None });
    }
    others
}

/// Returns the writes of each variable that may hold different values at the end of a run.
fn last_writes(trace: &Trace, layout: &Layout) -> Vec<Vec<u32>> {
    // Only these endings are ends of all threads.
    if !matches!(trace.ending, Ending::Finished | Ending::Deadlock | Ending::Stopped) {
        return Vec::new();
    }
    let left = |update: u32| layout.writes[update as usize];
    let is_open =
        |updates: &&Vec<u32>| updates.iter().any(|&update| left(update) != left(updates[0]));
    let objects = layout.updates.iter().zip(&layout.is_variable);
    let variables = objects.filter(|(_, is_variable)| **is_variable).map(|(updates, _)| updates);
    variables.filter(is_open).cloned().collect()
}

/// Returns whether the position of an event can matter.
fn can_change_places(event: &Event) -> bool {
    match event.op.action() {
        Action::Thread(op) => op == ThreadOp::IsFinished,
        Action::Fence(_) | Action::Pause(_) => false,
        _ => true,
    }
}

/// Returns a hash of the results of all operations of a run.
fn results(trace: &Trace, layout: &Layout) -> u64 {
    let pack = |position: u32| {
        let id = trace.events[position as usize].id;
        u64::from(id.thread.0) << 32 | u64::from(id.index)
    };
    let mut all = 0u64;
    for (position, event) in trace.events.iter().enumerate() {
        let mut hash = mix(1, pack(position as u32));
        let object = event.op.object();
        if object == ObjectId::NONE {
            hash = mix(hash, chosen(event).map_or(0, |(_, value)| u64::from(value) + 1));
        } else if layout.is_variable[object.index()] {
            // A write is identified by its event in other runs, a value by itself.
            let found =
                layout.reads[position].map(|found| match layout.writes.get(found as usize) {
                    Some(_) if layout.is_by_write(object) => pack(found as u32),
                    _ => found,
                });
            hash = mix(hash, found.map_or(0, |found| found.wrapping_add(1)));
        } else {
            let version = layout.version[position];
            let update =
                version.checked_sub(1).map(|last| layout.updates[object.index()][last as usize]);
            hash = mix(hash, update.map_or(0, |update| pack(update) + 1));
        }
        all = all.wrapping_add(hash);
    }
    // Runs with different blocked threads differ although all results are the same.
    trace
        .pending
        .iter()
        .fold(all, |all, pending| all.wrapping_add(mix(2, u64::from(pending.thread.0))))
}

impl<S: OrderSolver> Explorer for Mcr<S> {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        prefix.clear();
        if self.runs > 0 {
            self.current = self.queue.pop_front();
            let Some(planned) = &self.current else {
                self.counts.is_done = true;
                return false;
            };
            prefix.extend_from_slice(&planned.schedule);
        }
        self.chooser.begin(mix(self.seed, self.runs), &[]);
        self.runs += 1;
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(&mut self.chooser)
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        if let Some(planned) = self.current.take() {
            planned.outcome(trace).count(&mut self.counts);
        }
        let wide = |event| chosen(event).filter(|(bound, _)| *bound > WIDEST_CHOICE);
        let site =
            trace.events.iter().find_map(|event| wide(event).map(|(bound, _)| (bound, event.site)));
        self.refusal = site
            .map(|(bound, site)| Refusal::ChoiceTooWide { bound, site })
            .or_else(|| Refusal::of_futexes(trace));
        if run == 0 && self.refusal.is_none() {
            let nothing = !trace.events.iter().any(can_change_places);
            self.refusal = Refusal::of_accesses(trace, nothing);
        }
        if self.refusal.is_none() {
            self.analyse(trace);
        }
    }

    fn covered(&self, is_done: bool) -> Covered {
        if is_done && !self.is_cut_off && self.counts.missed == 0 {
            Covered::Everything
        } else {
            Covered::Nothing
        }
    }

    fn plans_long(&self) -> bool {
        true
    }

    fn restart(&mut self) -> bool {
        *self = Mcr::with_solver(self.seed);
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal.clone()
    }

    fn patterns(&self) -> Option<PatternSearch> {
        Some(self.counts)
    }
}
