//! A run as an execution graph.

use raddle_core::{
    Access, Action, AtomicOp, Choice, Effect, Ending, Event, EventId, ObjectKind, Op, ThreadId,
    ThreadOp, Trace,
};

use super::clocks::Clocks;
use super::operations::is_attempt;
use super::{Ends, Item, is_ordered};

/// A part of an event in the order of addition. A choice of a number counts as a read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) struct Half {
    pub(super) event: EventId,
    pub(super) part: Part,
}

/// What a part of an event does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Part {
    /// This update of the object revisited the operation and disables it. The operation reads a later one.
    Wait(EventId),
    Read,
    /// The attempt reads again the readers of this thread and of larger ones. See [`readers`](super::readers).
    Readers(ThreadId),
    Write,
}

impl Half {
    pub(super) fn read(event: EventId) -> Half {
        Half { event, part: Part::Read }
    }

    pub(super) fn write(event: EventId) -> Half {
        Half { event, part: Part::Write }
    }
}

/// The position of a node among the nodes of its graph.
pub(super) type NodeId = usize;

/// An operation on a shared object, or a choice of a number.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) id: EventId,
    pub(super) op: Op,
    /// The object, by its number in this run.
    pub(super) object: usize,
    /// The store or update it reads, if it reads.
    pub(super) source: Option<EventId>,
    /// Whether it is a store, an update or a share.
    pub(super) writes: bool,
    /// Whether it is a share: it changes its object, but has no place in the order of updates.
    pub(super) shares: bool,
    /// The number of options, if this is a choice of a number.
    pub(super) bound: Option<u32>,
    /// The chosen number.
    pub(super) value: u32,
    /// Whether the operation is still blocked at the end of the run.
    pub(super) is_blocked: bool,
    /// The store it came right after when it was performed.
    place: EventId,
}

impl Node {
    /// Returns its operation and thread.
    pub(super) fn operation(&self) -> (Op, ThreadId) {
        (self.op, self.id.thread)
    }

    /// Returns its parts in the order in which they are added.
    pub(super) fn halves(&self) -> impl Iterator<Item = Half> + use<> {
        let reads = self.source.is_some() || self.bound.is_some();
        let read = (reads && !self.is_blocked).then_some(Half::read(self.id));
        read.into_iter().chain(self.writes.then_some(Half::write(self.id)))
    }

    /// Returns the choice that was made for it.
    pub(super) fn choice(&self) -> Choice {
        match self.source {
            _ if self.bound.is_some() => Choice::Value(self.value),
            Some(source) => Choice::Source(source),
            None => Choice::Place(self.place),
        }
    }
}

/// An execution graph. Its memory is used for the next one.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// In the order in which they were performed, then the blocked ones.
    pub(super) nodes: Vec<Node>,
    /// What leads to each node, by program order, spawns, joins and reads.
    pub(super) prefixes: Clocks,
    /// What has to come before each node: its prefix, and what reads a state that an update changes.
    pub(super) earlier: Clocks,
    /// Whether `earlier` is kept: it differs from `prefixes` only if there are other objects than variables.
    has_earlier: bool,
    /// By object: the stores in modification order, or the updates.
    orders: Vec<Vec<NodeId>>,
    /// By object: the nodes that read it.
    reads: Vec<Vec<NodeId>>,
    /// By object: the nodes that share it.
    shares: Vec<Vec<NodeId>>,
    /// Whether there is a share.
    has_shares: bool,
    /// Whether threads wait for changes of variables by futexes, which the search does not cover.
    pub(super) has_futexes: bool,
    /// By thread and index of an event: its node, if it has one.
    nodes_of: Vec<Vec<Option<NodeId>>>,
    pub(super) ends: Ends,
}

impl Graph {
    /// Becomes the graph of a run.
    pub(super) fn build(&mut self, trace: &Trace, ends: Ends) {
        let threads = trace.threads.iter().map(|thread| thread.id.index() + 1).max().unwrap_or(1);
        self.clear(threads, trace);
        self.ends = ends;
        let mut chosen = trace.sources.iter().peekable();
        for (position, event) in trace.events.iter().enumerate() {
            let chosen = chosen.next_if(|choice| choice.0 == position).map(|choice| choice.1);
            self.add_event(trace, event, chosen);
        }
        // A run is abandoned and learnt from if only readers are enabled that have to wait.
        let all_wait = trace.ending == Ending::Abandoned;
        for pending in &trace.pending {
            if (!pending.enabled || all_wait) && is_ordered(&pending.op, ends) {
                let thread = pending.thread;
                let index = self.nodes_of[thread.index()].len() as u32;
                let mut node = Node::new(EventId { thread, index }, pending.op);
                node.source = Some(self.newest(node.object));
                node.is_blocked = true;
                self.add(node);
            }
        }
    }

    fn clear(&mut self, threads: usize, trace: &Trace) {
        self.nodes.clear();
        (self.has_shares, self.has_futexes) = (false, false);
        self.prefixes.clear(threads);
        self.has_earlier = has_earlier_states(trace);
        self.earlier.clear(if self.has_earlier { threads } else { 0 });
        clear_lists(&mut self.orders, trace.objects.len());
        clear_lists(&mut self.reads, trace.objects.len());
        clear_lists(&mut self.shares, trace.objects.len());
        clear_lists(&mut self.nodes_of, threads);
    }

    fn add_event(&mut self, trace: &Trace, event: &Event, chosen: Option<EventId>) {
        let mut node = Node::new(event.id, event.op);
        if event.op.is_atomic() {
            let (reads, writes) = access_to_variable(event);
            // The number of stores up to and including the one it reads or comes right after.
            let order = &self.orders[node.object];
            let stores = match chosen {
                None => order.len(),
                Some(store) => self.number(node.object, store),
            };
            node.place = self.update(node.object, stores);
            node.source = reads.then_some(node.place);
            node.writes = writes;
            if writes {
                self.orders[node.object].insert(stores, self.nodes.len());
            }
            self.add(node);
        } else if let Action::Choose { bound, .. } = event.op.action() {
            node.bound = Some(bound);
            if let Effect::Value(value) = event.effect {
                node.value = value as u32;
            }
            self.add(node);
        } else if is_ordered(&event.op, self.ends) {
            self.has_futexes |= event.op.futex().is_some();
            node.source = Some(self.newest(node.object));
            match event.access() {
                Access::Read => {}
                Access::Update => {
                    node.writes = true;
                    self.orders[node.object].push(self.nodes.len());
                }
                Access::Share => {
                    (node.writes, node.shares) = (true, true);
                    self.has_shares = true;
                    self.shares[node.object].push(self.nodes.len());
                }
            }
            self.add(node);
        } else {
            self.nodes_of[event.id.thread.index()].push(None);
            for clocks in [&mut self.prefixes, &mut self.earlier] {
                clocks.advance(event.id);
            }
            self.add_thread_event(trace, event);
        }
    }

    fn add_thread_event(&mut self, trace: &Trace, event: &Event) {
        let Action::Thread(op) = event.op.action() else { return };
        let ObjectKind::Thread(other) = trace.objects[event.op.object().index()].kind else {
            unreachable!("raddle invariant broken: a thread operation on no thread")
        };
        for clocks in [&mut self.prefixes, &mut self.earlier] {
            match op {
                ThreadOp::Spawn => clocks.join_thread(other, event.id.thread),
                ThreadOp::Join => clocks.join_thread(event.id.thread, other),
                ThreadOp::Exit | ThreadOp::IsFinished => {}
            }
        }
    }

    fn add(&mut self, node: Node) {
        let number = self.nodes.len();
        let source = node.source.and_then(|source| self.find(source));
        self.prefixes.begin_node(node.id);
        self.earlier.begin_node(node.id);
        if let Some(source) = source {
            self.prefixes.join_node(node.id, source);
            self.earlier.join_node(node.id, source);
        }
        let is_attempt = self.has_shares && is_attempt(&node.op);
        if is_attempt || node.writes && !node.shares && !node.op.is_atomic() {
            for &share in self.shares[node.object].iter().rev() {
                if self.nodes[share].source != node.source {
                    break;
                }
                self.prefixes.join_node(node.id, share);
                self.earlier.join_node(node.id, share);
            }
        }
        if node.shares {
            // Attempts that failed before it.
            for &attempt in self.reads[node.object].iter().rev() {
                if self.nodes[attempt].source != node.source {
                    break;
                }
                if is_attempt_that_failed(&self.nodes[attempt]) {
                    self.earlier.join_node(node.id, attempt);
                }
            }
        }
        if node.writes && !node.shares && !node.op.is_atomic() {
            // Those that read the same state come before the update.
            for &read in self.reads[node.object].iter().rev() {
                if self.nodes[read].source != node.source {
                    break;
                }
                self.earlier.join_node(node.id, read);
            }
        }
        self.prefixes.end_node(node.id);
        self.earlier.end_node(node.id);
        if node.source.is_some() && !node.is_blocked {
            self.reads[node.object].push(number);
        }
        self.nodes_of[node.id.thread.index()].push(Some(number));
        self.nodes.push(node);
    }

    /// Returns whether the run has the operations of an item in their order and with their choices.
    pub(super) fn follows(&self, item: &Item) -> bool {
        let mut accesses = self.nodes.iter().filter(|node| {
            node.bound.is_none() && !node.is_blocked && is_ordered(&node.op, item.ends)
        });
        item.script.iter().all(|step| {
            let node = match step.choice {
                // A number is chosen as soon as possible.
                Choice::Value(_) => self.find(step.event).map(|node| &self.nodes[node]),
                Choice::Source(_) | Choice::Place(_) | Choice::Thread(_) => accesses.next(),
            };
            node.is_some_and(|node| node.id == step.event && node.choice() == step.choice)
        })
    }

    /// Returns the node of an event. Returns `None` if it has none, or if this is the initial store.
    pub(super) fn find(&self, event: EventId) -> Option<NodeId> {
        if event == EventId::INITIAL {
            return None;
        }
        self.nodes_of.get(event.thread.index())?.get(event.index as usize).copied().flatten()
    }

    /// Returns the node of an operation or choice that is in the graph.
    pub(super) fn id_of(&self, event: EventId) -> NodeId {
        self.find(event).expect("raddle invariant broken: an event outside the graph")
    }

    /// Returns the stores to an object in modification order, or its updates.
    pub(super) fn order(&self, object: usize) -> &[NodeId] {
        &self.orders[object]
    }

    /// Returns the nodes that read an object, in the order in which they were performed.
    pub(super) fn reads(&self, object: usize) -> &[NodeId] {
        &self.reads[object]
    }

    /// Returns the nodes that share an object, in the order in which they were performed.
    pub(super) fn shares(&self, object: usize) -> &[NodeId] {
        &self.shares[object]
    }

    /// Adds what has to come before a node, and the node, to `clock`.
    pub(super) fn add_order(&self, node: NodeId, clock: &mut [u32]) {
        let clocks = if self.has_earlier { &self.earlier } else { &self.prefixes };
        clocks.add(node, clock);
    }

    /// Returns whether there is a share.
    pub(super) fn has_shares(&self) -> bool {
        self.has_shares
    }

    /// Returns whether several threads read a lock that another one attempts to write.
    pub(super) fn has_contended_attempt(&self) -> bool {
        let has_several_readers = |attempt: &Node| {
            let threads =
                self.shares[attempt.object].iter().map(|&share| self.nodes[share].id.thread);
            let mut others = threads.filter(|&thread| thread != attempt.id.thread);
            others.next().is_some_and(|first| others.any(|other| other != first))
        };
        self.has_shares
            && self.nodes.iter().any(|node| is_attempt(&node.op) && has_several_readers(node))
    }

    /// Returns whether `node` reads a share: an attempt or writer reads those of its state that were performed before it.
    pub(super) fn reads_share(&self, node: NodeId, share: NodeId) -> bool {
        share < node && self.nodes[share].source == self.nodes[node].source
    }

    /// Returns the number of updates of its object up to and including `node`, which is an update, or before it, if it is a
    /// share.
    pub(super) fn updates_until(&self, node: &Node) -> usize {
        let update = if node.shares { node.source } else { Some(node.id) };
        update.map_or(0, |update| self.number(node.object, update))
    }

    /// Returns the number of stores to an object up to and including `store`.
    pub(super) fn number(&self, object: usize, store: EventId) -> usize {
        let Some(store) = self.find(store) else { return 0 };
        let place = self.orders[object].iter().rposition(|&other| other == store);
        place.map_or(0, |place| place + 1)
    }

    /// Returns the last of the first `number` stores to an object.
    pub(super) fn update(&self, object: usize, number: usize) -> EventId {
        match number.checked_sub(1) {
            None => EventId::INITIAL,
            Some(last) => self.nodes[self.orders[object][last]].id,
        }
    }

    fn newest(&self, object: usize) -> EventId {
        self.update(object, self.orders[object].len())
    }
}

impl Node {
    fn new(id: EventId, op: Op) -> Node {
        Node {
            id,
            op,
            object: op.object().index(),
            source: None,
            writes: false,
            shares: false,
            bound: None,
            value: 0,
            is_blocked: false,
            place: EventId::INITIAL,
        }
    }
}

/// Returns whether a node is an attempt to write-lock a lock that failed.
pub(super) fn is_attempt_that_failed(node: &Node) -> bool {
    !node.writes && is_attempt(&node.op)
}

/// Returns whether an access to an atomic variable read and whether it wrote.
fn access_to_variable(event: &Event) -> (bool, bool) {
    match event.op.action() {
        Action::Atomic(AtomicOp::Load { .. }) => (true, false),
        Action::Atomic(AtomicOp::Store { .. }) => (false, true),
        Action::Atomic(AtomicOp::Update { .. }) => (true, true),
        Action::Atomic(AtomicOp::CompareExchange { .. }) => {
            (true, matches!(event.effect, Effect::Exchanged(_)))
        }
        other => unreachable!("raddle invariant broken: {other:?} on an atomic variable"),
    }
}

/// Returns whether an operation of a run may find an earlier state of an object that is no variable.
fn has_earlier_states(trace: &Trace) -> bool {
    let is_other = |kind: ObjectKind| match kind {
        ObjectKind::Thread(_) | ObjectKind::Atomic(_) => false,
        ObjectKind::Cell
        | ObjectKind::Mutex
        | ObjectKind::RwLock
        | ObjectKind::Condvar
        | ObjectKind::Barrier
        | ObjectKind::Once
        | ObjectKind::Parker(_)
        | ObjectKind::Notify
        | ObjectKind::Channel
        | ObjectKind::Semaphore => true,
    };
    trace.objects.iter().any(|object| is_other(object.kind))
        || trace
            .events
            .iter()
            .any(|event| event.op.is_thread() && event.op.thread() == ThreadOp::IsFinished)
}

/// Empties all lists, and makes room for `count`.
pub(super) fn clear_lists<T>(lists: &mut Vec<Vec<T>>, count: usize) {
    lists.iter_mut().for_each(Vec::clear);
    if lists.len() < count {
        lists.resize_with(count, Vec::new);
    }
}
