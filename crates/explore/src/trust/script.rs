//! Orders of events in which a graph can be run.

use raddle_core::{Choice, EventId};

use super::Step;
use super::graph::{Graph, NodeId};

/// An order of some nodes of a graph that is being built.
pub(super) struct Script<'a> {
    graph: &'a Graph,
    steps: Vec<Step>,
    /// By node.
    contains: Vec<bool>,
}

impl<'a> Script<'a> {
    pub(super) fn new(graph: &'a Graph) -> Script<'a> {
        let steps = Vec::with_capacity(graph.nodes.len() + 1);
        Script { graph, steps, contains: vec![false; graph.nodes.len()] }
    }

    /// Adds a node with what it reads, its number, or its place among the stores so far.
    pub(super) fn push(&mut self, node: NodeId) {
        let added = &self.graph.nodes[node];
        let choice = match added.choice() {
            Choice::Place(_) => {
                let order = self.graph.order(added.object);
                let number = order.iter().rposition(|&store| store == node).unwrap_or(0);
                Choice::Place(self.last_of(&order[..number]))
            }
            choice => choice,
        };
        self.contains[node] = true;
        self.steps.push(Step { event: added.id, choice });
    }

    /// Returns the newest store of an object so far.
    pub(super) fn newest(&self, object: usize) -> EventId {
        self.last_of(self.graph.order(object))
    }

    /// Adds a step of a node that reads another store, or is stored at another place, than in the graph.
    pub(super) fn push_step(&mut self, step: Step) {
        self.steps.push(step);
    }

    pub(super) fn into_steps(self) -> Vec<Step> {
        self.steps
    }

    fn last_of(&self, stores: &[NodeId]) -> EventId {
        let last = stores.iter().rev().find(|&&store| self.contains[store]);
        last.map_or(EventId::INITIAL, |&store| self.graph.nodes[store].id)
    }
}
