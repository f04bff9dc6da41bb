//! A run as an execution graph.

use std::collections::HashMap;

use raddle_analysis::Reads;
use raddle_core::{Access, Action, Choice, Effect, EventId, ObjectKind, Op, ThreadOp, Trace};

use super::objects::Objects;
use super::{Step, is_ordered};

/// A part of an event in the order of addition. A choice of a number counts as a read.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Half {
    pub(super) event: EventId,
    pub(super) part: Part,
}

/// What a part of an event does.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Part {
    /// The operation was revisited by this update of its object, which disables it. It reads a later one.
    Wait(EventId),
    Read,
    Write,
}

impl Half {
    pub(super) fn read(event: EventId) -> Half {
        Half { event, part: Part::Read }
    }

    pub(super) fn write(event: EventId) -> Half {
        Half { event, part: Part::Write }
    }
}

/// An operation on a shared object, or a choice of a number.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) id: EventId,
    pub(super) op: Op,
    /// The position in the trace.
    pub(super) position: usize,
    /// The object, by its number in this run.
    pub(super) object: usize,
    /// The store or update it reads, if it reads.
    pub(super) source: Option<EventId>,
    /// The store it came right after when it was performed.
    pub(super) place: EventId,
    pub(super) writes: bool,
    /// The number of options, if this is a choice.
    pub(super) bound: Option<u32>,
    /// The chosen number.
    pub(super) value: u32,
    /// Whether the operation is still blocked at the end of the run.
    pub(super) is_blocked: bool,
}

impl Node {
    /// Returns its parts in the order in which they are added.
    pub(super) fn halves(&self) -> impl Iterator<Item = Half> {
        let reads = self.source.is_some() || self.bound.is_some();
        let read = (reads && !self.is_blocked).then_some(Half::read(self.id));
        read.into_iter().chain(self.writes.then_some(Half::write(self.id)))
    }

    /// Returns the choice that was made for it.
    pub(super) fn choice(&self) -> Choice {
        match self.source {
            _ if self.bound.is_some() => Choice::Value(self.value),
            Some(source) => Choice::Source(source),
            None => Choice::Place(self.place),
        }
    }
}

/// An execution graph.
#[derive(Debug)]
pub(super) struct Graph {
    /// In the order in which they were performed, then the blocked ones.
    pub(super) nodes: Vec<Node>,
    /// By object: the stores in modification order, or the updates.
    orders: Vec<Vec<EventId>>,
    /// By position: the events that directly precede an event by program order, a spawn or a join.
    before: Vec<[Option<usize>; 2]>,
    /// By position: the place in `nodes`.
    node_at: Vec<Option<usize>>,
    positions: HashMap<EventId, usize>,
    pub(super) objects: Objects,
}

impl Graph {
    pub(super) fn of(trace: &Trace, observes_ends: bool) -> Graph {
        let reads = Reads::of(trace);
        let mut graph = Graph {
            nodes: Vec::new(),
            orders: reads.orders().to_vec(),
            before: Vec::new(),
            node_at: Vec::new(),
            positions: HashMap::new(),
            objects: Objects::of(trace),
        };
        // By thread: its last event so far, or its spawn.
        let mut last: Vec<Option<usize>> = Vec::new();
        let mut lengths: Vec<u32> = Vec::new();
        let at = |last: &mut Vec<Option<usize>>, thread: usize| {
            if last.len() <= thread {
                last.resize(thread + 1, None);
            }
        };
        let mut chosen = trace.sources.iter().peekable();
        let mut newest: Vec<EventId> = vec![EventId::INITIAL; trace.objects.len()];
        for (position, event) in trace.events.iter().enumerate() {
            let thread = event.id.thread.index();
            at(&mut last, thread);
            if lengths.len() <= thread {
                lengths.resize(thread + 1, 0);
            }
            lengths[thread] = event.id.index + 1;
            let mut before = [last[thread].replace(position), None];
            let chosen = chosen.next_if(|choice| choice.0 == position).map(|choice| choice.1);
            graph.node_at.push(None);
            graph.positions.insert(event.id, position);
            if let Action::Thread(op) = event.op.action() {
                let ObjectKind::Thread(other) = trace.objects[event.op.object().index()].kind
                else {
                    unreachable!("raddle invariant broken: a thread operation on no thread")
                };
                at(&mut last, other.index());
                match op {
                    ThreadOp::Spawn => last[other.index()] = Some(position),
                    ThreadOp::Join => before[1] = last[other.index()],
                    ThreadOp::Exit | ThreadOp::IsFinished => {}
                }
            }
            let mut node = Node::new(event.id, event.op, position);
            if let Action::Choose { bound, .. } = event.op.action() {
                node.bound = Some(bound);
                if let Effect::Value(value) = event.effect {
                    node.value = value as u32;
                }
                graph.add(node);
            } else if event.op.is_atomic() {
                let object = node.object;
                node.source = reads.at(position).map(|read| read.source);
                node.place = node.source.or(chosen).unwrap_or(newest[object]);
                node.writes = graph.orders[object].contains(&event.id);
                if node.writes && chosen.is_none_or(|chosen| chosen == newest[object]) {
                    newest[object] = event.id;
                }
                graph.add(node);
            } else if is_ordered(&event.op, observes_ends) {
                let object = node.object;
                node.source = Some(newest[object]);
                node.place = newest[object];
                if event.access() == Access::Update {
                    node.writes = true;
                    newest[object] = event.id;
                    graph.orders[object].push(event.id);
                    graph.objects.update(object, event.op, event.id.thread);
                }
                graph.add(node);
            }
            graph.before.push(before);
        }
        for pending in &trace.pending {
            let thread = pending.thread.index();
            if pending.enabled || !is_ordered(&pending.op, observes_ends) {
                continue;
            }
            at(&mut last, thread);
            let index = lengths.get(thread).copied().unwrap_or(0);
            let id = EventId { thread: pending.thread, index };
            let mut node = Node::new(id, pending.op, graph.before.len());
            node.source = Some(newest[node.object]);
            node.place = newest[node.object];
            node.is_blocked = true;
            graph.before.push([last[thread], None]);
            graph.node_at.push(None);
            graph.positions.insert(id, node.position);
            graph.add(node);
        }
        graph
    }

    fn add(&mut self, node: Node) {
        self.node_at[node.position] = Some(self.nodes.len());
        self.nodes.push(node);
    }

    /// Returns whether the run has the operations of `script` in their order and with their choices.
    pub(super) fn follows(&self, script: &[Step]) -> bool {
        let mut accesses = self.nodes.iter().filter(|node| {
            let is_early_end = node.op.is_thread()
                && !script.iter().any(|step| step.event == node.id);
            node.bound.is_none() && !node.is_blocked && !is_early_end
        });
        let is_access = |step: &&Step| !matches!(step.choice, Choice::Value(_));
        script.iter().filter(is_access).all(|step| {
            accesses
                .next()
                .is_some_and(|node| node.id == step.event && node.choice() == step.choice)
        })
    }

    /// Returns the node of an operation or choice.
    pub(super) fn node(&self, event: EventId) -> &Node {
        let node = self.positions.get(&event).and_then(|&position| self.node_at[position]);
        &self.nodes[node.expect("raddle invariant broken: an event outside the graph")]
    }

    /// Returns the stores to an object in modification order, or its updates.
    pub(super) fn order(&self, object: usize) -> &[EventId] {
        &self.orders[object]
    }

    /// Returns by position whether an event leads to `node`, which reads `source` if it reads, by program order, spawns,
    /// joins and reads. The node itself does.
    pub(super) fn prefix(&self, node: &Node, source: Option<EventId>) -> Vec<bool> {
        self.closure(node, source, |_, _| {})
    }

    /// Returns by position whether an event has to come before the object operation `node`, which reads `source`: by
    /// program order, spawns, joins, reads, and because it reads what a later update changes.
    pub(super) fn earlier(&self, node: &Node, source: EventId) -> Vec<bool> {
        self.closure(node, Some(source), |update, add| {
            if update.writes && !update.op.is_atomic() {
                for read in &self.nodes {
                    let is_before = read.position < update.position
                        && read.object == update.object
                        && read.bound.is_none()
                        && read.source == update.source;
                    if is_before {
                        add(read.position);
                    }
                }
            }
        })
    }

    fn closure(
        &self,
        node: &Node,
        source: Option<EventId>,
        more: impl Fn(&Node, &mut dyn FnMut(usize)),
    ) -> Vec<bool> {
        let mut is_inside = vec![false; node.position + 1];
        let mut left = vec![node.position];
        is_inside[node.position] = true;
        while let Some(position) = left.pop() {
            let at = self.node_at[position];
            let read = match at {
                _ if position == node.position => source,
                Some(at) => self.nodes[at].source,
                None => None,
            };
            let read = read.filter(|&store| store != EventId::INITIAL);
            let read = read.map(|store| self.positions[&store]);
            let mut add = |before: usize| {
                if !std::mem::replace(&mut is_inside[before], true) {
                    left.push(before);
                }
            };
            for before in self.before[position].into_iter().flatten().chain(read) {
                add(before);
            }
            if let Some(at) = at.filter(|_| position != node.position) {
                more(&self.nodes[at], &mut add);
            }
        }
        is_inside
    }
}

impl Node {
    fn new(id: EventId, op: Op, position: usize) -> Node {
        Node {
            id,
            op,
            position,
            object: op.object().index(),
            source: None,
            place: EventId::INITIAL,
            writes: false,
            bound: None,
            value: 0,
            is_blocked: false,
        }
    }
}
