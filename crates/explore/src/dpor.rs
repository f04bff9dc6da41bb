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
    Search, Threads, Trace,
};
use raddle_strategy::Rng;

use crate::past::{Past, chosen};
use crate::refusal::circles;
use crate::wakeup::{self, Branch, Planned};
use crate::{Covered, Explorer, Refusal};

/// The estimate of all runs is made anew after so many.
const RUNS_PER_ESTIMATE: u64 = 256;

/// The search.
#[derive(Clone, Debug, Default)]
pub struct Dpor {
    /// One for each event of the run: the point before it.
    nodes: Vec<Node>,
    past: Past,
    /// The choices that lead through `nodes`.
    path: Vec<Choice>,
    /// How many runs were made.
    runs: u64,
    search: Search,
    refusal: Option<Refusal>,
    /// Whether a run reached the step limit.
    is_cut_off: bool,
    /// How many steps all trees have together.
    planned: u64,
    shuffle: Option<Rng>,
    /// What is left of the tree along the branch being run, by position from its first step on.
    beside: Vec<Vec<Branch>>,
    /// A reversal being looked at.
    steps: Vec<Planned>,
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
    /// How many ways on have been run to the end.
    done: u32,
    /// Whether the way on is a number, not a thread.
    is_value: bool,
}

/// Lets the running thread go on until it waits or gives way, and never one that sleeps.
#[derive(Clone, Debug, Default)]
pub struct DporChooser {
    sleep: Vec<Footprint>,
    /// After how many events `sleep` was worked out.
    seen: usize,
    shuffle: Option<Rng>,
    refusal: Option<Refusal>,
}

impl Dpor {
    /// A search that lets chance decide who goes on where it does not matter. The same classes, in
    /// another order.
    pub fn shuffled(seed: u64) -> Dpor {
        Dpor { shuffle: Some(Rng::new(seed)), ..Dpor::default() }
    }

    /// About how many runs there are in all, from how much of what is known or likely has been done.
    /// Every way on from a point counts for the same (weighted backtracking).
    fn estimate(&self, trace: &Trace) -> f64 {
        let (mut done, mut share) = (0.0, 1.0);
        for (node, likely) in self.nodes.iter().zip(self.past.likely_ways(trace)) {
            let known = node.done + 1 + node.tree.len() as u32;
            let ways = f64::from(known.max(likely));
            done += share * f64::from(node.done) / ways;
            share /= ways;
        }
        self.runs as f64 / (done + share)
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
            node.done += 1;
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
            self.planned -= 1;
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
                let offset = self.path.len();
                self.nodes.push(Node { sleep, tree, offset, done: 0, is_value: false });
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
        self.search.points = self.search.points.max(self.nodes.len() as u64);
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
                self.planned += 1;
            }
        }
    }

    /// Plans the reversal of every race of a run.
    fn plan_reversals(&mut self, trace: &Trace) {
        let Dpor { nodes, past, steps, planned, .. } = self;
        past.reversals(trace, |reversal| {
            steps.clear();
            steps.extend(reversal.steps().map(|(event, footprint)| {
                let event_in_trace = past.position(event).map(|position| &trace.events[position]);
                let value = event_in_trace.and_then(chosen).map(|(_, value)| value);
                Planned { event, footprint, value }
            }));
            let node = &mut nodes[reversal.at];
            if !node.sleep.iter().any(|asleep| is_weak_initial(asleep, steps)) {
                *planned += wakeup::insert(&mut node.tree, steps, past, trace, reversal.at);
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
        let threads = match at {
            Point::Thread(threads) => threads,
            Point::Value { by, bound } => {
                self.refusal = Refusal::of_choice(by, *bound);
                return if self.refusal.is_some() { Pick::Abandon } else { Pick::Take(0) };
            }
            Point::Source { .. } => return Pick::Take(0),
        };
        for event in &past[self.seen..] {
            let event = event.footprint();
            if self.sleep.iter().any(|asleep| asleep.thread == event.thread) {
                // A branch in doubt: it has turned out to be one that was run before.
                return Pick::Abandon;
            }
            self.sleep.retain(|asleep| !asleep.depends(&event));
        }
        self.seen = past.len();
        if let Some(option) = asks_for_a_number(threads) {
            return Pick::Take(option);
        }
        let sleep = &self.sleep;
        let awake = |&option: &usize| {
            let thread = threads.enabled[option];
            sleep.iter().all(|asleep| asleep.thread != thread)
        };
        let options = (0..threads.enabled.len()).filter(awake);
        let choice = match &mut self.shuffle {
            None => {
                // The running thread, then those after it; the first of them if it gives way, so
                // that what it waits for can happen.
                let first = match past.last() {
                    None => 0,
                    Some(last) => last.id.thread.0 + u32::from(last.op.gave_way(last.effect)),
                };
                options.min_by_key(|&option| threads.enabled[option].0.wrapping_sub(first))
            }
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
        if self.runs == 0 {
            plan.prefix.clear();
            plan.then.sleep.clear();
            plan.then.seen = 0;
            return true;
        }
        !self.is_cut_off && self.backtrack(plan)
    }

    fn covered(&self, is_done: bool) -> Covered {
        if is_done && !self.is_cut_off { Covered::Everything } else { Covered::Nothing }
    }

    fn learn(&mut self, _run: u64, trace: &Trace, plan: &mut Plan<DporChooser>) {
        self.runs += 1;
        self.refusal = plan.then.refusal.or_else(|| circles(trace));
        self.search.blocked += u64::from(trace.ending == Ending::Abandoned);
        if trace.ending == Ending::StepLimit {
            // Endless, as far as anybody can tell: nothing follows from where it was cut off.
            self.is_cut_off = true;
            return;
        }
        let from = self.past.len();
        self.follow(from, trace);
        self.plan_reversals(trace);
        self.search.planned = self.search.planned.max(self.planned);
        if self.runs.is_power_of_two() || self.runs % RUNS_PER_ESTIMATE == 0 {
            self.search.estimate = Some(self.estimate(trace));
        }
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    fn search(&self) -> Option<Search> {
        let is_done = self.nodes.is_empty() && self.runs > 0;
        let estimate = if is_done { Some(self.runs as f64) } else { self.search.estimate };
        Some(Search { estimate, ..self.search })
    }
}
