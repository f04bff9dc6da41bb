//! The order in which the parts of a graph were added.

use super::graph::{Graph, Half, NodeId, Part};

/// The order in which the parts of a graph were added. Its memory is used for the next one.
#[derive(Debug, Default)]
pub(super) struct Additions {
    pub(super) halves: Vec<Half>,
    /// By place in `halves`: the node. For an operation that waits, the update for which it waits.
    pub(super) nodes: Vec<NodeId>,
    /// By node: the place of its read, or `ABSENT`.
    reads: Vec<usize>,
    /// By node: the place of its write, or `ABSENT`.
    writes: Vec<usize>,
    /// The places of operations that wait.
    pub(super) waits: Vec<usize>,
}

const ABSENT: usize = usize::MAX;

impl Additions {
    /// Begins with the parts of `halves`.
    pub(super) fn begin(&mut self, graph: &Graph, halves: &[Half]) {
        self.halves.clear();
        self.nodes.clear();
        self.waits.clear();
        for places in [&mut self.reads, &mut self.writes] {
            places.clear();
            places.resize(graph.nodes.len(), ABSENT);
        }
        for &half in halves {
            let node = match half.part {
                Part::Wait(update) => graph.id_of(update),
                Part::Read | Part::Write => graph.id_of(half.event),
            };
            self.push(half, node);
        }
    }

    pub(super) fn push(&mut self, half: Half, node: NodeId) {
        let place = self.halves.len();
        match half.part {
            Part::Wait(_) => self.waits.push(place),
            Part::Read => self.reads[node] = place,
            Part::Write => self.writes[node] = place,
        }
        self.halves.push(half);
        self.nodes.push(node);
    }

    /// Removes the last part, which is a read.
    pub(super) fn pop_read(&mut self) {
        self.halves.pop();
        if let Some(node) = self.nodes.pop() {
            self.reads[node] = ABSENT;
        }
    }

    /// Returns the place of a read, if it was added.
    pub(super) fn place_of_read(&self, node: NodeId) -> Option<usize> {
        Some(self.reads[node]).filter(|&place| place != ABSENT)
    }

    /// Returns the place of a write, if it was added.
    pub(super) fn place_of_write(&self, node: NodeId) -> Option<usize> {
        Some(self.writes[node]).filter(|&place| place != ABSENT)
    }

    pub(super) fn contains(&self, half: Half, node: NodeId) -> bool {
        let place = match half.part {
            Part::Wait(_) => return self.waits.iter().any(|&place| self.halves[place] == half),
            Part::Read => self.reads[node],
            Part::Write => self.writes[node],
        };
        place != ABSENT
    }
}
