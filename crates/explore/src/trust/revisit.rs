//! Earlier reads that read a new store or update.

use raddle_core::{Access, Choice, EventId, Trace};

use super::additions::Additions;
use super::clocks::contains;
use super::graph::{Graph, Half, Node, NodeId, Part};
use super::objects::{Objects, Run};
use super::readers::State;
use super::{Item, Script, Step, Work};

/// A store or update that is being added to a graph.
struct Added<'a> {
    trace: &'a Trace,
    graph: &'a Graph,
    /// The other parts of the graph.
    additions: &'a Additions,
    node: NodeId,
    store: &'a Node,
    /// What it reads, if it reads.
    source: Option<EventId>,
    /// The shares that it reads besides.
    shares: &'a [NodeId],
    /// What leads to it.
    prefix: &'a [u32],
}

/// The store or state that an update reads although another one has read it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Taken<'a> {
    pub(super) source: EventId,
    /// The shares of the state.
    pub(super) shares: &'a [NodeId],
}

/// Adds an item for each read that the write of `node`, which is not among `additions`, revisits.
///
/// With `taken`, the node revisits the update that has read the same, or reads that were added before this update, which is
/// then deleted.
pub(super) fn revisit(
    run: Run<'_>,
    additions: &Additions,
    node: NodeId,
    taken: Option<Taken<'_>>,
    work: &mut Work,
) {
    let Run { trace, graph } = run;
    let Work { prefix, objects, items } = work;
    let store = &graph.nodes[node];
    let reads = graph.reads(store.object);
    let is_share = store.op.access() == Access::Share;
    if reads.iter().all(|&read| read == node) || is_share && taken.is_none() {
        return;
    }
    let source = taken.map_or(store.source, |taken| Some(taken.source));
    graph.prefixes.write(node, store.id, source.and_then(|source| graph.find(source)), prefix);
    let shares = graph.shares(store.object).iter().copied();
    let shares: Vec<NodeId> = match taken {
        Some(taken) => taken.shares.to_vec(),
        None => shares.filter(|&share| graph.nodes[share].source == store.source).collect(),
    };
    for &share in &shares {
        graph.prefixes.add(share, prefix);
    }
    let new = Added { trace, graph, additions, node, store, source, shares: &shares, prefix };
    let mut last = usize::MAX;
    if taken.is_some() {
        for &rival in reads.iter().filter(|&&read| new.is_rival(read)) {
            let Some(place) = additions.place_of_read(rival) else { continue };
            if new.leads_to_store(rival) {
                return;
            }
            last = last.min(place);
        }
        if is_share {
            let first = additions.waits.iter().copied().filter(|&at| new.comes_before(at)).min();
            if let Some(place) = first.filter(|&place| place < last) {
                let writer = graph.id_of(additions.halves[place].event);
                if !new.leads_to_store(writer) {
                    items.extend(new.item(place, writer, objects));
                }
                return;
            }
        }
        if last == usize::MAX {
            return;
        }
    }
    for &read in reads {
        let Some(place) = additions.place_of_read(read).filter(|&place| place <= last) else {
            continue;
        };
        // Shares commute.
        let is_independent = is_share && graph.nodes[read].shares;
        if !is_independent && !new.leads_to_store(read) {
            items.extend(new.item(place, read, objects));
        }
    }
}

impl Added<'_> {
    fn leads_to_store(&self, node: NodeId) -> bool {
        contains(self.prefix, self.graph.nodes[node].id)
    }

    /// Returns whether a node and the new one cannot both start from the state that they read.
    fn is_rival(&self, node: NodeId) -> bool {
        let other = &self.graph.nodes[node];
        let is_share = self.store.op.access() == Access::Share;
        node != self.node
            && other.writes
            && other.source == self.source
            && !(other.shares && (is_share || self.shares.contains(&node)))
    }

    /// Returns whether the writer that waits at `place` has to wait for the new reader in the place of the one for which it
    /// waits.
    fn comes_before(&self, place: usize) -> bool {
        let other = &self.graph.nodes[self.additions.nodes[place]];
        other.shares
            && other.object == self.store.object
            && other.source == self.source
            && self.store.id.thread < other.id.thread
    }

    /// Returns whether the part at `place` is deleted if it was added after the read.
    fn is_gone(&self, place: usize) -> bool {
        let half = self.additions.halves[place];
        matches!(half.part, Part::Wait(_)) || !contains(self.prefix, half.event)
    }

    /// Returns the item in which `read`, which was added at `place`, reads the store. Returns `None` if another graph
    /// leads to it.
    fn item(&self, place: usize, read: NodeId, objects: &mut Objects) -> Option<Item> {
        let after = place + 1..self.additions.halves.len();
        if !self.is_maximal(place)
            || !after.clone().all(|place| !self.is_gone(place) || self.is_maximal(place))
        {
            return None;
        }
        let halves = &self.additions.halves;
        let mut added: Vec<Half> = Vec::with_capacity(halves.len() + 2);
        added.extend_from_slice(&halves[..=place]);
        added.extend(after.filter(|&place| !self.is_gone(place)).map(|place| halves[place]));
        let mut script = self.script(place, read);
        let revisited = &self.graph.nodes[read];
        if self.enables(revisited, objects) {
            script.push(Step { event: revisited.id, choice: Choice::Source(self.store.id) });
        } else {
            added[place].part = Part::Wait(self.store.id);
        }
        added.push(Half::write(self.store.id));
        let moved = self.source.is_none().then_some(self.store.id);
        Some(Item { script, added, moved, ends: self.graph.ends, ..Item::default() })
    }

    /// Returns whether `read` can be performed right after the store.
    fn enables(&self, read: &Node, objects: &mut Objects) -> bool {
        if read.op.is_atomic() {
            return true;
        }
        let source = self.source.unwrap_or(EventId::INITIAL);
        let updates = self.graph.number(read.object, source);
        let state = State { updates, shares: self.shares };
        let first = (self.store.op, self.store.id.thread);
        let second = (read.op, read.id.thread);
        let run = Run { trace: self.trace, graph: self.graph };
        objects.is_enabled_after(run, read.object, state, first, second)
    }

    /// Returns the kept events in their order, then the store.
    fn script(&self, place: usize, read: NodeId) -> Vec<Step> {
        let is_in = |at: Option<usize>| at.is_some_and(|at| at <= place || !self.is_gone(at));
        let is_kept = |&node: &NodeId| {
            node != read
                && node != self.node
                && (is_in(self.additions.place_of_read(node))
                    || is_in(self.additions.place_of_write(node)))
        };
        let mut script = Script::new(self.graph);
        for node in (0..self.graph.nodes.len()).filter(is_kept) {
            script.push(node);
        }
        let choice = match self.source {
            Some(source) => Choice::Source(source),
            None => Choice::Place(script.newest(self.store.object)),
        };
        script.finish(Step { event: self.store.id, choice })
    }

    /// Returns whether the part at `place` was added with the newest store, or as the newest store, among the parts that
    /// were added until then and those that lead to the new store, and none of these reads it.
    fn is_maximal(&self, place: usize) -> bool {
        let Additions { halves, nodes, waits, .. } = self.additions;
        let number = nodes[place];
        let node = &self.graph.nodes[number];
        let is_present = |write: NodeId| {
            let is_added = self.additions.place_of_write(write);
            is_added.is_some_and(|at| at <= place || self.leads_to_store(write))
        };
        let waits_for_it = |&at: &usize| at <= place && nodes[at] == number;
        let store = match halves[place].part {
            // What the operation reads after its wait is a part of its own.
            Part::Wait(_) => return is_present(number),
            Part::Read if node.bound.is_some() => return node.value == 0,
            Part::Read if number == self.node => self.source,
            Part::Read => {
                let is_missing = |&&share: &&NodeId| {
                    self.graph.nodes[share].source == node.source && !is_present(share)
                };
                let reads_shares = node.writes && !node.shares;
                if reads_shares
                    && self.graph.shares(node.object).iter().any(|share| is_missing(&share))
                {
                    return false;
                }
                node.source
            }
            Part::Write if node.shares => {
                if waits.iter().any(waits_for_it) {
                    return false;
                }
                node.source
            }
            Part::Write => {
                let reads_it = |&read: &NodeId| {
                    read != self.node
                        && self.graph.nodes[read].source == Some(node.id)
                        && self
                            .additions
                            .place_of_read(read)
                            .is_some_and(|at| at <= place || self.leads_to_store(read))
                };
                if self.source == Some(node.id)
                    || self.graph.reads(node.object).iter().any(reads_it)
                    || waits.iter().any(waits_for_it)
                {
                    return false;
                }
                Some(node.id)
            }
        };
        let order = self.graph.order(node.object);
        let newest = order.iter().rev().find(|&&store| is_present(store));
        let newest = newest.map_or(EventId::INITIAL, |&store| self.graph.nodes[store].id);
        store == Some(newest)
    }
}
