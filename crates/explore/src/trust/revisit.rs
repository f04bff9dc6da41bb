//! Earlier reads that read a new store or update.

use raddle_core::{Access, Choice, EventId, ThreadId, Trace};

use super::additions::Additions;
use super::clocks::{contains, join};
use super::graph::{Graph, Half, Node, NodeId, Part, is_attempt_that_failed};
use super::objects::{Objects, Run};
use super::readers::{State, groups_before};
use super::{Item, Script, Step, Work, is_attempt};

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
    /// The attempts that have not yet read again the readers of this thread and of larger ones.
    unread: &'a [(EventId, ThreadId)],
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
    let Work { prefix, objects, items, unread, is_incomplete } = work;
    let mut to = Found { items, objects, is_incomplete };
    let store = &graph.nodes[node];
    let reads = graph.reads(store.object);
    let is_share = store.op.access() == Access::Share;
    let is_settled = |&read: &NodeId| {
        read == node || is_share && taken.is_none() && !is_attempt_that_failed(&graph.nodes[read])
    };
    if reads.iter().all(is_settled) {
        return;
    }
    let source = taken.map_or(store.source, |taken| Some(taken.source));
    graph.prefixes.write(node, store.id, source.and_then(|source| graph.find(source)), prefix);
    let shares = graph.shares(store.object).iter().copied();
    let shares: Vec<NodeId> = match taken {
        Some(taken) => taken.shares.to_vec(),
        // Shares do not read each other.
        None if is_share => Vec::new(),
        None => shares.filter(|&share| graph.nodes[share].source == store.source).collect(),
    };
    for &share in &shares {
        graph.prefixes.add(share, prefix);
    }
    let new =
        Added { trace, graph, additions, node, store, source, shares: &shares, prefix, unread };
    let mut last = usize::MAX;
    if taken.is_some() {
        for &rival in reads.iter().filter(|&&read| new.is_rival(read)) {
            let Some(place) = new.place_of_read(rival) else { continue };
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
                    new.add_items(place, writer, &mut to);
                }
                return;
            }
        }
        if last == usize::MAX {
            return;
        }
    }
    for &read in reads {
        let Some(place) = new.place_of_read(read).filter(|&place| place <= last) else {
            continue;
        };
        // Shares commute. What reads another state than the one that they share does not notice them.
        let other = &graph.nodes[read];
        let is_independent = is_share && (other.shares || other.source != source);
        if !is_independent && !new.leads_to_store(read) {
            new.add_items(place, read, &mut to);
        }
    }
}

/// Where items go, and what is needed to find them.
struct Found<'a> {
    items: &'a mut Vec<Item>,
    objects: &'a mut Objects,
    is_incomplete: &'a mut bool,
}

/// An attempt that reads again the readers of some threads.
struct Late {
    attempt: NodeId,
    /// The first of these threads.
    first: ThreadId,
    /// The steps of other readers that it reads.
    before: Vec<NodeId>,
    /// The steps of other readers from the same state that it does not read.
    after: Vec<NodeId>,
}

impl Added<'_> {
    /// Returns whether the store is a step of a reader that `read`, an attempt, may notice.
    fn is_step_before(&self, read: NodeId) -> bool {
        self.store.op.access() == Access::Share && is_attempt(&self.graph.nodes[read].op)
    }

    /// Returns the place of the part of `read` that may read the store.
    fn place_of_read(&self, read: NodeId) -> Option<usize> {
        if self.is_step_before(read) {
            self.additions.place_of_slot(read, self.store.id.thread)
        } else {
            self.additions.place_of_read(read)
        }
    }

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

    /// Adds the items in which `read`, a part of which was added at `place`, reads the store, if no other graph leads to
    /// them.
    fn add_items(&self, place: usize, read: NodeId, to: &mut Found<'_>) {
        let after = place + 1..self.additions.halves.len();
        if !self.is_maximal(place)
            || !after.clone().all(|place| !self.is_gone(place) || self.is_maximal(place))
        {
            return;
        }
        let halves = &self.additions.halves;
        let mut added: Vec<Half> = Vec::with_capacity(halves.len() + 2);
        added.extend_from_slice(&halves[..=place]);
        added.extend(after.filter(|&place| !self.is_gone(place)).map(|place| halves[place]));
        added.push(Half::write(self.store.id));
        let mut late = Vec::new();
        if self.graph.has_shares() {
            self.add_late_attempts(place, read, &mut late);
        }
        if self.is_step_before(read) {
            for (before, after) in self.ways_to_read(place, read) {
                let first = ThreadId(self.store.id.thread.0 + 1);
                late.push(Late { attempt: read, first, before, after });
                let order = self.order(place, read, true, &late, to);
                to.items.extend(order.map(|order| self.item(read, &order, added.clone(), &late)));
                late.pop();
            }
            return;
        }
        let is_enabled = self.enables(&self.graph.nodes[read], to.objects);
        if !is_enabled {
            added[place].part = Part::Wait(self.store.id);
        }
        let order = self.order(place, read, is_enabled, &late, to);
        to.items.extend(order.map(|order| self.item(read, &order, added, &late)));
    }

    fn item(&self, read: NodeId, order: &[NodeId], added: Vec<Half>, late: &[Late]) -> Item {
        let script = self.script(order, read);
        let moved = self.source.is_none().then_some(self.store.id);
        let id = |late: &Late| (self.graph.nodes[late.attempt].id, late.first);
        let mut read_again: Vec<(EventId, ThreadId)> = late.iter().map(id).collect();
        read_again.sort_unstable_by_key(|&(event, _)| (event.thread, event.index));
        Item { script, added, moved, read_again, ends: self.graph.ends, ..Item::default() }
    }

    /// Returns the ways in which an attempt can read the store, a step of a reader: which steps of smaller threads it
    /// reads, and which it does not.
    fn ways_to_read(&self, place: usize, attempt: NodeId) -> Vec<(Vec<NodeId>, Vec<NodeId>)> {
        let Added { graph, additions, .. } = *self;
        let first = match additions.halves[place].part {
            Part::Readers(first) => first,
            Part::Wait(_) | Part::Read | Part::Write => ThreadId::MAIN,
        };
        let thread = self.store.id.thread;
        let node = &graph.nodes[attempt];
        let is_in = |&share: &NodeId| {
            let other = &graph.nodes[share];
            share != self.node
                && other.source == node.source
                && other.id.thread <= thread
                && self.is_kept(additions.place_of_write(share), place)
        };
        let shares: Vec<NodeId> = graph.shares(node.object).iter().copied().filter(is_in).collect();
        let is_needed = |share: NodeId| {
            let is_earlier = graph.nodes[share].id.thread < first;
            self.leads_to_store(share) || is_earlier && graph.reads_share(attempt, share)
        };
        let groups = groups_before(graph, shares.iter().copied(), is_needed);
        let way = |mut group: Vec<NodeId>| {
            let is_out = |share: &NodeId| !group.contains(share);
            let after: Vec<NodeId> = shares.iter().copied().filter(is_out).collect();
            group.push(self.node);
            (group, after)
        };
        // Steps that are settled stay out.
        let is_settled = |share: NodeId| {
            graph.nodes[share].id.thread < first && !graph.reads_share(attempt, share)
        };
        let has_settled = |group: &Vec<NodeId>| group.iter().any(|&share| is_settled(share));
        groups.into_iter().filter(|group| !has_settled(group)).map(way).collect()
    }

    /// Returns whether the part of an event at this place, if it has one, is kept.
    fn is_kept(&self, at: Option<usize>, place: usize) -> bool {
        at.is_some_and(|at| at <= place || !self.is_gone(at))
    }

    /// Adds the attempts, other than `read`, that have to read again the readers of some threads.
    fn add_late_attempts(&self, place: usize, read: NodeId, late: &mut Vec<Late>) {
        let Added { graph, additions, .. } = *self;
        let is_in = |attempt: NodeId| {
            attempt != read
                && attempt != self.node
                && self.is_kept(additions.place_of_read(attempt), place)
        };
        let mut add = |attempt: NodeId, first: ThreadId| match late
            .iter_mut()
            .find(|other| other.attempt == attempt)
        {
            Some(other) => other.first = first.min(other.first),
            None => late.push(Late { attempt, first, before: Vec::new(), after: Vec::new() }),
        };
        for (attempt, first) in additions.later_reads() {
            if is_in(attempt) && !self.is_kept(additions.place_of_slot(attempt, first), place) {
                add(attempt, first);
            }
        }
        for &(attempt, first) in self.unread {
            let attempt = graph.id_of(attempt);
            if is_in(attempt) {
                add(attempt, first);
            }
        }
        for Late { attempt, first, before, after } in late {
            let node = &graph.nodes[*attempt];
            for &share in graph.shares(node.object) {
                let other = &graph.nodes[share];
                let source = if share == self.node { self.source } else { other.source };
                let is_in =
                    share == self.node || self.is_kept(additions.place_of_write(share), place);
                if is_in && source == node.source && other.id.thread < *first {
                    let is_read = share != self.node && graph.reads_share(*attempt, share);
                    if is_read { before.push(share) } else { after.push(share) }
                }
            }
        }
    }

    /// Returns the kept events, the store and what reads it, in an order in which they can run. Attempts that read again
    /// come as late as possible. Returns `None` if one would have to come before what leads to it.
    fn order(
        &self,
        place: usize,
        read: NodeId,
        is_enabled: bool,
        late: &[Late],
        to: &mut Found<'_>,
    ) -> Option<Vec<NodeId>> {
        let Added { graph, additions, node: store, .. } = *self;
        let is_late = |node: NodeId| late.iter().any(|late| late.attempt == node);
        let is_in = |&node: &NodeId| {
            node != read
                && node != store
                && !is_late(node)
                && (self.is_kept(additions.place_of_read(node), place)
                    || self.is_kept(additions.place_of_write(node), place))
        };
        let mut order: Vec<NodeId> = (0..graph.nodes.len()).filter(is_in).collect();
        order.push(store);
        if is_enabled && !is_late(read) {
            order.push(read);
        }
        for late in late {
            order = self.with_late(order, late, read, to)?;
        }
        Some(order)
    }

    fn with_late(
        &self,
        order: Vec<NodeId>,
        late: &Late,
        read: NodeId,
        to: &mut Found<'_>,
    ) -> Option<Vec<NodeId>> {
        let Added { graph, node: store, .. } = *self;
        let node = &graph.nodes[late.attempt];
        let mut clock = Vec::new();
        let mut clock_of_store = self.prefix.to_vec();
        let find = |source: Option<EventId>| source.and_then(|source| graph.find(source));
        graph.earlier.write(store, self.store.id, find(self.source), &mut clock);
        join(&mut clock_of_store, &clock);
        let mut comes_after = |other: NodeId| {
            let id = graph.nodes[other].id;
            if other == store {
                clock.clone_from(&clock_of_store);
            } else if other == read {
                graph.earlier.write(other, id, None, &mut clock);
                join(&mut clock, &clock_of_store);
            } else {
                graph.earlier.write(other, id, find(graph.nodes[other].source), &mut clock);
                graph.earlier.add(other, &mut clock);
            }
            late.after.iter().any(|&share| contains(&clock, graph.nodes[share].id))
        };
        let (mut earlier, later): (Vec<NodeId>, Vec<NodeId>) =
            order.into_iter().partition(|&other| !comes_after(other));
        let mut clock = Vec::new();
        graph.earlier.write(late.attempt, node.id, find(node.source), &mut clock);
        for &share in &late.before {
            if share == store {
                join(&mut clock, &clock_of_store);
            } else {
                graph.earlier.add(share, &mut clock);
            }
        }
        if later.iter().any(|&other| contains(&clock, graph.nodes[other].id)) {
            return None;
        }
        let is_of_state = |other: NodeId| {
            let source = if other == store { self.source } else { graph.nodes[other].source };
            graph.nodes[other].shares
                && graph.nodes[other].object == node.object
                && source == node.source
                && other != read
        };
        if later.iter().any(|&other| is_of_state(other)) {
            let shares: Vec<NodeId> =
                earlier.iter().copied().filter(|&other| is_of_state(other)).collect();
            let source = node.source.unwrap_or(EventId::INITIAL);
            let updates = graph.number(node.object, source);
            let state = State { updates, shares: &shares };
            let run = Run { trace: self.trace, graph };
            if to.objects.access(run, node.object, state, node.operation()) != Some(Access::Read) {
                *to.is_incomplete = true;
                return None;
            }
        }
        earlier.push(late.attempt);
        earlier.extend(later);
        Some(earlier)
    }

    /// Returns whether `read` can be performed right after the store.
    fn enables(&self, read: &Node, objects: &mut Objects) -> bool {
        if read.op.is_atomic() || is_attempt(&read.op) {
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

    /// Returns the steps of events in an order, where `read` reads the store.
    fn script(&self, order: &[NodeId], read: NodeId) -> Vec<Step> {
        let mut script = Script::new(self.graph);
        for &node in order {
            let choice = if node == self.node {
                match self.source {
                    Some(source) => Choice::Source(source),
                    None => Choice::Place(script.newest(self.store.object)),
                }
            } else if node == read {
                let is_step = self.is_step_before(read);
                let source = if is_step { self.source } else { Some(self.store.id) };
                Choice::Source(source.unwrap_or(EventId::INITIAL))
            } else {
                script.push(node);
                continue;
            };
            script.push_step(Step { event: self.graph.nodes[node].id, choice });
        }
        script.into_steps()
    }

    fn is_present(&self, write: NodeId, place: usize) -> bool {
        let at = self.additions.place_of_write(write);
        at.is_some_and(|at| at <= place || self.leads_to_store(write))
    }

    /// Returns whether an attempt, which read the readers of `first` and larger threads at `place`, read all their steps
    /// that were there and that do not come after an earlier part of the attempt.
    fn reads_newest_readers(&self, attempt: NodeId, first: ThreadId, place: usize) -> bool {
        let graph = self.graph;
        let shares = graph.shares(graph.nodes[attempt].object);
        let mut clock = Vec::new();
        shares.iter().all(|&share| {
            let other = &graph.nodes[share];
            if other.source != graph.nodes[attempt].source || other.id.thread < first {
                return true;
            }
            match (graph.reads_share(attempt, share), self.is_present(share, place)) {
                (true, true) | (false, false) => true,
                (true, false) => false,
                (false, true) => {
                    clock.clear();
                    clock.resize(self.prefix.len(), 0);
                    graph.earlier.add(share, &mut clock);
                    shares.iter().any(|&before| {
                        let earlier = &graph.nodes[before];
                        earlier.id.thread < first
                            && earlier.source == other.source
                            && !graph.reads_share(attempt, before)
                            && contains(&clock, earlier.id)
                    })
                }
            }
        })
    }

    /// Returns whether the part at `place` was added with the newest store, or as the newest store, among the parts that
    /// were added until then and those that lead to the new store, and none of these reads it.
    fn is_maximal(&self, place: usize) -> bool {
        let Additions { halves, nodes, waits, .. } = self.additions;
        let number = nodes[place];
        let node = &self.graph.nodes[number];
        let is_present = |write: NodeId| self.is_present(write, place);
        let waits_for_it = |&at: &usize| at <= place && nodes[at] == number;
        let store = match halves[place].part {
            // What the operation reads after its wait is a part of its own.
            Part::Wait(_) => return is_present(number),
            Part::Read if node.bound.is_some() => return node.value == 0,
            Part::Read if number == self.node => self.source,
            Part::Readers(first) => return self.reads_newest_readers(number, first, place),
            Part::Read if is_attempt(&node.op) => {
                if !self.reads_newest_readers(number, ThreadId::MAIN, place) {
                    return false;
                }
                node.source
            }
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
                let reads_it = |&read: &NodeId| {
                    is_attempt(&self.graph.nodes[read].op)
                        && read != self.node
                        && self.graph.reads_share(read, number)
                        && self
                            .additions
                            .place_of_slot(read, node.id.thread)
                            .is_some_and(|at| at <= place)
                };
                if waits.iter().any(waits_for_it)
                    || self.graph.reads(node.object).iter().any(reads_it)
                {
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
