//! Optimal dynamic partial-order reduction: every equivalence class of executions once.
//!
//! Promise: when it ends, exactly one execution of every class has been run, and no run was abandoned;
//! each class fails in all its executions or in none. This holds if no run panicked (a check ends there)
//! or reached the step limit.
//!
//! After Abdulla, Aronis, Jonsson and Sagonas (POPL 2014), in a form that is right for operations
//! that block ([`Past::reversals`]).
//!
//! A number is chosen as soon as a thread asks for one. No other thread observes the choice, so that no
//! class is lost, and threads that ask never sleep.

use raddle_core::{
    Action, Choice, Choices, Chooser, Ending, Event, Footprint, IdleRounds, Needs, ObjectId, Op,
    Pick, Point, Rng, Schedule, ThreadId, Threads, Trace,
};
use raddle_results::Search;

use crate::past::{Past, Planned, chosen};
use crate::refusal::loops;
use crate::wakeup::{Forest, Tree};
use crate::{Covered, Explorer, Refusal, WIDEST_CHOICE};

mod part;

use part::Above;
pub(crate) use part::{Given, Sleeper};

/// The runs between two estimates of the number of all runs.
const RUNS_PER_ESTIMATE: u64 = 256;

/// The search.
#[derive(Clone, Debug, Default)]
pub struct Dpor {
    nodes: Nodes,
    forest: Forest,
    past: Past,
    /// The prefix of the run.
    path: Vec<Choice>,
    /// The number of events that the first `led_choices` choices of `path` lead to.
    led: usize,
    led_choices: usize,
    /// The number of runs made.
    runs: u64,
    search: Search,
    /// Whether a run reached the step limit.
    is_cut_off: bool,
    refusal: Option<Refusal>,
    chooser: DporChooser,
    /// By position from the first step of the branch being run: the rest of the tree beside it.
    beside: Vec<Tree>,
    above: Above,
}

/// The points of a run from which other runs were made or are planned.
#[derive(Clone, Debug, Default)]
struct Nodes {
    /// Invariant: in the order of their positions.
    nodes: Vec<Node>,
    /// Scratch: the sleep set of a point.
    asleep: Vec<Footprint>,
}

/// A point of a run, with its other continuations.
#[derive(Clone, Debug)]
struct Node {
    /// The number of events before it.
    at: usize,
    /// The sleep set: operations that were run from here, or from an earlier point, and would repeat a class.
    sleep: Vec<Footprint>,
    /// The continuations that are planned.
    tree: Tree,
    /// The number of continuations that were run completely.
    done: u32,
}

impl Nodes {
    /// Returns the sleep set of the point after `at` events.
    fn asleep(&mut self, at: usize, past: &Past) -> &[Footprint] {
        match self.nodes.iter().rposition(|node| node.at <= at) {
            Some(index) if self.nodes[index].at == at => &self.nodes[index].sleep,
            Some(_) => self.still_asleep(at, past),
            None => &[],
        }
    }

    /// Returns the part of the sleep set of the last node before the point after `at` events that is
    /// independent of all events since then.
    fn still_asleep(&mut self, at: usize, past: &Past) -> &[Footprint] {
        self.asleep.clear();
        let Some(node) = self.nodes.iter().rev().find(|node| node.at < at) else { return &[] };
        self.asleep.extend_from_slice(&node.sleep);
        for position in node.at..at {
            if self.asleep.is_empty() {
                break;
            }
            let event = past.footprint(position);
            self.asleep.retain(|asleep| !asleep.depends(event));
        }
        &self.asleep
    }

    /// Returns the tree of the point after `at` events.
    fn tree(&mut self, at: usize, past: &Past) -> &mut Tree {
        &mut self.node(at, past).tree
    }

    /// Returns the node of the point after `at` events, which is made if there is none.
    fn node(&mut self, at: usize, past: &Past) -> &mut Node {
        let index = self.nodes.iter().rposition(|node| node.at <= at).map_or(0, |index| index + 1);
        let is_there = index > 0 && self.nodes[index - 1].at == at;
        if !is_there {
            let sleep = self.asleep(at, past).to_vec();
            self.nodes.insert(index, Node { at, sleep, tree: Tree::EMPTY, done: 0 });
        }
        &mut self.nodes[if is_there { index - 1 } else { index }]
    }
}

/// Continues the running thread until it blocks or yields, and never runs a thread that sleeps.
#[derive(Clone, Debug, Default)]
struct DporChooser {
    sleep: Vec<Footprint>,
    /// The number of events after which `sleep` was computed.
    seen: usize,
    /// The sleepers on the way to the first point of a part, until they are settled.
    sleepers: Vec<Sleeper>,
    shuffle: Option<Rng>,
    refusal: Option<Refusal>,
}

impl Dpor {
    /// Makes a search that draws the thread where the choice does not matter. It runs the same classes in
    /// another order.
    pub fn shuffled(seed: u64) -> Dpor {
        let chooser = DporChooser { shuffle: Some(Rng::new(seed)), ..DporChooser::default() };
        Dpor { chooser, ..Dpor::default() }
    }

    /// Returns the estimated share of all runs that is done, including the last one. Every continuation of a
    /// point counts the same (weighted backtracking).
    fn share_done(&self, trace: &Trace) -> f64 {
        let (mut done, mut share) = (0.0, 1.0);
        let mut nodes = self.nodes.nodes.iter().peekable();
        while nodes.next_if(|node| node.at < self.above.root).is_some() {}
        let likely = self.past.likely_ways(trace).into_iter().enumerate().skip(self.above.root);
        for (position, likely) in likely {
            let (mut finished, mut known) = (0, 1);
            if let Some(node) = nodes.next_if(|node| node.at == position) {
                finished = node.done;
                known = finished + 1 + self.forest.ways(node.tree) as u32;
            }
            let ways = f64::from(known.max(likely));
            done += share * f64::from(finished) / ways;
            share /= ways;
        }
        done + share
    }

    /// Goes back to the last point with a planned continuation. Returns `false` if there is none.
    pub(crate) fn backtrack(&mut self, prefix: &mut Schedule) -> bool {
        let (nodes, root) = (&mut self.nodes.nodes, self.above.root);
        while nodes.last().is_some_and(|node| node.at >= root && node.tree.is_empty()) {
            nodes.pop();
        }
        let Some(node) = nodes.last_mut().filter(|node| node.at >= root) else { return false };
        let Planned { footprint: done, value, .. } = *self.past.planned(node.at);
        if value.is_none() {
            node.sleep.push(done);
        }
        node.done += 1;
        self.chooser.sleep.clear();
        self.chooser.sleep.extend_from_slice(&node.sleep);
        self.chooser.seen = node.at;
        self.chooser.sleepers.clear();
        let depth = node.at;
        self.lead(depth);
        self.past.truncate(depth);
        prefix.clear();
        prefix.extend_from_slice(&self.path);
        true
    }

    /// Makes the path lead to the last node and along the first branch of its tree, always by the first
    /// child. Removes that branch from the tree.
    fn lead(&mut self, depth: usize) {
        self.path.truncate(self.led_choices);
        while self.led > depth {
            self.led -= 1;
            self.path.pop();
            if self.past.planned(self.led).value.is_some() {
                self.path.pop();
            }
        }
        while self.led < depth {
            let Planned { event, value, .. } = *self.past.planned(self.led);
            self.path.push(Choice::Thread(event.thread));
            self.path.extend(value.map(Choice::Value));
            self.led += 1;
        }
        self.led_choices = self.path.len();
        self.beside.clear();
        let Some(node) = self.nodes.nodes.last_mut() else { return };
        let mut left = &mut node.tree;
        while let Some(branch) = self.forest.take_first(left) {
            self.path.push(Choice::Thread(branch.thread()));
            self.path.extend(branch.value.map(Choice::Value));
            self.beside.push(branch.children);
            let last = self.beside.len() - 1;
            left = &mut self.beside[last];
        }
        // The last step has no siblings.
        self.beside.pop();
    }

    /// Adds the new events of a run, from the event at `from` on, and plans the other values of numbers that
    /// it chose.
    fn follow(&mut self, from: usize, trace: &Trace) {
        let Dpor { nodes, forest, past, beside, above, .. } = self;
        past.extend(trace);
        above.put_to_sleep(nodes, past, trace);
        for (led, &tree) in (1..).zip(&*beside) {
            if !tree.is_empty() && from + led < past.len() {
                *nodes.tree(from + led, past) = tree;
            }
        }
        // Other values at the point that the prefix leads to were planned when it was new.
        let first_new = if above.is_begun { from + 1 } else { above.root };
        for (position, event) in trace.events.iter().enumerate().skip(first_new) {
            if past.planned(position).value.is_none() {
                continue;
            }
            // If the sleep set of a point on the prefix is not empty, its sleepers plan other values.
            let is_led = position <= from + beside.len();
            if is_led && !nodes.asleep(position, past).is_empty() {
                continue;
            }
            let (bound, taken) = chosen(event).unwrap_or((0, 0));
            for value in 0..bound {
                if value != taken {
                    forest.choose(nodes.tree(position, past), event.id, value);
                }
            }
        }
        self.search.points = self.search.points.max(self.past.len() as u64);
    }

    /// Plans the reversal of every race of a run that shares its first `shared` events with the run before.
    fn plan_reversals(&mut self, trace: &Trace, shared: usize) {
        let Dpor { nodes, forest, past, above, .. } = self;
        past.reversals(trace, shared, |past, at, steps| {
            let mut asleep = nodes.asleep(at, past).iter();
            if asleep.any(|asleep| is_weak_initial(asleep, steps)) {
                return;
            }
            if at < above.root {
                above.found.push((at, steps.clone()));
            } else {
                forest.insert(nodes.tree(at, past), steps, past, trace, at);
            }
        });
    }
}

/// Returns whether some execution that begins with `first` is equivalent to one that begins with `steps`.
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

/// Returns whether this is the choice of a number.
fn asks_for_a_number(op: &Op) -> bool {
    op.object() == ObjectId::NONE && matches!(op.action(), Action::Choose { .. })
}

impl DporChooser {
    /// Removes the sleepers that depend on an event since the last call. Returns `false` if the prefix was a
    /// doubtful sequence that turns out to repeat a class.
    fn wake(&mut self, past: &[Event]) -> bool {
        for event in &past[self.seen..] {
            if self.sleep.is_empty() {
                break;
            }
            let event = event.footprint();
            if !self.is_awake(event.thread) {
                return false;
            }
            self.sleep.retain(|asleep| !asleep.depends(&event));
        }
        self.seen = past.len();
        true
    }

    fn is_awake(&self, thread: ThreadId) -> bool {
        self.sleep.iter().all(|asleep| asleep.thread != thread)
    }

    #[inline(never)]
    fn choose_thread(&mut self, threads: &Threads<'_>, past: &[Event]) -> Pick {
        if !self.sleepers.is_empty() && !self.settle_sleepers(threads, past) {
            return Pick::Abandon;
        }
        if !self.wake(past) {
            return Pick::Abandon;
        }
        // First threads that ask for a number, then the running thread, then those with larger ids. If the
        // running thread yields, the next one, so that what it waits for can happen.
        let first = match past.last() {
            None => 0,
            Some(last) => last.id.thread.0 + u32::from(last.op.has_yielded(last.effect)),
        };
        const DOES_NOT_ASK: u64 = 1 << 32;
        let mut best = (u64::MAX, None);
        for (option, &thread) in threads.enabled.iter().enumerate() {
            let rank = if asks_for_a_number(&threads.pending[thread.index()].op) {
                u64::from(thread.0)
            } else if self.is_awake(thread) {
                DOES_NOT_ASK + u64::from(thread.0.wrapping_sub(first))
            } else {
                continue;
            };
            if rank < best.0 {
                best = (rank, Some(option));
            }
        }
        if self.shuffle.is_some() && best.0 >= DOES_NOT_ASK {
            best.1 = self.draw(threads);
        }
        best.1.map_or(Pick::Abandon, Pick::Take)
    }

    /// Draws a thread that does not sleep.
    fn draw(&mut self, threads: &Threads<'_>) -> Option<usize> {
        let options = 0..threads.enabled.len();
        let options: Vec<usize> =
            options.filter(|&option| self.is_awake(threads.enabled[option])).collect();
        let rng = self.shuffle.as_mut()?;
        (!options.is_empty()).then(|| options[rng.below(options.len())])
    }
}

impl Chooser for DporChooser {
    fn needs(&self) -> Needs {
        Needs { idle_rounds: IdleRounds::Cut, ..Needs::default() }
    }

    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        match at {
            Point::Thread(threads) => {
                // The fast path: one enabled thread, and no sleepers.
                let is_only =
                    threads.enabled.len() == 1 && self.sleep.is_empty() && self.sleepers.is_empty();
                if is_only { Pick::Take(0) } else { self.choose_thread(threads, past) }
            }
            Point::Value { by, bound } if *bound > WIDEST_CHOICE => {
                self.refusal = Refusal::of_choice(by, *bound);
                Pick::Abandon
            }
            Point::Source { .. } | Point::Place { .. } | Point::Value { .. } => Pick::Take(0),
        }
    }
}

impl Explorer for Dpor {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        if self.runs == 0 {
            prefix.clear();
            return true;
        }
        !self.is_cut_off && self.backtrack(prefix)
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(&mut self.chooser)
    }

    fn covered(&self, is_done: bool) -> Covered {
        if is_done && !self.is_cut_off { Covered::Everything } else { Covered::Nothing }
    }

    fn restart(&mut self) -> bool {
        *self = Dpor::default();
        true
    }

    fn repeats_no_class(&self) -> bool {
        true
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal.clone()
    }

    fn learn(&mut self, _run: u64, trace: &Trace) {
        self.runs += 1;
        self.refusal = self.chooser.refusal.take().or_else(|| loops(trace));
        self.search.blocked += u64::from(trace.ending == Ending::Abandoned);
        if trace.ending == Ending::StepLimit {
            // The run may be endless, and races after the limit are not known.
            self.is_cut_off = true;
            return;
        }
        let from = self.past.len();
        self.follow(from, trace);
        self.above.is_begun = true;
        self.plan_reversals(trace, from);
        self.search.planned = self.search.planned.max(self.forest.planned());
        if self.runs.is_power_of_two() || self.runs % RUNS_PER_ESTIMATE == 0 {
            self.above.share_done = self.share_done(trace);
            self.search.estimate = Some(self.runs as f64 / self.above.share_done);
        }
    }

    fn search(&self) -> Option<Search> {
        let is_done = self.nodes.nodes.is_empty() && self.runs > 0;
        let estimate = if is_done { Some(self.runs as f64) } else { self.search.estimate };
        Some(Search { estimate, ..self.search })
    }
}
