//! The order in which the parts of a graph were added.

use raddle_core::ThreadId;

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
    /// The places of later parts of attempts, in order.
    readers: Vec<usize>,
}

const ABSENT: usize = usize::MAX;

impl Additions {
    /// Begins with the parts of `halves`.
    pub(super) fn begin(&mut self, graph: &Graph, halves: &[Half]) {
        self.halves.clear();
        self.nodes.clear();
        self.waits.clear();
        self.readers.clear();
        for places in [&mut self.reads, &mut self.writes] {
            places.clear();
            places.resize(graph.nodes.len(), ABSENT);
        }
        for &half in halves {
            let node = match half.part {
                Part::Wait(update) => graph.id_of(update),
                Part::Read | Part::Readers(_) | Part::Write => graph.id_of(half.event),
            };
            self.push(half, node);
        }
    }

    pub(super) fn push(&mut self, half: Half, node: NodeId) {
        let place = self.halves.len();
        match half.part {
            Part::Wait(_) => self.waits.push(place),
            Part::Read => self.reads[node] = place,
            Part::Readers(_) => self.readers.push(place),
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

    /// Returns the attempts that were added in several parts: for each later part, the first thread whose readers it reads.
    pub(super) fn later_reads(&self) -> impl Iterator<Item = (NodeId, ThreadId)> + '_ {
        self.readers.iter().filter_map(|&place| match self.halves[place].part {
            Part::Readers(first) => Some((self.nodes[place], first)),
            Part::Wait(_) | Part::Read | Part::Write => None,
        })
    }

    /// Returns the place of the part of an attempt that reads the readers of `thread`, if it was added.
    pub(super) fn place_of_slot(&self, node: NodeId, thread: ThreadId) -> Option<usize> {
        let covers = |&&place: &&usize| {
            let Part::Readers(first) = self.halves[place].part else { return false };
            self.nodes[place] == node && first <= thread
        };
        self.readers.iter().rev().find(covers).copied().or_else(|| self.place_of_read(node))
    }

    /// Returns the place of a write, if it was added.
    pub(super) fn place_of_write(&self, node: NodeId) -> Option<usize> {
        Some(self.writes[node]).filter(|&place| place != ABSENT)
    }

    pub(super) fn contains(&self, half: Half, node: NodeId) -> bool {
        let place = match half.part {
            Part::Wait(_) => return self.waits.iter().any(|&place| self.halves[place] == half),
            Part::Readers(_) => {
                return self.readers.iter().any(|&place| self.halves[place] == half);
            }
            Part::Read => self.reads[node],
            Part::Write => self.writes[node],
        };
        place != ABSENT
    }
}
