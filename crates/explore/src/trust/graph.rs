//! A run as an execution graph.

use std::collections::HashMap;

use raddle_analysis::Reads;
use raddle_core::{Action, Choice, Effect, EventId, ThreadOp, Trace};

use super::Step;

/// A part of an event: what it reads, or what it writes. A choice of a number counts as a read.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Half {
    pub(super) event: EventId,
    pub(super) is_write: bool,
}

impl Half {
    pub(super) fn read(event: EventId) -> Half {
        Half { event, is_write: false }
    }

    pub(super) fn write(event: EventId) -> Half {
        Half { event, is_write: true }
    }
}

/// An access to an atomic variable, or a choice of a number.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) id: EventId,
    /// The position in the trace.
    pub(super) position: usize,
    /// The object, by its number in this run.
    pub(super) object: usize,
    /// The store it reads, if it reads.
    pub(super) source: Option<EventId>,
    /// The store it came right after when it was performed.
    pub(super) place: EventId,
    pub(super) writes: bool,
    /// The number of options, if this is a choice.
    pub(super) bound: Option<u32>,
    /// The chosen number.
    pub(super) value: u32,
}

impl Node {
    /// Returns its parts in the order in which they are added.
    pub(super) fn halves(&self) -> impl Iterator<Item = Half> {
        let reads = self.source.is_some() || self.bound.is_some();
        let read = reads.then_some(Half::read(self.id));
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
    /// In the order in which they were performed.
    pub(super) nodes: Vec<Node>,
    /// By object: the stores in modification order.
    orders: Vec<Vec<EventId>>,
    /// By position: the events that directly precede an event by program order, a spawn or a join.
    before: Vec<[Option<usize>; 2]>,
    /// By position: the place in `nodes`.
    node_at: Vec<Option<usize>>,
    positions: HashMap<EventId, usize>,
}

impl Graph {
    pub(super) fn of(trace: &Trace) -> Graph {
        let reads = Reads::of(trace);
        let mut graph = Graph {
            nodes: Vec::new(),
            orders: reads.orders().to_vec(),
            before: Vec::new(),
            node_at: Vec::new(),
            positions: HashMap::new(),
        };
        // By thread: its last event so far, or its spawn.
        let mut last: Vec<Option<usize>> = Vec::new();
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
            let mut before = [last[thread].replace(position), None];
            let chosen = chosen.next_if(|choice| choice.0 == position).map(|choice| choice.1);
            graph.node_at.push(None);
            graph.positions.insert(event.id, position);
            let mut node = Node {
                id: event.id,
                position,
                object: event.op.object().index(),
                source: None,
                place: EventId::INITIAL,
                writes: false,
                bound: None,
                value: 0,
            };
            match event.op.action() {
                Action::Thread(op) => {
                    let raddle_core::ObjectKind::Thread(other) =
                        trace.objects[event.op.object().index()].kind
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
                Action::Choose { bound, .. } => {
                    node.bound = Some(bound);
                    if let Effect::Value(value) = event.effect {
                        node.value = value as u32;
                    }
                    graph.add(node);
                }
                Action::Atomic(_) => {
                    let object = node.object;
                    node.source = reads.at(position).map(|read| read.source);
                    node.place = node.source.or(chosen).unwrap_or(newest[object]);
                    node.writes = graph.orders[object].contains(&event.id);
                    if node.writes && chosen.is_none_or(|chosen| chosen == newest[object]) {
                        newest[object] = event.id;
                    }
                    graph.add(node);
                }
                Action::Fence(_)
                | Action::Pause(_)
                | Action::Cell(_)
                | Action::Mutex(_)
                | Action::RwLock(_)
                | Action::Condvar(_)
                | Action::Barrier(_)
                | Action::Once(_)
                | Action::Park(_)
                | Action::Channel(_)
                | Action::Semaphore(_)
                | Action::Futex(_) => {}
            }
            graph.before.push(before);
        }
        graph
    }

    fn add(&mut self, node: Node) {
        self.node_at[node.position] = Some(self.nodes.len());
        self.nodes.push(node);
    }

    /// Returns whether the run has the accesses of `script` in their order and with their choices.
    pub(super) fn follows(&self, script: &[Step]) -> bool {
        let mut accesses = self.nodes.iter().filter(|node| node.bound.is_none());
        let is_access = |step: &&Step| !matches!(step.choice, Choice::Value(_));
        script.iter().filter(is_access).all(|step| {
            accesses
                .next()
                .is_some_and(|node| node.id == step.event && node.choice() == step.choice)
        })
    }

    /// Returns the node of an access or choice.
    pub(super) fn node(&self, event: EventId) -> &Node {
        let node = self.positions.get(&event).and_then(|&position| self.node_at[position]);
        &self.nodes[node.expect("raddle invariant broken: an event outside the graph")]
    }

    /// Returns the stores to an object in modification order.
    pub(super) fn order(&self, object: usize) -> &[EventId] {
        &self.orders[object]
    }

    /// Returns by position whether an event leads to `node`, which reads `source` if it reads, by program order, spawns,
    /// joins and reads. The node itself does.
    pub(super) fn prefix(&self, node: &Node, source: Option<EventId>) -> Vec<bool> {
        let mut is_inside = vec![false; node.position + 1];
        let mut left = vec![node.position];
        is_inside[node.position] = true;
        while let Some(position) = left.pop() {
            let read = match self.node_at[position] {
                _ if position == node.position => source,
                Some(at) => self.nodes[at].source,
                None => None,
            };
            let read = read.filter(|&store| store != EventId::INITIAL);
            let read = read.map(|store| self.positions[&store]);
            for before in self.before[position].into_iter().flatten().chain(read) {
                if !std::mem::replace(&mut is_inside[before], true) {
                    left.push(before);
                }
            }
        }
        is_inside
    }
}
