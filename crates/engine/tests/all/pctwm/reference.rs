//! A reference implementation of PCTWM: Algorithms 1 and 2 of the paper, with their threads, views and bags. It runs
//! with every outcome of its draws, and so computes the exact distribution of outcomes. Programs must not block.
//!
//! What the paper leaves open is as in the strategy. Spawns are performed at once, and places are drawn. A read whose
//! view is no option (atomicity, sequential consistency) reads the oldest option.

use std::collections::BTreeMap;

use raddle_core::{
    Action, AtomicOp, Choices, Chooser, Event, EventId, ObjectId, Op, Order, Pick, Point, ThreadId,
    ThreadOp, Threads,
};
use raddle_engine::{Engine, Rc11, Substrate, ThreadIds};
use raddle_testkit::litmus::run::{Litmus, graph_of};
use raddle_testkit::litmus::{Code, Outcome};

/// Returns the probability of each outcome.
pub(crate) fn distribution(
    code: &Code,
    depth: usize,
    history: usize,
    events: usize,
) -> BTreeMap<Outcome, f64> {
    let mut algorithm =
        Algorithm { depth, history, events, draws: Draws::default(), run: Run::default() };
    let mut engine = Engine::new(Rc11::default(), ThreadIds::default(), 1000);
    let mut distribution = BTreeMap::new();
    loop {
        algorithm.begin();
        Litmus.execute(&mut engine, Choices::Chooser(&mut algorithm), code);
        let outcome = graph_of(code, engine.trace()).1;
        *distribution.entry(outcome).or_insert(0.0) += algorithm.draws.probability();
        if !algorithm.draws.advance() {
            return distribution;
        }
    }
}

/// The draws of a run. Enumerates all combinations.
#[derive(Default)]
struct Draws {
    /// Each draw and its bound.
    made: Vec<(usize, usize)>,
    next: usize,
}

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        if self.next == self.made.len() {
            self.made.push((0, bound));
        }
        self.next += 1;
        self.made[self.next - 1].0
    }

    fn probability(&self) -> f64 {
        self.made.iter().map(|&(_, bound)| 1.0 / bound as f64).product()
    }

    /// Advances to the next combination. Returns whether there is one.
    fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((drawn, bound)) = self.made.pop() {
            if drawn + 1 < bound {
                self.made.push((drawn + 1, bound));
                return true;
            }
        }
        false
    }
}

struct Algorithm {
    depth: usize,
    history: usize,
    /// k_com of the paper.
    events: usize,
    draws: Draws,
    run: Run,
}

/// A view: for each variable, the newest store seen.
type View = BTreeMap<ObjectId, EventId>;

#[derive(Default)]
struct Run {
    /// The d lowest priorities, ascending.
    delayed: Vec<Option<ThreadId>>,
    /// The other priorities, ascending.
    ranked: Vec<ThreadId>,
    /// d₁ … d_d of the paper.
    sinks: Vec<usize>,
    /// i of the paper: the number of communication events so far.
    count: usize,
    /// The events that `count` includes.
    counted: Vec<EventId>,
    reordered: Vec<EventId>,
    /// The number of events of the run that have been processed.
    seen: usize,
    /// The source or place that was last chosen.
    chosen: Option<EventId>,
    threads: BTreeMap<ThreadId, ThreadState>,
    /// The stores of each variable in modification order.
    orders: BTreeMap<ObjectId, Vec<EventId>>,
    /// By store, the view that synchronises with its readers.
    bags: BTreeMap<EventId, View>,
}

#[derive(Clone, Default)]
struct ThreadState {
    view: View,
    /// What the thread's relaxed reads have read. An acquire fence joins it.
    unacquired: View,
    /// The thread's view at its last release fence.
    released: View,
    /// The number of the thread's events.
    performed: u32,
}

impl Chooser for Algorithm {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        for event in &past[self.run.seen..] {
            self.run.execute_and_update_view(event);
        }
        self.run.seen = past.len();
        Pick::Take(match at {
            Point::Thread(threads) => self.thread(threads),
            Point::Source { by, options } => {
                let option = self.source(by.thread, by.op, options);
                self.run.chosen = Some(options[option]);
                option
            }
            Point::Place { options, .. } => {
                let option = self.draws.below(options.len());
                self.run.chosen = Some(options[option]);
                option
            }
            Point::Value { .. } => unreachable!("litmus tests choose no numbers"),
        })
    }
}

impl Algorithm {
    fn begin(&mut self) {
        self.run = Run { delayed: vec![None; self.depth], ..Run::default() };
        let mut left: Vec<usize> = (1..=self.events).collect();
        for _ in 0..self.depth {
            let drawn = self.draws.below(left.len());
            self.run.sinks.push(left.remove(drawn));
        }
    }

    /// Algorithm 1: returns the option of the next thread.
    fn thread(&mut self, threads: &Threads<'_>) -> usize {
        let pending = |thread: ThreadId| threads.pending[thread.index()].op;
        let spawns = |op: Op| matches!(op.action(), Action::Thread(ThreadOp::Spawn));
        if let Some(option) = threads.enabled.iter().position(|&thread| spawns(pending(thread))) {
            return option;
        }
        let mut enabled = threads.enabled.to_vec();
        enabled.sort_unstable_by_key(|thread| thread.index());
        for thread in enabled {
            let is_known =
                self.run.ranked.contains(&thread) || self.run.delayed.contains(&Some(thread));
            if !is_known {
                let index = self.draws.below(self.run.ranked.len() + 1);
                self.run.ranked.insert(index, thread);
            }
        }
        loop {
            let ascending = self.run.delayed.iter().flatten().chain(&self.run.ranked);
            let highest = ascending.rev().find(|thread| threads.enabled.contains(thread));
            let thread = *highest.expect("a thread is enabled");
            let index = self.run.threads.get(&thread).map_or(0, |state| state.performed);
            let event = EventId { thread, index };
            if is_communication_event(pending(thread)) && !self.run.counted.contains(&event) {
                self.run.counted.push(event);
                self.run.count += 1;
                let drawn = self.run.sinks.iter().position(|&sink| sink == self.run.count);
                if let Some(k) = drawn {
                    self.run.ranked.retain(|&other| other != thread);
                    for place in &mut self.run.delayed {
                        if *place == Some(thread) {
                            *place = None;
                        }
                    }
                    self.run.delayed[self.depth - 1 - k] = Some(thread);
                    self.run.reordered.push(event);
                    continue;
                }
            }
            let option = threads.enabled.iter().position(|&other| other == thread);
            return option.expect("the thread is enabled");
        }
    }

    fn source(&mut self, thread: ThreadId, op: Op, options: &[EventId]) -> usize {
        let state = self.run.threads.get(&thread).cloned().unwrap_or_default();
        let event = EventId { thread, index: state.performed };
        if self.run.reordered.contains(&event) {
            // readGlobal
            return options.len() - 1 - self.draws.below(self.history.min(options.len()));
        }
        // readLocal
        let view = state.view.get(&op.object()).copied().unwrap_or(EventId::INITIAL);
        options.iter().position(|&option| option == view).unwrap_or(0)
    }
}

impl Run {
    /// Algorithm 2, for a performed event.
    fn execute_and_update_view(&mut self, event: &Event) {
        let thread = event.id.thread;
        let mut state = self.threads.get(&thread).cloned().unwrap_or_default();
        state.performed = event.id.index + 1;
        match event.op.action() {
            Action::Atomic(op) => self.access(&mut state, event, op),
            Action::Fence(order) => {
                if order.acquires() {
                    let unacquired = state.unacquired.clone();
                    self.join(&mut state.view, &unacquired);
                }
                if order.releases() {
                    state.released = state.view.clone();
                }
            }
            Action::Thread(ThreadOp::Spawn) => {}
            _ => {}
        }
        self.threads.insert(thread, state);
    }

    fn access(&mut self, state: &mut ThreadState, event: &Event, op: AtomicOp) {
        let object = event.op.object();
        let chosen = self.chosen.take();
        let order = self.orders.entry(object).or_insert_with(|| vec![EventId::INITIAL]);
        let at = match chosen {
            Some(chosen) => {
                order.iter().position(|&store| store == chosen).expect("the choice is a store")
            }
            None => order.len() - 1,
        };
        let source = order[at];
        let is_update = event.access() == raddle_core::Access::Update;
        let (reads, memory_order) = match op {
            AtomicOp::Load { order } | AtomicOp::Update { order, .. } => (true, order),
            AtomicOp::Store { order, .. } => (false, order),
            AtomicOp::CompareExchange { success, failure, .. } => {
                (true, if is_update { success } else { failure })
            }
        };
        if is_update {
            order.insert(at + 1, event.id);
        }
        let mut bag = View::new();
        if reads {
            bag = self.bags.get(&source).cloned().unwrap_or_default();
            self.join(&mut state.view, &View::from([(object, source)]));
            if memory_order.acquires() {
                self.join(&mut state.view, &bag);
            } else {
                self.join(&mut state.unacquired, &bag);
            }
        }
        if is_update {
            state.view.insert(object, event.id);
            let own =
                if memory_order.releases() { state.view.clone() } else { state.released.clone() };
            // A release sequence continues through read-modify-writes.
            self.join(&mut bag, &own);
            self.bags.insert(event.id, bag);
        }
    }

    /// ⊔ of the paper, by modification order.
    fn join(&self, view: &mut View, other: &View) {
        for (object, store) in other {
            let place = |store: &EventId| {
                self.orders.get(object).and_then(|order| order.iter().position(|s| s == store))
            };
            let mine = view.entry(*object).or_insert(EventId::INITIAL);
            if place(store) > place(mine) {
                *mine = *store;
            }
        }
    }
}

fn is_communication_event(op: Op) -> bool {
    match op.action() {
        Action::Atomic(AtomicOp::Store { order, .. }) => order == Order::SeqCst,
        Action::Atomic(_) => true,
        Action::Fence(order) => order.acquires(),
        _ => false,
    }
}
