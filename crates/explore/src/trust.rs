//! Every consistent execution graph once, without a set of visited states (TruSt; Kokologiannakis, Marmanis, Gladstein
//! and Vafeiadis, "Truly stateless, optimal dynamic partial order reduction", POPL 2022).
//!
//! A graph grows by one event at a time. A new read is tried with every store that it can read, a new store with every
//! place in modification order, a choice with every number. A new store also *revisits* earlier reads: those read the
//! store, and what was added after them is deleted, unless the store depends on it. Of all graphs that lead to the same
//! graph in this way, only the one whose deleted events were added *maximally*, reading and becoming the newest store,
//! is continued. A read-modify-write is a read and a write, added one after the other.
//!
//! Runs take the place of the paper's recursion. An [`Item`] is a graph to be visited, as an order of its events; the
//! [`Follow`] chooser leads a run through it and then adds events with the newest store, smallest thread first. The
//! explorer then derives the items that the added events give rise to.
//!
//! Promise: when it ends, every consistent execution has been run once. Runs whose graph turns out to be inconsistent
//! are abandoned and counted; the paper's algorithm asks before it visits. The memory is linear in the length of a run.
//!
//! Deviations: operations on locks, condition variables, channels and other objects, accesses to plain variables that are
//! scheduling points, and loops that wait are not covered. At the first of them the search begins anew as [`Graphs`].

use std::collections::HashMap;

use raddle_core::{Access, Action, Choice, Choices, EventId, Op, Schedule, ThreadOp, Trace};
use raddle_results::Search;

use crate::graphs::asks_for_ends;
use crate::refusal::loops;
use crate::{Explorer, Graphs, Refusal};

mod follow;
mod graph;
mod objects;
mod revisit;

use follow::Follow;
use graph::{Graph, Half, Node, Part};
use revisit::push_step;

/// A graph to be visited.
#[derive(Clone, Debug, Default)]
struct Item {
    /// The events in an order in which they can run, with what they read, where they are stored, or their number.
    script: Vec<Step>,
    /// The parts of these events in the order in which they were added. A part that is missing is new.
    added: Vec<Half>,
    /// The store of the script that has to be tried at all places.
    moved: Option<EventId>,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Step {
    event: EventId,
    choice: Choice,
}

/// The search.
#[derive(Debug)]
pub struct Trust {
    items: Vec<Item>,
    item: Item,
    follow: Follow,
    refusal: Option<Refusal>,
    search: Search,
    /// The search of a program that this one does not cover.
    fallback: Option<Box<Graphs>>,
}

impl Default for Trust {
    fn default() -> Trust {
        Trust {
            items: vec![Item::default()],
            item: Item::default(),
            follow: Follow::default(),
            refusal: None,
            search: Search::default(),
            fallback: None,
        }
    }
}

impl Explorer for Trust {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        if let Some(fallback) = &mut self.fallback {
            return fallback.next(prefix);
        }
        prefix.clear();
        let Some(item) = self.items.pop() else { return false };
        self.follow.begin(&item.script);
        self.item = item;
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        match &mut self.fallback {
            Some(fallback) => fallback.choices(),
            None => Choices::Chooser(&mut self.follow),
        }
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        if let Some(fallback) = &mut self.fallback {
            return fallback.learn(run, trace);
        }
        if let Some(refusal) = self.follow.refusal.take() {
            self.refusal = Some(refusal);
            return;
        }
        if !is_covered(trace) || loops(trace).is_some() {
            self.items.clear();
            self.fallback = Some(Box::default());
            return;
        }
        self.follow.observes_ends |= asks_for_ends(trace);
        let graph = Graph::of(trace, self.follow.observes_ends);
        if self.follow.is_lost || !graph.follows(&self.item.script) {
            self.search.blocked += 1;
            return;
        }
        self.visit(&graph);
        self.search.points = self.search.points.max(self.items.len() as u64);
    }

    fn refusal(&self) -> Option<Refusal> {
        match &self.fallback {
            Some(fallback) => fallback.refusal(),
            None => self.refusal.clone(),
        }
    }

    fn search(&self) -> Option<Search> {
        match &self.fallback {
            Some(fallback) => fallback.search(),
            None => Some(self.search),
        }
    }
}

impl Trust {
    /// Derives the items that the new parts of a graph give rise to.
    fn visit(&mut self, graph: &Graph) {
        let Item { script, added, moved } = std::mem::take(&mut self.item);
        if let Some(store) = moved {
            self.move_store(&script, &added, store);
        }
        let planned: HashMap<EventId, Choice> =
            script.iter().map(|step| (step.event, step.choice)).collect();
        let mut added = added;
        for node in graph.nodes.iter().filter(|node| planned.contains_key(&node.id)) {
            for half in node.halves().filter(|half| !added.contains(half)).collect::<Vec<_>>() {
                if half.part == Part::Write {
                    self.revisit(graph, node, None, &added);
                }
                added.push(half);
            }
        }
        let mut script = script;
        for node in graph.nodes.iter().filter(|node| !planned.contains_key(&node.id)) {
            if let Some(bound) = node.bound {
                let others = (1..bound).map(Choice::Value);
                self.add_alternatives(&script, &added, node, others);
                added.push(Half::read(node.id));
            } else if node.source.is_some() && !node.op.is_atomic() {
                self.visit_object(graph, node, &script, &added);
                if node.is_blocked {
                    continue;
                }
                added.push(Half::read(node.id));
                if node.writes {
                    self.revisit(graph, node, None, &added);
                    added.push(Half::write(node.id));
                }
            } else if let Some(source) = node.source {
                let offer = self.follow.offers.remove(&node.id).unwrap_or_default();
                let others = offer.options.iter().filter(|&&store| store != source);
                self.add_alternatives(
                    &script,
                    &added,
                    node,
                    others.map(|&store| Choice::Source(store)),
                );
                added.push(Half::read(node.id));
                for &store in &offer.taken {
                    self.revisit(graph, node, Some(store), &added);
                }
                if node.writes {
                    self.revisit(graph, node, None, &added);
                    added.push(Half::write(node.id));
                }
            } else {
                let offer = self.follow.offers.remove(&node.id).unwrap_or_default();
                let others = offer.options.iter().filter(|&&store| store != node.place);
                self.add_alternatives(
                    &script,
                    &added,
                    node,
                    others.map(|&store| Choice::Place(store)),
                );
                self.revisit(graph, node, None, &added);
                added.push(Half::write(node.id));
            }
            script.push(Step { event: node.id, choice: node.choice() });
        }
    }

    /// Adds an item for each earlier state of its object in which the operation of `node` can be performed.
    fn visit_object(&mut self, graph: &Graph, node: &Node, script: &[Step], added: &[Half]) {
        let order = graph.order(node.object);
        let updates = order.iter().position(|&update| update == node.id);
        let order = &order[..updates.unwrap_or(order.len())];
        let number = |update: EventId| order.iter().position(|&other| other == update);
        let current = node.source.and_then(number).map_or(0, |at| at + 1);
        // What disabled the operation stays before it.
        let is_its_wait = |half: &&Half| half.event == node.id;
        let waits = added.iter().filter(is_its_wait).filter_map(|half| match half.part {
            Part::Wait(update) => number(update).map(|at| at + 1),
            Part::Read | Part::Write => None,
        });
        let first = waits.max().unwrap_or(0);
        for updates in first..current {
            let by = node.id.thread;
            let source = if updates == 0 { EventId::INITIAL } else { order[updates - 1] };
            match graph.objects.access(node.object, updates, node.op, by) {
                None => {}
                Some(Access::Read) => {
                    let next = graph.node(order[updates]);
                    let earlier = graph.earlier(node, source);
                    if earlier[next.position] {
                        continue;
                    }
                    let planned = |node: &&Node| script.iter().any(|step| step.event == node.id);
                    let mut before: Vec<Step> = Vec::with_capacity(script.len() + 1);
                    let (first, last): (Vec<&Node>, Vec<&Node>) =
                        graph.nodes.iter().filter(planned).partition(|node| earlier[node.position]);
                    for node in first {
                        push_step(graph, &mut before, node);
                    }
                    before.push(Step { event: node.id, choice: Choice::Source(source) });
                    for node in last {
                        push_step(graph, &mut before, node);
                    }
                    let mut added = added.to_vec();
                    added.push(Half::read(node.id));
                    self.items.push(Item { script: before, added, moved: None });
                }
                Some(Access::Update | Access::Share) => {
                    let mut added = added.to_vec();
                    added.push(Half::read(node.id));
                    self.revisit(graph, node, Some(source), &added);
                }
            }
        }
    }

    /// Adds an item for each other way to add `node` to the graph of `script`.
    fn add_alternatives(
        &mut self,
        script: &[Step],
        added: &[Half],
        node: &Node,
        choices: impl Iterator<Item = Choice>,
    ) {
        for choice in choices {
            let mut script = script.to_vec();
            script.push(Step { event: node.id, choice });
            let mut added = added.to_vec();
            added.push(node.halves().next().unwrap_or(Half::write(node.id)));
            self.items.push(Item { script, added, moved: None });
        }
    }

    /// Adds an item for each other place of a store that has revisited a read.
    fn move_store(&mut self, script: &[Step], added: &[Half], store: EventId) {
        let Some(at) = script.iter().position(|step| step.event == store) else { return };
        let options = self.follow.offers.remove(&store).unwrap_or_default().options;
        for place in options {
            let choice = Choice::Place(place);
            if script[at].choice != choice {
                let mut script = script.to_vec();
                script[at].choice = choice;
                self.items.push(Item { script, added: added.to_vec(), moved: None });
            }
        }
    }
}

/// Returns whether other threads can observe when an operation is performed.
fn is_ordered(op: &Op, observes_ends: bool) -> bool {
    match op.action() {
        Action::Thread(ThreadOp::Exit | ThreadOp::IsFinished) => observes_ends,
        Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. }
        | Action::Thread(ThreadOp::Spawn | ThreadOp::Join) => false,
        Action::Atomic(_)
        | Action::Cell(_)
        | Action::Mutex(_)
        | Action::RwLock(_)
        | Action::Condvar(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Semaphore(_)
        | Action::Futex(_) => true,
    }
}

/// Returns whether the search covers all operations of a run.
fn is_covered(trace: &Trace) -> bool {
    let is_covered = |op: &Op| match op.action() {
        Action::Atomic(_)
        | Action::Fence(_)
        | Action::Pause(_)
        | Action::Choose { .. }
        | Action::Thread(_)
        | Action::Cell(_)
        | Action::Mutex(_)
        | Action::Condvar(_)
        | Action::Barrier(_)
        | Action::Once(_)
        | Action::Park(_)
        | Action::Channel(_)
        | Action::Semaphore(_) => true,
        Action::RwLock(_) | Action::Futex(_) => false,
    };
    trace.events.iter().all(|event| is_covered(&event.op))
        && trace.pending.iter().all(|pending| is_covered(&pending.op))
}
