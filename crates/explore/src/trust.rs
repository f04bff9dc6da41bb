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
//! With a bound on preemptions, graphs are left out that need more than it allows, and what they lead to, see
//! [`preemptions`] (Marmanis and Vafeiadis, TACAS 2023). Some that exceed the bound have to be run on the way to others.
//!
//! Readers of a reader-writer lock commute, see [`readers`].
//!
use raddle_core::{Choice, Choices, Ending, EventId, Schedule, ThreadId, Trace};
use raddle_results::{Bounds, Search};

use crate::graphs::asks_for_ends;
use crate::refusal::loops;
use crate::{Covered, Explorer, Graphs, Refusal};

mod additions;
mod clocks;
mod follow;
mod graph;
mod objects;
mod operations;
mod preemptions;
mod readers;
mod revisit;
mod script;
mod visit;
mod workers;

use additions::Additions;
use follow::Follow;
use graph::{Graph, Half, Part};
use objects::{Objects, Run};
use operations::{comes, is_attempt, is_ordered};
use revisit::{Taken, revisit};
use script::Script;
use visit::Visit;
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
    /// The most preemptions that a graph may need. All graphs that need no more are run.
    bound: Option<u32>,
    /// Whether the bound has excluded a graph.
    is_pruned: bool,
    /// The number of graphs within the bound.
    within_bound: u64,
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
            bound: None,
            is_pruned: false,
            within_bound: 0,
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
        if self.work.is_incomplete {
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
        match self.bound {
            _ if !is_done || self.is_cut_off => Covered::Nothing,
            Some(most) if self.is_pruned => {
                Covered::Within(Bounds { preemptions: Some(most), ..Bounds::default() })
            }
            Some(_) | None => Covered::Everything,
        }
    }

    fn repeats_no_class(&self) -> bool {
        self.fallback.is_none()
    }

    fn restart(&mut self) -> bool {
        *self = Trust { bound: self.bound, ..Trust::default() };
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
    /// Makes a search of the graphs that can be run with at most `preemptions` preemptions.
    pub fn bounded(preemptions: u32) -> Trust {
        Trust { bound: Some(preemptions), ..Trust::default() }
    }

    /// Returns the number of graphs so far that need no more preemptions than the bound allows.
    #[doc(hidden)]
    pub fn within_bound(&self) -> u64 {
        self.within_bound
    }

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
        if self.graph.has_futexes || self.graph.has_contended_attempt() {
            self.work.is_incomplete = true;
            return;
        }
        if self.graph.follows(&self.item) {
            self.count_within_bound(trace);
            self.extend(trace);
        } else {
            self.search.blocked += 1;
        }
    }

    fn count_within_bound(&mut self, trace: &Trace) {
        let Some(most) = self.bound.filter(|_| trace.ending != Ending::Abandoned) else { return };
        self.work.objects.clear(trace);
        let run = Run { trace, graph: &self.graph };
        let part = preemptions::Part::Whole;
        let least = preemptions::least_preemptions(run, &mut self.work.objects, part, most);
        self.within_bound += u64::from(least.is_some());
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
        if let Some(most) = self.bound {
            let part = preemptions::Part::Nodes(&is_planned);
            let most = most + slack(trace);
            if preemptions::least_preemptions(run, &mut work.objects, part, most).is_none() {
                self.is_pruned = true;
                return;
            }
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

/// Returns how many preemptions more than the bound a graph may need that leads to one within the bound: as many as there are
/// threads, but for one. The paper has one less, for programs without operations that block.
fn slack(trace: &Trace) -> u32 {
    (trace.threads.len() as u32).saturating_sub(1)
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
