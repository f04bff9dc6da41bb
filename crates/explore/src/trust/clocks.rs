//! For each node of a graph, the events that lead to it: a number of events of each thread.

use std::ops::Range;

use raddle_core::{EventId, ThreadId};

use super::graph::NodeId;

/// The clocks of a graph. Its memory is used for the next one.
#[derive(Debug, Default)]
pub(super) struct Clocks {
    threads: usize,
    /// By thread: the clock after its last event, as `threads` numbers.
    current: Vec<u32>,
    /// By node: the clock before it reads, then the clock after it.
    nodes: Vec<u32>,
}

impl Clocks {
    /// Makes room for the clocks of a graph with this number of threads. With none, no clocks are kept.
    pub(super) fn clear(&mut self, threads: usize) {
        self.threads = threads;
        self.current.clear();
        self.current.resize(threads * threads, 0);
        self.nodes.clear();
    }

    /// Adds an event to the clock of its thread.
    pub(super) fn advance(&mut self, event: EventId) {
        let thread = event.thread.index();
        if self.threads == 0 {
            return;
        }
        self.current[thread * self.threads + thread] = event.index + 1;
    }

    /// Adds what leads to the last event of `other` to the clock of `thread`.
    pub(super) fn join_thread(&mut self, thread: ThreadId, other: ThreadId) {
        for at in 0..self.threads {
            let known = self.current[other.index() * self.threads + at];
            let clock = &mut self.current[thread.index() * self.threads + at];
            *clock = known.max(*clock);
        }
    }

    /// Begins the clock of the next node, the event `event`.
    pub(super) fn begin_node(&mut self, event: EventId) {
        let range = self.of_thread(event);
        self.nodes.extend_from_slice(&self.current[range]);
    }

    /// Adds what leads to another node to the clock of the node that was begun.
    pub(super) fn join_node(&mut self, event: EventId, other: NodeId) {
        let range = self.of_thread(event);
        let other = &self.nodes[self.after(other)];
        join(&mut self.current[range], other);
    }

    /// Ends the clock of the node that was begun.
    pub(super) fn end_node(&mut self, event: EventId) {
        self.advance(event);
        let range = self.of_thread(event);
        self.nodes.extend_from_slice(&self.current[range]);
    }

    /// Writes the clock of a node that reads `source` into `clock`.
    pub(super) fn write(
        &self,
        node: NodeId,
        id: EventId,
        source: Option<NodeId>,
        clock: &mut Vec<u32>,
    ) {
        clock.clear();
        let start = 2 * node * self.threads;
        clock.extend_from_slice(&self.nodes[start..start + self.threads]);
        if let Some(source) = source {
            self.add(source, clock);
        }
        clock[id.thread.index()] = id.index + 1;
    }

    /// Adds what leads to a node, and the node, to `clock`.
    pub(super) fn add(&self, node: NodeId, clock: &mut [u32]) {
        join(clock, &self.nodes[self.after(node)]);
    }

    fn of_thread(&self, event: EventId) -> Range<usize> {
        let start = event.thread.index() * self.threads;
        start..start + self.threads
    }

    fn after(&self, node: NodeId) -> Range<usize> {
        let start = (2 * node + 1) * self.threads;
        start..start + self.threads
    }
}

/// Returns whether a clock contains an event.
pub(super) fn contains(clock: &[u32], event: EventId) -> bool {
    clock[event.thread.index()] > event.index
}

/// Adds a clock to another.
pub(super) fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}
