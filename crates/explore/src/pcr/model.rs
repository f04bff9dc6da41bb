//! The constraint model of a run: which of its events can be repeated in another order.
//!
//! After maximal causality (Huang, PLDI 2015): a run shows what every thread does as long as all its
//! results stay the same. An event is *kept* if it is repeated with the same effect. That requires the
//! events before it in its thread (or the thread's spawn) to be kept, and
//! - for a read of a variable: a kept write of the value it needs, and no other write between them;
//! - for any other object, whose whole history may matter: everything that changed it before, kept, and
//!   nothing else.
//!
//! A step is *attempted* if everything before it in its thread is kept, but its result is free. The effect
//! of an attempted write is unknown, so that no kept event may depend on it; an attempted operation that
//! can block is performed when the history of its object enables it.
//!
//! Constraints are added lazily: those of an event when it is first asked for, and that a write is not
//! between two others when an answer puts it there. Memory is linear in the constraints added.

use std::collections::HashMap;

use raddle_core::{Choice, ObjectId, Schedule, Trace};
use raddle_engine::Object;
use raddle_results::PatternSearch;
use raddle_solve::{Answer, Literal, Node, OrderSolver, shrink_core};

use super::layout::{Layout, NONE, name, operation};

/// The most writes that a read can choose from; the nearest ones.
const MOST_SOURCES: usize = 64;

/// Cores with more literals than this are not minimised.
const SHRUNK: usize = 8;

/// The constraints of a run.
pub(crate) struct Model<'t, S> {
    pub(crate) trace: &'t Trace,
    pub(crate) layout: Layout,
    solver: S,
    /// By event: the literal that it is kept, if it was asked for.
    kept: Vec<Option<Literal>>,
    /// The events that have such a literal.
    stated: Vec<u32>,
    to_state: Vec<u32>,
    /// The writes that reads can read from.
    sources: HashMap<u32, Vec<Source>>,
    attempts: Vec<Attempt>,
    attempt_of: HashMap<u32, usize>,
    /// By variable: its writes by content, computed when asked for.
    writers: HashMap<(u32, u64), Vec<u32>>,
    has_writers: Vec<bool>,
    /// Whether some read cannot choose from all writes, so that "impossible" may be wrong.
    is_cut_off: bool,
    /// The number of calls of the solver.
    asked: u64,
}

/// A write that a read may read from; none for the initial content.
#[derive(Copy, Clone, Debug)]
struct Source {
    literal: Literal,
    write: Option<u32>,
    value: u64,
}

/// A step with an unknown result.
#[derive(Clone, Debug)]
struct Attempt {
    step: u32,
    node: Node,
    literal: Literal,
    /// The literals that it finds a certain content.
    finds: Vec<(u64, Literal)>,
    sources: Vec<Source>,
}

/// A question to a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    /// Events to be kept.
    pub(crate) kept: Vec<u32>,
    /// Steps to be attempted.
    pub(crate) attempted: Vec<u32>,
    /// Steps in the order that is required. Each is kept or attempted.
    pub(crate) order: Vec<u32>,
    /// Other constraints.
    pub(crate) also: Vec<Literal>,
}

/// The answer of a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// These steps can be performed in this order.
    Order(Vec<Done>),
    /// There is no such order, because of these literals alone.
    Impossible(Vec<Literal>),
    /// No order was found, but the search was cut off.
    Unknown,
}

/// A step in a new order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Done {
    pub(crate) step: u32,
    /// Whether its result is unknown.
    pub(crate) is_attempt: bool,
}

impl<'t, S: OrderSolver> Model<'t, S> {
    pub(crate) fn new(trace: &'t Trace) -> Model<'t, S> {
        let layout = Layout::new(trace);
        let mut solver = S::default();
        for position in 0..layout.events() {
            let node = solver.add_node();
            let before = layout.before[position];
            if before != NONE {
                solver.add_edge(Node(before), node);
            }
        }
        Model {
            trace,
            solver,
            kept: vec![None; layout.events()],
            stated: Vec::new(),
            to_state: Vec::new(),
            sources: HashMap::new(),
            attempts: Vec::new(),
            attempt_of: HashMap::new(),
            writers: HashMap::new(),
            has_writers: vec![false; trace.objects.len()],
            is_cut_off: false,
            asked: 0,
            layout,
        }
    }

    /// Adds the cost of all questions.
    pub(crate) fn count(&self, counts: &mut PatternSearch) {
        counts.asked += self.asked;
        counts.told += self.solver.size();
    }

    /// Returns the literals of a question.
    pub(crate) fn literals(&mut self, question: &Question) -> Vec<Literal> {
        let mut literals = question.also.clone();
        literals.extend(question.kept.iter().map(|&event| self.keep(event)));
        for &step in &question.attempted {
            let attempt = self.attempt(step);
            literals.push(self.attempts[attempt].literal);
        }
        for pair in question.order.windows(2) {
            let [first, second] = [pair[0], pair[1]].map(|step| {
                if !question.attempted.contains(&step) {
                    return Node(step);
                }
                let attempt = self.attempt(step);
                self.attempts[attempt].node
            });
            literals.push(self.solver.before(first, second));
        }
        literals
    }

    /// Searches an order in which these literals are true.
    pub(crate) fn solve(&mut self, literals: &[Literal]) -> Found {
        loop {
            self.asked += 1;
            match self.solver.solve(literals) {
                Answer::Impossible(_) if self.is_cut_off => return Found::Unknown,
                Answer::Impossible(core) => return Found::Impossible(core),
                Answer::Order => {
                    let order = self.order();
                    if !self.refine(&order) {
                        return Found::Order(order);
                    }
                }
            }
        }
    }

    /// Returns a smaller core, if that is cheap to find.
    pub(crate) fn shrink(&mut self, core: Vec<Literal>) -> Vec<Literal> {
        if core.len() > SHRUNK { core } else { shrink_core(&mut self.solver, core) }
    }

    /// Returns the literal that an event is kept.
    pub(crate) fn keep(&mut self, event: u32) -> Literal {
        let literal = self.literal_of(event);
        while let Some(event) = self.to_state.pop() {
            self.state(event);
        }
        literal
    }

    /// Requires at least one of these literals if `switch` is true.
    pub(crate) fn demand_any(&mut self, switch: Literal, literals: &[Literal]) {
        let clause: Vec<Literal> =
            std::iter::once(!switch).chain(literals.iter().copied()).collect();
        self.solver.add_clause(&clause);
    }

    /// Returns the literal that `write` comes after all others of `writes`.
    pub(crate) fn last_of(&mut self, write: u32, writes: &[u32]) -> Literal {
        let literal = self.solver.new_literal(false);
        for &other in writes.iter().filter(|&&other| other != write) {
            let order = self.solver.before(Node(other), Node(write));
            self.solver.add_clause(&[!literal, order]);
        }
        literal
    }

    /// Makes a new switch.
    pub(crate) fn switch(&mut self) -> Literal {
        self.solver.new_literal(false)
    }

    /// Returns whether the event is kept in the order found last.
    pub(crate) fn is_kept(&self, event: u32) -> bool {
        self.kept[event as usize].is_some_and(|literal| self.solver.is_true(literal))
    }

    /// Returns the literal that an attempted step finds this content in its variable.
    pub(crate) fn find(&mut self, step: u32, value: u64) -> Literal {
        let attempt = self.attempt(step);
        if let Some(&(_, literal)) =
            self.attempts[attempt].finds.iter().find(|find| find.0 == value)
        {
            return literal;
        }
        let literal = self.solver.new_literal(false);
        let Attempt { node, .. } = self.attempts[attempt];
        let sources = self.state_sources(literal, node, step, value);
        self.attempts[attempt].finds.push((value, literal));
        self.attempts[attempt].sources.extend(sources);
        self.finish();
        literal
    }

    /// Returns every content that a variable may have.
    pub(crate) fn values(&self, object: ObjectId) -> Vec<u64> {
        let mut values = vec![self.layout.initial[object.index()]];
        let updates = &self.layout.updates[object.index()];
        values.extend(updates.iter().filter_map(|&update| self.layout.writes[update as usize]));
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Returns the choices of a run with these steps. An attempted choice takes `number`.
    pub(crate) fn schedule(&self, order: &[Done], number: Option<u32>) -> Schedule {
        let mut schedule = Vec::with_capacity(order.len());
        for done in order {
            schedule.push(Choice::Thread(name(self.trace, &self.layout, done.step).thread));
            if let Some(event) = self.trace.events.get(done.step as usize) {
                if let Some((_, value)) = crate::past::chosen(event) {
                    let value = if done.is_attempt { number.unwrap_or(value) } else { value };
                    schedule.push(Choice::Value(value));
                }
            }
        }
        schedule
    }

    fn finish(&mut self) {
        while let Some(event) = self.to_state.pop() {
            self.state(event);
        }
    }

    fn literal_of(&mut self, event: u32) -> Literal {
        if let Some(literal) = self.kept[event as usize] {
            return literal;
        }
        let literal = self.solver.new_literal(false);
        self.kept[event as usize] = Some(literal);
        self.stated.push(event);
        self.to_state.push(event);
        literal
    }

    /// Adds the constraints of keeping an event.
    fn state(&mut self, event: u32) {
        let literal = self.literal_of(event);
        let before = self.layout.before[event as usize];
        if before != NONE {
            let needed = self.literal_of(before);
            self.solver.add_clause(&[!literal, needed]);
        }
        if let Some(&attempt) = self.attempt_of.get(&event) {
            self.solver.add_clause(&[!literal, !self.attempts[attempt].literal]);
        }
        let object = operation(self.trace, event).object();
        if object == ObjectId::NONE {
            return;
        }
        if self.layout.is_variable[object.index()] {
            if let Some(value) = self.layout.reads[event as usize] {
                let sources = self.state_sources(literal, Node(event), event, value);
                self.sources.insert(event, sources);
            }
        } else if let Some(changed) = self.layout.version[event as usize].checked_sub(1) {
            let update = self.layout.updates[object.index()][changed as usize];
            let needed = self.literal_of(update);
            self.solver.add_clause(&[!literal, needed]);
            let order = self.solver.before(Node(update), Node(event));
            self.solver.add_clause(&[!literal, order]);
        }
    }

    /// Adds the constraint that if `literal` is true, the step at `node` finds `value` in its variable.
    fn state_sources(
        &mut self,
        literal: Literal,
        node: Node,
        step: u32,
        value: u64,
    ) -> Vec<Source> {
        let object = operation(self.trace, step).object();
        self.index_writers(object);
        let mut writes: Vec<Option<u32>> = self
            .writers
            .get(&(object.0, value))
            .map(|writes| {
                writes
                    .iter()
                    .copied()
                    .filter(|&write| !self.follows(write, step))
                    .map(Some)
                    .collect()
            })
            .unwrap_or_default();
        if writes.len() > MOST_SOURCES {
            writes.sort_by_key(|write| write.map(|write| (write.abs_diff(step), write)));
            writes.truncate(MOST_SOURCES);
            self.is_cut_off = true;
        }
        if self.layout.initial[object.index()] == value {
            writes.push(None);
        }
        let mut sources = Vec::with_capacity(writes.len());
        let mut clause = vec![!literal];
        for &write in &writes {
            // A read with one possible source reads from it.
            let source = if writes.len() == 1 { literal } else { self.solver.new_literal(false) };
            clause.push(source);
            sources.push(Source { literal: source, write, value });
            if let Some(write) = write {
                let needed = self.literal_of(write);
                self.solver.add_clause(&[!source, needed]);
                let order = self.solver.before(Node(write), node);
                self.solver.add_clause(&[!source, order]);
            }
        }
        if writes.len() != 1 {
            self.solver.add_clause(&clause);
        }
        sources
    }

    /// Returns whether a write is the step itself or comes after it in its thread.
    fn follows(&self, write: u32, step: u32) -> bool {
        let of = |step| name(self.trace, &self.layout, step);
        let (write, step) = (of(write), of(step));
        write.thread == step.thread && write.index >= step.index
    }

    fn index_writers(&mut self, object: ObjectId) {
        if std::mem::replace(&mut self.has_writers[object.index()], true) {
            return;
        }
        for &update in &self.layout.updates[object.index()] {
            if let Some(value) = self.layout.writes[update as usize] {
                self.writers.entry((object.0, value)).or_default().push(update);
            }
        }
    }

    fn attempt(&mut self, step: u32) -> usize {
        if let Some(&index) = self.attempt_of.get(&step) {
            return index;
        }
        let (node, literal) = (self.solver.add_node(), self.solver.new_literal(false));
        let before = self.layout.before[step as usize];
        if before != NONE {
            self.solver.add_edge(Node(before), node);
            let needed = self.keep(before);
            self.solver.add_clause(&[!literal, needed]);
        }
        if let Some(Some(kept)) = self.kept.get(step as usize) {
            self.solver.add_clause(&[!literal, !*kept]);
        }
        self.attempt_of.insert(step, self.attempts.len());
        self.attempts.push(Attempt { step, node, literal, finds: Vec::new(), sources: Vec::new() });
        self.attempts.len() - 1
    }

    /// Returns the steps of the order found last.
    fn order(&self) -> Vec<Done> {
        let kept = self.stated.iter().filter(|&&event| self.is_kept(event));
        let kept =
            kept.map(|&step| (self.solver.position(Node(step)), Done { step, is_attempt: false }));
        let attempts = self.attempts.iter().filter(|attempt| self.solver.is_true(attempt.literal));
        let attempts = attempts.map(|attempt| {
            (self.solver.position(attempt.node), Done { step: attempt.step, is_attempt: true })
        });
        let mut order: Vec<(u32, Done)> = kept.chain(attempts).collect();
        order.sort_unstable_by_key(|(position, _)| *position);
        order.into_iter().map(|(_, done)| done).collect()
    }

    fn node_of(&self, done: Done) -> (Node, Literal) {
        if done.is_attempt {
            let attempt = &self.attempts[self.attempt_of[&done.step]];
            (attempt.node, attempt.literal)
        } else {
            let literal = self.kept[done.step as usize];
            (
                Node(done.step),
                literal.expect("raddle invariant broken: a kept event without constraints"),
            )
        }
    }

    /// Checks an order, and adds a constraint that excludes it if it is impossible.
    fn refine(&mut self, order: &[Done]) -> bool {
        let mut clauses: Vec<Vec<Literal>> = Vec::new();
        let mut last: HashMap<u32, OfObject> = HashMap::new();
        for &done in order {
            let op = operation(self.trace, done.step);
            let object = op.object();
            if object == ObjectId::NONE {
                continue;
            }
            let state = last.entry(object.0).or_default();
            if self.layout.is_variable[object.index()] {
                self.check_variable(done, state, &mut clauses);
                let access = if done.is_attempt {
                    op.access()
                } else {
                    self.trace.events[done.step as usize].access()
                };
                if access.changes() {
                    state.newest = Some(done);
                }
            } else {
                self.check_object(done, state, &mut clauses);
            }
        }
        for clause in &clauses {
            self.solver.add_clause(clause);
        }
        !clauses.is_empty()
    }

    /// Checks that a step on a variable finds the content it needs.
    fn check_variable(&mut self, done: Done, state: &OfObject, clauses: &mut Vec<Vec<Literal>>) {
        let (node, _) = self.node_of(done);
        let sources: &[Source] = if done.is_attempt {
            &self.attempts[self.attempt_of[&done.step]].sources
        } else {
            self.sources.get(&done.step).map_or(&[], Vec::as_slice)
        };
        let is_found = |source: &Source| match state.newest {
            None => source.write.is_none(),
            Some(newest) => !newest.is_attempt && source.write == Some(newest.step),
        };
        let chosen = |source: &&Source| self.solver.is_true(source.literal);
        let has_what_it_needs =
            |value: u64| sources.iter().any(|source| source.value == value && is_found(source));
        let wrong: Vec<Source> = sources
            .iter()
            .filter(chosen)
            .filter(|source| !has_what_it_needs(source.value))
            .copied()
            .collect();
        for source in wrong {
            let newest = state.newest.expect("raddle invariant broken: a source was not done");
            let (between, is_done) = self.node_of(newest);
            let mut clause = vec![!source.literal, !is_done, self.solver.before(node, between)];
            if let Some(write) = source.write {
                clause.push(self.solver.before(between, Node(write)));
            }
            clauses.push(clause);
        }
    }

    /// Checks that a step on any other object has the history it needs, and is enabled.
    fn check_object(&mut self, done: Done, state: &mut OfObject, clauses: &mut Vec<Vec<Literal>>) {
        let (node, literal) = self.node_of(done);
        let op = operation(self.trace, done.step);
        let object = op.object().index();
        if let (false, Some(attempt)) = (done.is_attempt, state.attempt) {
            let (other, is_done) = self.node_of(attempt);
            clauses.push(vec![!literal, !is_done, self.solver.before(node, other)]);
        }
        if !done.is_attempt {
            let version = self.layout.version[done.step as usize];
            if version < state.updates {
                // The step is too late: a later change of the object in the run precedes it.
                let update = self.layout.updates[object][version as usize];
                let needed = self.keep(update);
                clauses.push(vec![!literal, !needed, self.solver.before(node, Node(update))]);
            }
            let access = self.trace.events[done.step as usize].access();
            if self.layout.changes(op.object(), access) {
                state.updates = version + 1;
            }
            return;
        }
        let mut found = Object::from(&self.trace.objects[object]);
        let updates = &self.layout.updates[object];
        for &update in &updates[..state.updates as usize] {
            found
                .apply(operation(self.trace, update), self.trace.events[update as usize].id.thread);
        }
        if state.attempt.is_none()
            && !found.enabled(op, name(self.trace, &self.layout, done.step).thread)
        {
            let (last, next) =
                (state.updates.checked_sub(1), updates.get(state.updates as usize).copied());
            let last = last.map(|last| updates[last as usize]);
            let mut clause = vec![!literal];
            clause.extend(last.map(|last| !self.keep(last)));
            clause.extend(next.filter(|&next| next != done.step).map(|next| self.keep(next)));
            clauses.push(clause);
        }
        state.attempt = Some(done);
    }
}

/// The state of an object in an order.
#[derive(Copy, Clone, Debug, Default)]
struct OfObject {
    /// The last write of a variable.
    newest: Option<Done>,
    /// The number of kept events that have changed it.
    updates: u32,
    /// The last attempt on it.
    attempt: Option<Done>,
}
