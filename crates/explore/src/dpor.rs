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
    Action, Choice, Chooser, Ending, Event, Footprint, ObjectId, Op, Pick, Plan, Point, Search,
    ThreadId, Threads, Trace,
};
use raddle_strategy::Rng;

use crate::past::{Past, Planned, chosen};
use crate::refusal::circles;
use crate::wakeup::{Forest, Tree};
use crate::{Explorer, Refusal};

mod part;

pub(crate) use part::{Above, Given, Sleeper};

/// The search.
#[derive(Clone, Debug, Default)]
pub struct Dpor {
    /// One for each event of the run: the point before it.
    nodes: Vec<Node>,
    /// What sleeps at the nodes, one after the other.
    sleep: Vec<Footprint>,
    forest: Forest,
    past: Past,
    /// The choices of the beginning of the run.
    path: Vec<Choice>,
    /// How many events they lead to.
    led: usize,
    /// How many runs were made.
    runs: u64,
    search: Search,
    refusal: Option<Refusal>,
    /// Whether a run reached the step limit.
    is_cut_off: bool,
    shuffle: Option<Rng>,
    /// What is left of the tree along the branch being run, by position from its first step on.
    beside: Vec<Tree>,
    above: Above,
}

/// A point with what is known of the ways to go on from it.
#[derive(Clone, Debug)]
struct Node {
    /// Where in `sleep` there is what was run from here, or from an earlier point, and would only
    /// repeat it.
    sleep: usize,
    /// What is still to be run from here.
    tree: Tree,
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
    /// Who fell asleep on the way to the first point of a part, if nobody has looked yet.
    sleepers: Vec<Sleeper>,
    shuffle: Option<Rng>,
    refusal: Option<Refusal>,
}

impl Dpor {
    /// A search that lets chance decide who goes on where it does not matter. The same classes, in
    /// another order.
    pub fn shuffled(seed: u64) -> Dpor {
        Dpor { shuffle: Some(Rng::new(seed)), ..Dpor::default() }
    }

    /// About how many runs there are in all, from how much of what is known has been done.
    fn estimate(&self) -> f64 {
        self.runs as f64 / self.share_done()
    }

    /// Goes back to the last point with something left to run; false if there is none.
    pub(crate) fn backtrack(&mut self, plan: &mut Plan<DporChooser>) -> bool {
        while let Some(node) = self.nodes.iter_mut().skip(self.above.root).next_back() {
            if node.tree.is_empty() {
                self.sleep.truncate(node.sleep);
                self.nodes.pop();
                continue;
            }
            node.done += 1;
            let (is_value, sleep) = (node.is_value, node.sleep);
            let depth = self.nodes.len() - 1;
            self.lead(depth);
            let done = *self.past.footprint(depth);
            self.past.truncate(depth);
            if !is_value {
                self.sleep.push(done);
            }
            plan.then.sleep.clear();
            plan.then.sleep.extend_from_slice(&self.sleep[sleep..]);
            plan.then.seen = depth;
            plan.then.sleepers.clear();
            plan.prefix.clear();
            plan.prefix.extend_from_slice(&self.path);
            return true;
        }
        false
    }

    /// Takes the first branch at a point out of its tree and leads the path to the point and along
    /// the branch, always by the first child.
    fn lead(&mut self, depth: usize) {
        let kept = self.led.min(depth);
        self.path.truncate(self.nodes[kept].offset);
        for position in kept..depth {
            let Planned { event, value, .. } = *self.past.planned(position);
            self.path.push(Choice::Thread(event.thread));
            self.path.extend(value.map(Choice::Value));
        }
        self.led = depth;
        self.beside.clear();
        let mut left = &mut self.nodes[depth].tree;
        while let Some(branch) = self.forest.take_first(left) {
            self.path.push(Choice::Thread(branch.thread()));
            self.path.extend(branch.value.map(Choice::Value));
            self.beside.push(branch.children);
            let last = self.beside.len() - 1;
            left = &mut self.beside[last];
        }
        // Behind the last step there is nothing.
        self.beside.pop();
    }

    /// Makes a point for every event from `from` on.
    fn follow(&mut self, from: usize, trace: &Trace) {
        let mut offset = self.nodes.get(from).map_or(self.above.offset, |node| node.offset);
        for (position, event) in trace.events.iter().enumerate().skip(from) {
            let is_new = self.nodes.len() == position;
            if is_new {
                let sleep = self.sleep.len();
                if let Some(before) = position.checked_sub(1) {
                    let event = *self.past.footprint(before);
                    for asleep in self.nodes[before].sleep..sleep {
                        if !self.sleep[asleep].depends(&event) {
                            self.sleep.push(self.sleep[asleep]);
                        }
                    }
                }
                if position < self.above.root {
                    self.put_to_sleep(position, trace);
                }
                // The first event, too, is new if nothing was run before.
                let beside = (position - from).checked_sub(1).and_then(|led| self.beside.get(led));
                let tree = *beside.unwrap_or(&Tree::EMPTY);
                self.nodes.push(Node { sleep, tree, offset, done: 0, is_value: false });
            }
            self.past.push(event, trace);
            offset += 1;
            if self.past.planned(position).value.is_some() {
                offset += 1;
                if is_new && position >= self.above.root {
                    let is_led = position <= from + self.beside.len();
                    self.plan_values(position, event, is_led);
                }
            }
        }
        self.search.points = self.search.points.max(self.nodes.len() as u64);
    }

    /// The event after a new point chose a number: plans the others. Not where the point was led to
    /// while something slept: what differs then is planned by those that sleep.
    fn plan_values(&mut self, at: usize, event: &Event, is_led: bool) {
        let node = &mut self.nodes[at];
        node.is_value = true;
        if is_led && node.sleep < self.sleep.len() {
            return;
        }
        let Some((bound, taken)) = chosen(event) else { return };
        for value in 0..bound {
            if value != taken {
                self.forest.choose(&mut node.tree, event.id, value);
            }
        }
    }

    /// Plans the reversal of every race of a run that shares its first `shared` events with the one
    /// before.
    fn plan_reversals(&mut self, trace: &Trace, shared: usize) {
        let Dpor { nodes, sleep, forest, past, above, .. } = self;
        past.reversals(trace, shared, |past, at, steps| {
            let end = nodes.get(at + 1).map_or(sleep.len(), |next| next.sleep);
            let mut asleep = sleep[nodes[at].sleep..end].iter();
            if asleep.any(|asleep| is_weak_initial(asleep, steps)) {
                return;
            }
            if at < above.root {
                above.found.push((at, steps.clone()));
            } else {
                forest.insert(&mut nodes[at].tree, steps, past, trace, at);
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

/// Whether this is the choice of a number.
fn asks_for_a_number(op: &Op) -> bool {
    op.object() == ObjectId::NONE && matches!(op.action(), Action::Choose { .. })
}

impl DporChooser {
    /// Lets those go on that are not asleep after all that has happened.
    fn wake(&mut self, past: &[Event]) {
        if !self.sleep.is_empty() {
            for event in &past[self.seen..] {
                let event = event.footprint();
                self.sleep.retain(|asleep| !asleep.depends(&event));
            }
        }
        self.seen = past.len();
    }

    fn is_awake(&self, thread: ThreadId) -> bool {
        self.sleep.iter().all(|asleep| asleep.thread != thread)
    }

    /// Draws one of the threads that are awake.
    fn draw(&mut self, threads: &Threads<'_>) -> Option<usize> {
        let options = 0..threads.enabled.len();
        let options: Vec<usize> =
            options.filter(|&option| self.is_awake(threads.enabled[option])).collect();
        let rng = self.shuffle.as_mut()?;
        (!options.is_empty()).then(|| options[rng.below(options.len())])
    }
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
        if !self.sleepers.is_empty() {
            self.settle_sleepers(threads, past);
        }
        self.wake(past);
        // Whoever asks for a number. Then the running thread, then those after it; the first of them
        // if it gives way, so that what it waits for can happen.
        let first = match past.last() {
            None => 0,
            Some(last) => last.id.thread.0 + u32::from(last.op.gave_way(last.effect)),
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

    fn is_complete(&self) -> bool {
        !self.is_cut_off
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
        self.plan_reversals(trace, from);
        self.search.planned = self.search.planned.max(self.forest.planned());
    }

    fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    fn search(&self) -> Option<Search> {
        let estimate = (self.runs > 0).then(|| self.estimate());
        Some(Search { estimate, ..self.search })
    }
}
