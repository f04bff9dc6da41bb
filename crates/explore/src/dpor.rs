//! Optimal dynamic partial-order reduction: every equivalence class of executions once.
//!
//! Promise: when it ends, exactly one execution of every class has been run, and no run was given up
//! half-way; each class fails in all its executions or in none. Provided that no run panicked (a
//! check ends there) or reached the step limit.
//!
//! After Abdulla, Aronis, Jonsson and Sagonas (POPL 2014), in a form that is right for operations
//! that block ([`Past::reversals`]).
//!
//! A number is chosen as soon as a thread asks for one: nobody else notices, so that nothing is lost
//! and threads that ask need not be put to sleep.

use raddle_core::{
    Action, Choice, Chooser, Ending, Event, EventId, Footprint, ObjectId, Pick, Plan, Point,
    Threads, Trace,
};
use raddle_strategy::Rng;

use crate::Explorer;
use crate::past::{Past, chosen};
use crate::wakeup::{self, Branch, Planned};

/// The search.
#[derive(Clone, Debug, Default)]
pub struct Dpor {
    /// One for each event of the run: the point before it.
    nodes: Vec<Node>,
    past: Past,
    /// The choices that lead through `nodes`.
    path: Vec<Choice>,
    started: bool,
    statistics: Statistics,
    shuffle: Option<Rng>,
    /// What is left of the tree along the branch being run, by position from its first step on.
    beside: Vec<Vec<Branch>>,
    /// A reversal being looked at.
    steps: Vec<Planned>,
}

/// What a search took.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Runs given up because everything they could still reach had been run before.
    pub blocked: u64,
    /// The most points kept at once.
    pub points: usize,
    /// The most steps kept at once in wakeup trees, over all points.
    pub planned: usize,
    planned_now: usize,
}

/// A point with what is known of the ways to go on from it.
#[derive(Clone, Debug, Default)]
struct Node {
    /// What was run from here, or from an earlier point, and would only repeat it.
    sleep: Vec<Footprint>,
    /// What is still to be run from here.
    tree: Vec<Branch>,
    /// How many choices were made before.
    offset: usize,
    /// Whether the way on is a number, not a thread.
    is_value: bool,
}

/// Lets the running thread go on as long as it can, and never one that sleeps.
#[derive(Clone, Debug, Default)]
pub struct DporChooser {
    sleep: Vec<Footprint>,
    /// After how many events `sleep` was worked out.
    seen: usize,
    shuffle: Option<Rng>,
}

impl Dpor {
    /// A search that lets chance decide who goes on where it does not matter. The same classes, in
    /// another order.
    pub fn shuffled(seed: u64) -> Dpor {
        Dpor { shuffle: Some(Rng::new(seed)), ..Dpor::default() }
    }

    /// What the search took so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Goes back to the last point with something left to run; false if there is none.
    fn backtrack(&mut self, plan: &mut Plan<DporChooser>) -> bool {
        while let Some(depth) = self.nodes.len().checked_sub(1) {
            let done = *self.past.footprint(depth);
            self.past.truncate(depth);
            let node = &mut self.nodes[depth];
            self.path.truncate(node.offset);
            if !node.is_value {
                node.sleep.push(done);
            }
            if node.tree.is_empty() {
                self.nodes.pop();
                continue;
            }
            plan.then.sleep.clear();
            plan.then.sleep.extend_from_slice(&node.sleep);
            plan.then.seen = depth;
            self.lead(depth);
            plan.prefix.clear();
            plan.prefix.extend_from_slice(&self.path);
            return true;
        }
        false
    }

    /// Takes the first branch at a point out of its tree and leads the path along it, always by the
    /// first child.
    fn lead(&mut self, depth: usize) {
        self.beside.clear();
        let mut branch = self.nodes[depth].tree.remove(0);
        loop {
            self.statistics.planned_now -= 1;
            self.path.push(Choice::Thread(branch.thread()));
            self.path.extend(branch.value.map(Choice::Value));
            if branch.children.is_empty() {
                return;
            }
            let next = branch.children.remove(0);
            self.beside.push(branch.children);
            branch = next;
        }
    }

    /// Makes a point for every event from `from` on.
    fn follow(&mut self, from: usize, trace: &Trace) {
        if let Some(node) = self.nodes.get(from) {
            self.path.truncate(node.offset);
        }
        let led = self.beside.len() + 1;
        let mut beside = std::mem::take(&mut self.beside).into_iter();
        for (position, event) in trace.events.iter().enumerate().skip(from) {
            let is_new = self.nodes.len() == position;
            if is_new {
                let sleep = match position.checked_sub(1) {
                    None => Vec::new(),
                    Some(before) => {
                        let event = self.past.footprint(before);
                        let sleep = self.nodes[before].sleep.iter();
                        sleep.filter(|asleep| !asleep.depends(event)).copied().collect()
                    }
                };
                let tree =
                    if position > from { beside.next().unwrap_or_default() } else { Vec::new() };
                self.nodes.push(Node { sleep, tree, offset: self.path.len(), is_value: false });
            }
            self.path.push(Choice::Thread(event.id.thread));
            if let Some((bound, value)) = chosen(event) {
                self.path.push(Choice::Value(value));
                if is_new {
                    let is_led = position < from + led;
                    self.plan_values(position, event.id, is_led, (bound, value));
                }
            }
            self.past.push(event, &trace.objects);
        }
        self.statistics.points = self.statistics.points.max(self.nodes.len());
    }

    /// The event after a new point chose a number: plans the others. Not where the point was led to
    /// while something slept: what differs then is planned by those that sleep.
    fn plan_values(&mut self, at: usize, event: EventId, is_led: bool, chosen: (u32, u32)) {
        let node = &mut self.nodes[at];
        node.is_value = true;
        if is_led && !node.sleep.is_empty() {
            return;
        }
        let (bound, taken) = chosen;
        for value in 0..bound {
            let is_planned = node.tree.iter().any(|branch| branch.value == Some(value));
            if value != taken && !is_planned {
                node.tree.push(Branch::choosing(event, value));
                self.statistics.planned_now += 1;
            }
        }
    }

    /// Plans the reversal of every race of a run.
    fn plan_reversals(&mut self, trace: &Trace) {
        let Dpor { nodes, past, steps, statistics, .. } = self;
        past.reversals(trace, |reversal| {
            steps.clear();
            steps.extend(reversal.steps().map(|(event, footprint)| {
                let event_in_trace = past.position(event).map(|position| &trace.events[position]);
                let value = event_in_trace.and_then(chosen).map(|(_, value)| value);
                Planned { event, footprint, value }
            }));
            let node = &mut nodes[reversal.at];
            if !node.sleep.iter().any(|asleep| is_weak_initial(asleep, steps)) {
                let added = wakeup::insert(&mut node.tree, steps, past, trace, reversal.at);
                statistics.planned_now += added;
                statistics.planned = statistics.planned.max(statistics.planned_now);
            }
        });
    }
}

/// Whether some execution that begins with `first` is equivalent to one that begins with `steps`.
fn is_weak_initial(first: &Footprint, steps: &[Planned]) -> bool {
    for step in steps {
        if step.footprint.thread == first.thread {
            return true;
        }
        if step.footprint.depends(first) {
            return false;
        }
    }
    true
}

/// The first thread that asks for a number.
fn asks_for_a_number(threads: &Threads<'_>) -> Option<usize> {
    let asks = |&option: &usize| {
        let op = &threads.pending[threads.enabled[option].index()].op;
        op.object() == ObjectId::NONE && matches!(op.action(), Action::Choose { .. })
    };
    (0..threads.enabled.len()).filter(asks).min_by_key(|&option| threads.enabled[option])
}

impl Chooser for DporChooser {
    const WATCHES_CHANGES: bool = false;

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Point::Thread(threads) = at else { return Pick::Take(0) };
        for event in &past[self.seen..] {
            let event = event.footprint();
            self.sleep.retain(|asleep| !asleep.depends(&event));
        }
        self.seen = past.len();
        if let Some(option) = asks_for_a_number(threads) {
            return Pick::Take(option);
        }
        let last = past.last();
        let sleep = &self.sleep;
        let awake = |&option: &usize| {
            let thread = threads.enabled[option];
            sleep.iter().all(|asleep| asleep.thread != thread)
        };
        let options = (0..threads.enabled.len()).filter(awake);
        let choice = match &mut self.shuffle {
            None => options.min_by_key(|&option| {
                let thread = threads.enabled[option];
                (last.is_none_or(|last| last.id.thread != thread), thread)
            }),
            Some(rng) => {
                let options: Vec<usize> = options.collect();
                (!options.is_empty()).then(|| options[rng.below(options.len())])
            }
        };
        choice.map_or(Pick::Abandon, Pick::Take)
    }
}

impl Explorer for Dpor {
    type Then = DporChooser;

    fn chooser(&self) -> DporChooser {
        DporChooser { shuffle: self.shuffle.clone(), ..DporChooser::default() }
    }

    fn next(&mut self, plan: &mut Plan<DporChooser>) -> bool {
        if !std::mem::replace(&mut self.started, true) {
            plan.prefix.clear();
            plan.then.sleep.clear();
            plan.then.seen = 0;
            return true;
        }
        self.backtrack(plan)
    }

    fn learn(&mut self, _run: u64, trace: &Trace, _plan: &mut Plan<DporChooser>) {
        self.statistics.blocked += u64::from(trace.ending == Ending::Abandoned);
        let from = self.past.len();
        self.follow(from, trace);
        self.plan_reversals(trace);
    }
}
