//! Every consistent execution graph once, without a set of visited states (TruSt; Kokologiannakis, Marmanis, Gladstein
//! and Vafeiadis, "Truly stateless, optimal dynamic partial order reduction", POPL 2022).
//!
//! A graph grows by one event at a time. A new read is tried with every store that it can read, a new store with every
//! place in modification order, a choice with every number. A new store also *revisits* earlier reads: those read the
//! store, and what was added after them is deleted, unless the store depends on it. Of all graphs that lead to the same
//! graph in this way, only the one whose deleted events were added *maximally*, reading and becoming the newest store,
//! is continued. A read-modify-write is a read and a write, added one after the other.
//!
//! Runs take the place of the paper's recursion. An [`Item`] is a graph to be visited, as an order of its events; the
//! [`Follow`] chooser leads a run through it and then adds events with the newest store, smallest thread first. The
//! explorer then derives the items that the added events give rise to.
//!
//! An operation on a lock, channel or other object is a read-modify-write of the object, or a read if it leaves the
//! object unchanged. A blocked operation is no part of a graph, see [`Part::Wait`] and docs/design/rc11.md.
//!
//! Promise: when it ends, every consistent execution has been run once. Runs whose graph turns out to be inconsistent
//! are abandoned and counted; the paper's algorithm asks before it visits. The memory is linear in the length of a run.
//!
//! Readers of a reader-writer lock commute, see [`readers`].
//!
use raddle_core::{Access, Choice, Choices, Ending, EventId, Schedule, ThreadId, Trace};
use raddle_results::Search;

use crate::graphs::asks_for_ends;
use crate::refusal::loops;
use crate::{Covered, Explorer, Graphs, Refusal};

mod additions;
mod clocks;
mod follow;
mod graph;
mod objects;
mod operations;
mod readers;
mod revisit;
mod script;
mod workers;

use additions::Additions;
use clocks::contains;
use follow::Follow;
use graph::{Graph, Half, Node, NodeId, Part};
use objects::{Objects, Run};
use operations::{comes, is_attempt, is_ordered};
use readers::{State, groups_before};
use revisit::{Taken, revisit};
use script::Script;
pub use workers::{ParallelTrust, TrustWorker};

/// A graph to be visited.
#[derive(Clone, Debug)]
struct Item {
    /// The events in an order in which they can run, with what they read, where they are stored, or their number.
    script: Vec<Step>,
    /// The parts of these events in the order in which they were added. A part that is missing is new.
    added: Vec<Half>,
    /// The store of the script that has to be tried at all places.
    moved: Option<EventId>,
    /// The attempts of the script that have to read again the readers of this thread and of larger ones.
    read_again: Vec<(EventId, ThreadId)>,
    ends: Ends,
    /// The estimated part of the search to which this item leads.
    share: f64,
}

impl Default for Item {
    /// Returns the graph without events, which leads to the whole search.
    fn default() -> Item {
        let (script, added, read_again) = (Vec::new(), Vec::new(), Vec::new());
        Item { script, added, moved: None, read_again, ends: Ends::default(), share: 1.0 }
    }
}

/// When threads end.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
enum Ends {
    /// As soon as they can: no run so far has asked whether a thread has ended.
    #[default]
    AtOnce,
    /// In the order that a script says: the time of an end can be observed.
    Ordered,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Step {
    event: EventId,
    choice: Choice,
}

/// The search.
#[derive(Debug)]
pub struct Trust {
    item: Item,
    ends: Ends,
    follow: Follow,
    /// The graph of the last run.
    graph: Graph,
    additions: Additions,
    work: Work,
    refusal: Option<Refusal>,
    search: Search,
    /// The number of runs made.
    runs: u64,
    /// The estimated share of the search that is done.
    done: f64,
    /// Whether a run reached the step limit.
    is_cut_off: bool,
    /// The search of a program that this one does not cover.
    fallback: Option<Box<Graphs>>,
}

impl Default for Trust {
    fn default() -> Trust {
        Trust {
            item: Item::default(),
            ends: Ends::default(),
            follow: Follow::default(),
            graph: Graph::default(),
            additions: Additions::default(),
            work: Work { items: vec![Item::default()], ..Work::default() },
            refusal: None,
            search: Search::default(),
            runs: 0,
            done: 0.0,
            is_cut_off: false,
            fallback: None,
        }
    }
}

impl Explorer for Trust {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        if let Some(fallback) = &mut self.fallback {
            return !self.is_cut_off && fallback.next(prefix);
        }
        prefix.clear();
        if self.is_cut_off {
            return false;
        }
        let Some(item) = self.work.items.pop() else { return false };
        self.follow.begin(&item);
        self.item = item;
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        match &mut self.fallback {
            Some(fallback) => fallback.choices(),
            None => Choices::Chooser(&mut self.follow),
        }
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        if trace.ending == Ending::StepLimit {
            // The run may be endless.
            self.is_cut_off = true;
            self.refusal = loops(trace);
        }
        if let Some(fallback) = &mut self.fallback {
            return fallback.learn(run, trace);
        }
        self.runs += 1;
        if let Some(refusal) = self.follow.refusal.take() {
            self.refusal = Some(refusal);
            return;
        }
        if loops(trace).is_some() {
            self.begin_anew();
            return;
        }
        if self.is_cut_off {
            return;
        }
        let (share, before) = (self.item.share, self.work.items.len());
        self.visit(trace);
        if self.work.is_incomplete || self.graph.has_futexes {
            self.begin_anew();
            return;
        }
        // The item and those to which it leads have equal shares.
        let new = &mut self.work.items[before..];
        let share = share / (new.len() + 1) as f64;
        new.iter_mut().for_each(|item| item.share = share);
        self.done += share;
        self.search.points = self.search.points.max(self.work.items.len() as u64);
        let is_done = self.work.items.is_empty();
        let done = if is_done { 1.0 } else { self.done };
        self.search.estimate = Some(self.runs as f64 / done);
    }

    fn covered(&self, is_done: bool) -> Covered {
        if is_done && !self.is_cut_off { Covered::Everything } else { Covered::Nothing }
    }

    fn repeats_no_class(&self) -> bool {
        self.fallback.is_none()
    }

    fn restart(&mut self) -> bool {
        *self = Trust::default();
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        let fallback = self.fallback.as_ref();
        self.refusal.clone().or_else(|| fallback.and_then(|fallback| fallback.refusal()))
    }

    fn search(&self) -> Option<Search> {
        match &self.fallback {
            Some(fallback) => fallback.search(),
            None => Some(self.search),
        }
    }
}

impl Trust {
    /// Begins anew as another search.
    fn begin_anew(&mut self) {
        self.work.items.clear();
        self.fallback = Some(Box::default());
    }

    /// Derives the items to which a run leads.
    fn visit(&mut self, trace: &Trace) {
        if trace.ending == Ending::Abandoned {
            self.search.blocked += 1;
            if !self.follow.is_stuck {
                return;
            }
        }
        self.ends = self.ends.max(self.item.ends);
        if asks_for_ends(trace) {
            self.ends = Ends::Ordered;
        }
        self.graph.build(trace, self.ends);
        if self.graph.follows(&self.item) {
            self.extend(trace);
        } else {
            self.search.blocked += 1;
        }
    }

    /// Derives the items that the new parts of a graph give rise to.
    fn extend(&mut self, trace: &Trace) {
        let Item { mut script, added, moved, read_again, ends, .. } =
            std::mem::take(&mut self.item);
        if let Some(store) = moved {
            self.move_store(&script, &added, store, ends);
        }
        let Trust { graph, additions, follow, work, .. } = self;
        work.objects.clear(trace);
        let run = Run { trace, graph };
        additions.begin(graph, &added);
        let mut is_planned = vec![false; graph.nodes.len()];
        for step in &script {
            is_planned[graph.id_of(step.event)] = true;
        }
        if ends != graph.ends {
            // The ends of threads among the planned events have a place from now on.
            let planned =
                is_planned.iter().rposition(|&is_planned| is_planned).map_or(0, |at| at + 1);
            let mut whole = Script::new(graph);
            for (node, is_planned) in is_planned.iter_mut().enumerate().take(planned) {
                *is_planned |= graph.nodes[node].op.is_thread();
                if *is_planned {
                    whole.push(node);
                }
            }
            script = whole.into_steps();
        }
        let mut visit = Visit { run, additions, work, script };
        visit.work.unread = read_again;
        visit.read_again();
        let Visit { additions, work, script, .. } = visit;
        for node in (0..graph.nodes.len()).filter(|&node| is_planned[node]) {
            for half in graph.nodes[node].halves() {
                if additions.contains(half, node) {
                    continue;
                }
                if half.part == Part::Write {
                    revisit(run, additions, node, None, work);
                }
                additions.push(half, node);
            }
        }
        let mut visit = Visit { run, additions, work, script };
        for number in (0..graph.nodes.len()).filter(|&node| !is_planned[node]) {
            let node = &graph.nodes[number];
            let read = Half::read(node.id);
            let offer = follow.offer(node.id);
            if let Some(bound) = node.bound {
                visit.add_alternatives(node, read, (1..bound).map(Choice::Value));
                visit.additions.push(read, number);
            } else if let Some(source) = node.source {
                if node.op.is_atomic() {
                    let others = offer.options.iter().filter(|&&store| store != source);
                    visit.add_alternatives(node, read, others.map(|&store| Choice::Source(store)));
                    for &store in &offer.taken {
                        visit.take_store(number, Taken { source: store, shares: &[] });
                    }
                } else {
                    visit.add_earlier_states(number);
                }
                if node.is_blocked {
                    continue;
                }
                visit.additions.push(read, number);
            } else {
                let Choice::Place(place) = node.choice() else { continue };
                let others = offer.options.iter().filter(|&&store| store != place);
                let others = others.map(|&store| Choice::Place(store));
                visit.add_alternatives(node, Half::write(node.id), others);
            }
            if node.writes {
                revisit(run, visit.additions, number, None, visit.work);
                visit.additions.push(Half::write(node.id), number);
            }
            visit.script.push(Step { event: node.id, choice: node.choice() });
        }
    }

    /// Adds an item for each other place of a store that has revisited a read.
    fn move_store(&mut self, script: &[Step], added: &[Half], store: EventId, ends: Ends) {
        let Some(at) = script.iter().position(|step| step.event == store) else { return };
        let options = self.follow.offer(store).options;
        for place in options {
            let choice = Choice::Place(place);
            if script[at].choice != choice {
                let mut script = script.to_vec();
                script[at].choice = choice;
                self.work.items.push(Item {
                    script,
                    added: added.to_vec(),
                    moved: None,
                    ends,
                    ..Item::default()
                });
            }
        }
    }
}

/// What the visit of a graph works on besides the graph.
#[derive(Debug, Default)]
struct Work {
    /// The graphs to be visited.
    items: Vec<Item>,
    objects: Objects,
    /// Memory for a clock.
    prefix: Vec<u32>,
    /// The attempts that have to read again the readers of this thread and of larger ones.
    unread: Vec<(EventId, ThreadId)>,
    /// Whether there may be graphs to which the search does not lead. See [`readers`].
    is_incomplete: bool,
}

/// The new events of a graph, which are visited one by one.
struct Visit<'a> {
    run: Run<'a>,
    /// The parts of the events so far.
    additions: &'a mut Additions,
    work: &'a mut Work,
    /// The events so far.
    script: Vec<Step>,
}

impl Visit<'_> {
    /// Adds an item for each other way to add `node` to the events so far.
    fn add_alternatives(&mut self, node: &Node, half: Half, choices: impl Iterator<Item = Choice>) {
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
    fn take_store(&mut self, number: NodeId, taken: Taken<'_>) {
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
    fn add_earlier_states(&mut self, number: NodeId) {
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
    fn read_again(&mut self) {
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
