//! The other ways in which the new events of a graph can be added.

use raddle_core::{Access, Choice, EventId, ThreadId};

use super::additions::Additions;
use super::clocks::contains;
use super::graph::{Half, Node, NodeId, Part};
use super::objects::Run;
use super::operations::comes;
use super::readers::{State, groups_before};
use super::revisit::{Taken, revisit};
use super::script::Script;
use super::{Item, Step, Work};

/// The new events of a graph, which are visited one by one.
pub(super) struct Visit<'a> {
    pub(super) run: Run<'a>,
    /// The parts of the events so far.
    pub(super) additions: &'a mut Additions,
    pub(super) work: &'a mut Work,
    /// The events so far.
    pub(super) script: Vec<Step>,
}

impl Visit<'_> {
    /// Adds an item for each other way to add `node` to the events so far.
    pub(super) fn add_alternatives(
        &mut self,
        node: &Node,
        half: Half,
        choices: impl Iterator<Item = Choice>,
    ) {
        for choice in choices {
            let mut script = Vec::with_capacity(self.script.len() + 1);
            script.extend_from_slice(&self.script);
            script.push(Step { event: node.id, choice });
            let (added, ends) = (self.added_with(half), self.run.graph.ends);
            self.work.items.push(Item { script, added, moved: None, ends, ..Item::default() });
        }
    }

    /// Adds the items in which an operation that is not on a variable updates a state that another one has updated.
    fn take(&mut self, number: NodeId, state: State<'_>) {
        let source = self.run.graph.update(self.run.graph.nodes[number].object, state.updates);
        self.take_store(number, Taken { source, shares: state.shares });
    }

    /// Adds the items in which an update reads a store or state that another one has read.
    pub(super) fn take_store(&mut self, number: NodeId, taken: Taken<'_>) {
        let read = Half::read(self.run.graph.nodes[number].id);
        let is_new = !self.additions.contains(read, number);
        if is_new {
            self.additions.push(read, number);
        }
        revisit(self.run, self.additions, number, Some(taken), self.work);
        if is_new {
            self.additions.pop_read();
        }
    }

    /// Adds the items in which an operation that is not on a variable finds an earlier state of its object.
    pub(super) fn add_earlier_states(&mut self, number: NodeId) {
        let Run { graph, .. } = self.run;
        let node = &graph.nodes[number];
        let current = node.source.map_or(0, |source| graph.number(node.object, source));
        let reads_shares =
            node.op.access() == Access::Update && !graph.shares(node.object).is_empty();
        let shares = comes(&node.op);
        if current == 0 && !reads_shares && !shares {
            return;
        }
        let first = self.first_state(number, current);
        if reads_shares {
            for updates in first..=current {
                self.add_states_among_readers(number, updates, ThreadId::MAIN);
            }
            return;
        }
        for updates in first..current + usize::from(shares) {
            let state = State { updates, shares: &[] };
            match self.work.objects.access(self.run, node.object, state, node.operation()) {
                None => {}
                Some(Access::Read) if updates == current => {}
                Some(Access::Read) => self.read_earlier_state(number, state),
                Some(Access::Update | Access::Share) => self.take(number, state),
            }
        }
    }

    /// Adds the items in which a writer comes after `updates` updates and some of the readers after these. Readers with
    /// smaller threads than `first` stay before it or after it.
    fn add_states_among_readers(&mut self, number: NodeId, updates: usize, first: ThreadId) {
        let Run { graph, .. } = self.run;
        let node = &graph.nodes[number];
        let prefix = &mut self.work.prefix;
        graph.earlier.write(number, node.id, None, prefix);
        let additions = &*self.additions;
        let is_waited_for = |share: NodeId| {
            additions
                .waits
                .iter()
                .any(|&at| additions.halves[at].event == node.id && additions.nodes[at] == share)
        };
        let shares = graph.shares(node.object).iter().copied();
        let read: Vec<NodeId> = shares.filter(|&share| graph.reads_share(number, share)).collect();
        let is_fixed = |share: NodeId| graph.nodes[share].id.thread < first;
        let is_needed = |share: NodeId| {
            contains(prefix, graph.nodes[share].id)
                || is_waited_for(share)
                || is_fixed(share) && read.contains(&share)
        };
        let source = graph.update(node.object, updates);
        let is_current = node.source == Some(source);
        let is_candidate = |&share: &NodeId| {
            graph.nodes[share].source == Some(source) && additions.place_of_read(share).is_some()
        };
        let candidates = graph.shares(node.object).iter().copied().filter(is_candidate);
        let groups = groups_before(graph, candidates, is_needed);
        for group in groups {
            let is_new = |&share: &NodeId| is_fixed(share) && !read.contains(&share);
            if is_current && (group == read && !node.is_blocked || group.iter().any(is_new)) {
                continue;
            }
            let state = State { updates, shares: &group };
            match self.work.objects.access(self.run, node.object, state, node.operation()) {
                None => {}
                Some(Access::Read) => self.read_earlier_state(number, state),
                Some(Access::Update | Access::Share) => self.take(number, state),
            }
        }
    }

    /// Adds the items in which attempts read again the readers of some threads, in another way than in the graph.
    pub(super) fn read_again(&mut self) {
        while !self.work.unread.is_empty() {
            let (event, first) = self.work.unread.remove(0);
            let attempt = self.run.graph.id_of(event);
            let node = &self.run.graph.nodes[attempt];
            let source = node.source.unwrap_or(EventId::INITIAL);
            let updates = self.run.graph.number(node.object, source);
            self.additions.push(Half { event, part: Part::Readers(first) }, attempt);
            self.add_states_among_readers(attempt, updates, first);
        }
    }

    /// Returns the number of updates of its object that have to come before a node.
    fn first_state(&mut self, number: NodeId, current: usize) -> usize {
        let Run { graph, .. } = self.run;
        let node = &graph.nodes[number];
        let clock = &mut self.work.prefix;
        graph.earlier.write(number, node.id, None, clock);
        let is_earlier = |&update: &NodeId| contains(clock, graph.nodes[update].id);
        let earlier = graph.order(node.object)[..current].iter().rposition(is_earlier);
        let first = earlier.map_or(0, |last| last + 1);
        // What disabled the operation stays before it.
        let additions = &self.additions;
        let waits = additions.waits.iter().filter(|&&at| additions.halves[at].event == node.id);
        let waits = waits.map(|&at| &graph.nodes[additions.nodes[at]]);
        waits.map(|waited| graph.updates_until(waited)).fold(first, usize::max)
    }

    /// Adds the item in which a node that leaves its object unchanged finds an earlier state, if that is possible.
    fn read_earlier_state(&mut self, number: NodeId, state: State<'_>) {
        let Run { graph, .. } = self.run;
        let node = &graph.nodes[number];
        let source = graph.update(node.object, state.updates);
        let clock = &mut self.work.prefix;
        graph.earlier.write(number, node.id, graph.find(source), clock);
        for &share in state.shares {
            graph.earlier.add(share, clock);
        }
        let is_too_late = |&share: &NodeId| {
            graph.nodes[share].source == Some(source)
                && contains(clock, graph.nodes[share].id)
                && !state.shares.contains(&share)
        };
        if graph.shares(node.object).iter().any(is_too_late) {
            return;
        }
        let is_earlier = |step: &&Step| contains(clock, step.event) && step.event != node.id;
        let mut script = Script::new(graph);
        for step in self.script.iter().filter(is_earlier) {
            script.push(graph.id_of(step.event));
        }
        script.push_step(Step { event: node.id, choice: Choice::Source(source) });
        let is_later = |step: &&Step| !contains(clock, step.event);
        for step in self.script.iter().filter(is_later) {
            script.push(graph.id_of(step.event));
        }
        let is_new = !self.additions.contains(Half::read(node.id), number);
        let added = if is_new {
            self.added_with(Half::read(node.id))
        } else {
            self.additions.halves.clone()
        };
        let script = script.into_steps();
        let (read_again, ends) = (self.work.unread.clone(), graph.ends);
        self.work.items.push(Item {
            script,
            added,
            moved: None,
            read_again,
            ends,
            ..Item::default()
        });
    }

    /// Returns the order of addition with one more part.
    fn added_with(&self, half: Half) -> Vec<Half> {
        let mut added = Vec::with_capacity(self.additions.halves.len() + 1);
        added.extend_from_slice(&self.additions.halves);
        added.push(half);
        added
    }
}
