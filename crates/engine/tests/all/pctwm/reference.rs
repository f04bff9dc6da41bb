//! PCTWM written down from the paper, Algorithm 1 and 2 with their threads, views and bags, and run with
//! every outcome of its draws: what comes how often, exactly. Programs must not wait.
//!
//! What the paper leaves open is as in the strategy: spawns go at once, places are drawn, and a read whose
//! view cannot be read (atomicity, sequential consistency) takes the oldest store that can.

use std::collections::BTreeMap;

use raddle_core::{
    Action, AtomicOp, Choices, Chooser, Event, EventId, ObjectId, Op, Order, Pick, Point, ThreadId,
    ThreadOp, Threads,
};
use raddle_engine::{Engine, Rc11, Substrate, ThreadIds};
use raddle_testkit::litmus::run::{Litmus, graph_of};
use raddle_testkit::litmus::{Code, Outcome};

/// How likely each outcome is.
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
        let cleared = Litmus.execute(&mut engine, Choices::Chooser(&mut algorithm), code);
        cleared.expect("litmus tests do not get stuck");
        let outcome = graph_of(code, engine.trace()).1;
        *distribution.entry(outcome).or_insert(0.0) += algorithm.draws.likelihood();
        if !algorithm.draws.advance() {
            return distribution;
        }
    }
}

/// All that is drawn in a run, as an odometer.
#[derive(Default)]
struct Draws {
    /// What came, and of how many.
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

    fn likelihood(&self) -> f64 {
        self.made.iter().map(|&(_, bound)| 1.0 / bound as f64).product()
    }

    /// The next outcome; false if that was the last.
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
    /// k_com.
    events: usize,
    draws: Draws,
    run: Run,
}

/// For each variable, the newest store seen.
type View = BTreeMap<ObjectId, EventId>;

#[derive(Default)]
struct Run {
    /// `threads`, in ascending order of priority: the first d places, and the rest.
    delayed: Vec<Option<ThreadId>>,
    ranked: Vec<ThreadId>,
    /// d₁ … d_d.
    sinks: Vec<usize>,
    /// i.
    count: usize,
    /// Events that were counted.
    counted: Vec<EventId>,
    reordered: Vec<EventId>,
    /// How many events have been taken in.
    seen: usize,
    /// What was last chosen to be read, or to stand behind.
    chosen: Option<EventId>,
    of_thread: BTreeMap<ThreadId, OfThread>,
    /// The stores of each variable in their order.
    orders: BTreeMap<ObjectId, Vec<EventId>>,
    /// What a store hands to those who synchronise with it.
    bags: BTreeMap<EventId, View>,
}

#[derive(Clone, Default)]
struct OfThread {
    view: View,
    /// What its relaxed reads could not take, for a fence.
    unacquired: View,
    /// Its view at its last release fence.
    released: View,
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

    /// Algorithm 1.
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
            let thread = *highest.expect("somebody is enabled");
            let index = self.run.of_thread.get(&thread).map_or(0, |of| of.performed);
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
            return option.expect("it is enabled");
        }
    }

    fn source(&mut self, thread: ThreadId, op: Op, options: &[EventId]) -> usize {
        let of = self.run.of_thread.get(&thread).cloned().unwrap_or_default();
        let event = EventId { thread, index: of.performed };
        if self.run.reordered.contains(&event) {
            // readGlobal
            return options.len() - 1 - self.draws.below(self.history.min(options.len()));
        }
        // readLocal
        let view = of.view.get(&op.object()).copied().unwrap_or(EventId::INITIAL);
        options.iter().position(|&option| option == view).unwrap_or(0)
    }
}

impl Run {
    /// Algorithm 2, once the event has happened.
    fn execute_and_update_view(&mut self, event: &Event) {
        let thread = event.id.thread;
        let mut of = self.of_thread.get(&thread).cloned().unwrap_or_default();
        of.performed = event.id.index + 1;
        match event.op.action() {
            Action::Atomic(op) => self.access(&mut of, event, op),
            Action::Fence(order) => {
                if order.acquires() {
                    let unacquired = of.unacquired.clone();
                    self.join(&mut of.view, &unacquired);
                }
                if order.releases() {
                    of.released = of.view.clone();
                }
            }
            Action::Thread(ThreadOp::Spawn) => {}
            _ => {}
        }
        self.of_thread.insert(thread, of);
    }

    fn access(&mut self, of: &mut OfThread, event: &Event, op: AtomicOp) {
        let object = event.op.object();
        let chosen = self.chosen.take();
        let order = self.orders.entry(object).or_insert_with(|| vec![EventId::INITIAL]);
        let at = match chosen {
            Some(chosen) => order.iter().position(|&store| store == chosen).expect("it is there"),
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
            self.join(&mut of.view, &View::from([(object, source)]));
            if memory_order.acquires() {
                self.join(&mut of.view, &bag);
            } else {
                self.join(&mut of.unacquired, &bag);
            }
        }
        if is_update {
            of.view.insert(object, event.id);
            let own = if memory_order.releases() { of.view.clone() } else { of.released.clone() };
            // A release sequence goes on through read-modify-writes.
            self.join(&mut bag, &own);
            self.bags.insert(event.id, bag);
        }
    }

    /// ⊔ by the order of the stores.
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
