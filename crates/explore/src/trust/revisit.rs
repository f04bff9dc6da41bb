//! Earlier reads that read a new store or update.

use std::collections::HashMap;

use raddle_core::{Choice, EventId};

use super::graph::{Graph, Half, Node, Part};
use super::{Item, Step, Trust};

/// A store or update that has just been added to a graph.
struct Added<'a> {
    graph: &'a Graph,
    store: &'a Node,
    /// What it reads, if it reads.
    source: Option<EventId>,
    /// By position: what leads to it.
    prefix: Vec<bool>,
    /// The other parts of the graph in the order in which they were added.
    added: &'a [Half],
    /// The place of each part in `added`.
    places: HashMap<Half, usize>,
}

impl Trust {
    /// Adds an item for each read that the write of `store`, which is not among `added`, revisits.
    ///
    /// With `taken`, the store is a read-modify-write that reads a store which another one has read. It revisits that one,
    /// or reads that were added before that one, which is then deleted.
    pub(super) fn revisit(
        &mut self,
        graph: &Graph,
        store: &Node,
        taken: Option<EventId>,
        added: &[Half],
    ) {
        let source = taken.or(store.source);
        let places = added.iter().enumerate().map(|(place, &half)| (half, place)).collect();
        let prefix = graph.prefix(store, source);
        let new = Added { graph, store, source, prefix, added, places };
        let is_taker = |half: &Half| {
            half.part == Part::Read && {
                let node = graph.node(half.event);
                node.object == store.object
                    && node.bound.is_none()
                    && node.id != store.id
                    && node.writes
                    && node.source == taken
            }
        };
        let last = if taken.is_some() { added.iter().position(is_taker) } else { None };
        for &half in added.iter().take(last.map_or(added.len(), |last| last + 1)) {
            if half.part != Part::Read {
                continue;
            }
            let read = graph.node(half.event);
            let is_revisited = read.bound.is_none()
                && read.object == store.object
                && !new.leads_to_store(read);
            if is_revisited {
                self.items.extend(new.item(half, read));
            }
        }
    }
}

impl Added<'_> {
    fn leads_to_store(&self, node: &Node) -> bool {
        self.prefix.get(node.position).copied().unwrap_or(false)
    }

    fn is_before_store(&self, half: &Half) -> bool {
        !matches!(half.part, Part::Wait(_)) && self.leads_to_store(self.graph.node(half.event))
    }

    /// Returns the item in which `read` reads the store. Returns `None` if another graph leads to it.
    fn item(&self, half: Half, read: &Node) -> Option<Item> {
        let place = self.places[&half];
        let is_gone = |half: &Half| !self.is_before_store(half);
        let gone: Vec<Half> = self.added[place + 1..].iter().copied().filter(is_gone).collect();
        if !self.is_maximal(half) || !gone.iter().all(|&half| self.is_maximal(half)) {
            return None;
        }
        let mut added: Vec<Half> =
            self.added.iter().copied().filter(|half| !gone.contains(half)).collect();
        let mut script = self.script(&added, read);
        if self.enables(read) {
            script.push(Step { event: read.id, choice: Choice::Source(self.store.id) });
        } else {
            added[place].part = Part::Wait(self.store.id);
        }
        added.push(Half::write(self.store.id));
        let moved = self.source.is_none().then_some(self.store.id);
        Some(Item { script, added, moved })
    }

    /// Returns whether `read` can be performed right after the store.
    fn enables(&self, read: &Node) -> bool {
        if read.op.is_atomic() {
            return true;
        }
        let order = self.graph.order(read.object);
        let updates = match self.source {
            None | Some(EventId::INITIAL) => 0,
            Some(source) => order.iter().position(|&update| update == source).map_or(0, |at| at + 1),
        };
        let first = (self.store.op, self.store.id.thread);
        let second = (read.op, read.id.thread);
        self.graph.objects.is_enabled_after(read.object, updates, first, second)
    }

    /// Returns the kept events in their order, then the store.
    fn script(&self, kept: &[Half], read: &Node) -> Vec<Step> {
        let is_kept = |node: &&Node| {
            node.id != read.id
                && node.id != self.store.id
                && node.halves().any(|half| kept.contains(&half))
        };
        let mut script: Vec<Step> = Vec::with_capacity(kept.len() + 1);
        for node in self.graph.nodes.iter().filter(is_kept) {
            push_step(self.graph, &mut script, node);
        }
        let choice = match self.source {
            Some(source) => Choice::Source(source),
            None => Choice::Place(self.newest(&script)),
        };
        script.push(Step { event: self.store.id, choice });
        script
    }

    /// Returns the newest store of the object among those of `script`.
    fn newest(&self, script: &[Step]) -> EventId {
        last_in(script, self.graph.order(self.store.object).iter())
    }

    fn source_of(&self, node: &Node) -> Option<EventId> {
        if node.id == self.store.id { self.source } else { node.source }
    }

    /// Returns whether a part was added with the newest store, or as the newest store, among the parts that were added
    /// until then and those that lead to the new store, and none of these reads it.
    fn is_maximal(&self, half: Half) -> bool {
        let place = self.places[&half];
        let is_present = |other: &Half| {
            self.places.get(other).is_some_and(|&other| other <= place)
                || self.is_before_store(other)
                    && (other.event != self.store.id || other.part != Part::Write)
        };
        let (object, store) = match half.part {
            Part::Wait(update) => return is_present(&Half::write(update)),
            Part::Read => {
                let node = self.graph.node(half.event);
                if node.bound.is_some() {
                    return node.value == 0;
                }
                let source = self.source_of(node);
                let source = source.expect("raddle invariant broken: a read without a source");
                (node.object, source)
            }
            Part::Write => {
                let reads = |other: &Half| match other.part {
                    Part::Wait(update) => update == half.event,
                    Part::Read => {
                        self.source_of(self.graph.node(other.event)) == Some(half.event)
                    }
                    Part::Write => false,
                };
                if self.added.iter().any(|other| reads(other) && is_present(other)) {
                    return false;
                }
                (self.graph.node(half.event).object, half.event)
            }
        };
        let order = self.graph.order(object);
        let newest = order.iter().rev().copied().find(|&store| {
            let write = Half::write(store);
            self.places.contains_key(&write) && is_present(&write)
        });
        newest.unwrap_or(EventId::INITIAL) == store
    }
}

/// Adds a node of a run to a script in which it comes after all others.
pub(super) fn push_step(graph: &Graph, script: &mut Vec<Step>, node: &Node) {
    let choice = match node.choice() {
        Choice::Place(_) => {
            let earlier = graph.order(node.object).iter().take_while(|&&store| store != node.id);
            Choice::Place(last_in(script, earlier))
        }
        choice => choice,
    };
    script.push(Step { event: node.id, choice });
}

/// Returns the last of `stores` that is in `script`, or the initial one.
fn last_in<'a>(script: &[Step], stores: impl Iterator<Item = &'a EventId>) -> EventId {
    let last = stores.filter(|&&store| script.iter().any(|step| step.event == store)).last();
    last.copied().unwrap_or(EventId::INITIAL)
}
