//! The least number of preemptions with which a graph can be run.
//!
//! A graph has no order of its own. Each linearisation is a run. A preemption is a switch from a thread that is enabled
//! and has not yielded. The states of all linearisations are searched, those with the fewest preemptions first. A state is
//! the number of performed events of each thread, and the thread that runs.

use std::collections::HashSet;

use raddle_core::{EventId, ObjectKind, Op, ThreadId, ThreadOp, Trace};

use super::clocks::contains;
use super::graph::NodeId;
use super::objects::{Objects, Run};
use super::readers::State;

/// Which events of a run are meant.
#[derive(Copy, Clone, Debug)]
pub(super) enum Part<'a> {
    /// All events.
    Whole,
    /// The events that lead to these nodes, and the nodes. Other events follow.
    Nodes(&'a [bool]),
}

/// Returns the least number of preemptions of all linearisations of a part of a run. Returns `None` if it is larger than
/// `most`.
pub(super) fn least_preemptions(
    run: Run<'_>,
    objects: &mut Objects,
    part: Part<'_>,
    most: u32,
) -> Option<u32> {
    let mut linearisations = Linearisations::new(run, objects, part);
    let mut seen = HashSet::new();
    let mut level = vec![(vec![0; linearisations.threads.len()], ThreadId::MAIN)];
    for preemptions in 0..=most {
        let mut next_level = Vec::new();
        while let Some(state) = level.pop() {
            if linearisations.is_whole(&state.0) {
                return Some(preemptions);
            }
            if seen.insert(state.clone()) {
                linearisations.add_successors(&state, &mut level, &mut next_level);
            }
        }
        level = next_level;
    }
    None
}

/// An event of a thread, or the operation with which the thread ends.
struct Step {
    op: Op,
    has_yielded: bool,
    /// By thread: the number of events that have to come before.
    needs: Vec<u32>,
}

#[derive(Default)]
struct Thread {
    /// The events in the part.
    steps: Vec<Step>,
    /// Whether there are later events.
    goes_on: bool,
    /// The operation that was announced and not performed.
    pending: Option<Op>,
    /// The spawn of the thread.
    spawn: Option<EventId>,
}

struct Linearisations<'a> {
    run: Run<'a>,
    objects: &'a mut Objects,
    threads: Vec<Thread>,
}

impl<'a> Linearisations<'a> {
    fn new(run: Run<'a>, objects: &'a mut Objects, part: Part<'_>) -> Linearisations<'a> {
        let Run { trace, graph } = run;
        let count = trace.threads.iter().map(|thread| thread.id.index() + 1).max().unwrap_or(1);
        let mut until = vec![u32::MAX; count];
        if let Part::Nodes(planned) = part {
            until.fill(0);
            let planned = planned.iter().enumerate().filter(|(_, is_planned)| **is_planned);
            for (node, _) in planned {
                let mut clock = vec![0; count];
                graph.add_order(node, &mut clock);
                for (until, known) in until.iter_mut().zip(clock) {
                    *until = known.max(*until);
                }
            }
        }
        let mut threads: Vec<Thread> = Vec::new();
        threads.resize_with(count, Thread::default);
        for event in &trace.events {
            if event.op.is_thread() && event.op.thread() == ThreadOp::Spawn {
                let child = thread_of(trace, &event.op);
                threads[child.index()].spawn = Some(event.id);
            }
            let thread = &mut threads[event.id.thread.index()];
            if event.id.index >= until[event.id.thread.index()] {
                thread.goes_on = true;
                continue;
            }
            let mut needs = vec![0; count];
            if let Some(node) = graph.find(event.id) {
                graph.add_order(node, &mut needs);
                needs[event.id.thread.index()] = event.id.index;
            }
            let has_yielded = event.op.has_yielded(event.effect);
            thread.steps.push(Step { op: event.op, has_yielded, needs });
        }
        for pending in &trace.pending {
            threads[pending.thread.index()].pending = Some(pending.op);
        }
        Linearisations { run, objects, threads }
    }

    fn is_whole(&self, counts: &[u32]) -> bool {
        self.threads.iter().zip(counts).all(|(thread, &count)| thread.steps.len() == count as usize)
    }

    /// Adds the states that follow a state: to `level` those without a preemption.
    fn add_successors(
        &mut self,
        (counts, last): &(Vec<u32>, ThreadId),
        level: &mut Vec<(Vec<u32>, ThreadId)>,
        next_level: &mut Vec<(Vec<u32>, ThreadId)>,
    ) {
        let able: Vec<usize> =
            (0..self.threads.len()).filter(|&thread| self.can_step(counts, thread)).collect();
        let is_in_force = self.is_in_force(counts, *last);
        for thread in able {
            let mut counts = counts.clone();
            counts[thread] += 1;
            let is_preemption = is_in_force && thread != last.index();
            let states = if is_preemption { &mut *next_level } else { &mut *level };
            states.push((counts, ThreadId(thread as u32)));
        }
    }

    /// Returns whether the next event of a thread can be performed in the graph.
    fn can_step(&mut self, counts: &[u32], thread: usize) -> bool {
        let Some(step) = self.threads[thread].steps.get(counts[thread] as usize) else {
            return false;
        };
        if !self.has_started(counts, thread)
            || step.needs.iter().zip(counts).any(|(need, count)| need > count)
        {
            return false;
        }
        let op = step.op;
        self.is_enabled(counts, &op, ThreadId(thread as u32))
    }

    fn has_started(&self, counts: &[u32], thread: usize) -> bool {
        thread == 0 || self.threads[thread].spawn.is_some_and(|spawn| contains(counts, spawn))
    }

    /// Returns whether a switch from the thread that has run last is a preemption.
    fn is_in_force(&mut self, counts: &[u32], last: ThreadId) -> bool {
        let thread = &self.threads[last.index()];
        let done = counts[last.index()] as usize;
        let Some(before) = done.checked_sub(1) else { return false };
        if thread.steps[before].has_yielded {
            return false;
        }
        let next = match thread.steps.get(done) {
            Some(next) => Some(next.op),
            // What comes next may follow at once.
            None if thread.goes_on => None,
            None => thread.pending,
        };
        next.is_some_and(|next| self.is_enabled(counts, &next, last))
    }

    /// Returns whether an operation is enabled after the events so far.
    fn is_enabled(&mut self, counts: &[u32], op: &Op, by: ThreadId) -> bool {
        let Run { trace, graph } = self.run;
        if !op.may_block() {
            return true;
        }
        if op.is_thread() {
            let other = &self.threads[thread_of(trace, op).index()];
            let has_ended = other
                .steps
                .last()
                .is_some_and(|step| step.op.is_thread() && step.op.thread() == ThreadOp::Exit);
            return has_ended && counts[thread_of(trace, op).index()] as usize == other.steps.len();
        }
        let object = op.object().index();
        let is_done = |&node: &NodeId| contains(counts, graph.nodes[node].id);
        let updates = graph.order(object).iter().filter(|node| is_done(node)).count();
        let source = graph.update(object, updates);
        let is_of_state =
            |node: &NodeId| is_done(node) && graph.nodes[*node].source == Some(source);
        let shares: Vec<NodeId> =
            graph.shares(object).iter().copied().filter(is_of_state).collect();
        let state = State { updates, shares: &shares };
        self.objects.access(self.run, object, state, (*op, by)).is_some()
    }
}

/// Returns the thread that an operation starts or waits for.
fn thread_of(trace: &Trace, op: &Op) -> ThreadId {
    match trace.objects[op.object().index()].kind {
        ObjectKind::Thread(thread) => thread,
        ObjectKind::Atomic(_)
        | ObjectKind::Cell
        | ObjectKind::Mutex
        | ObjectKind::RwLock
        | ObjectKind::Condvar
        | ObjectKind::Barrier
        | ObjectKind::Once
        | ObjectKind::Parker(_)
        | ObjectKind::Notify
        | ObjectKind::Channel
        | ObjectKind::Semaphore => {
            unreachable!("raddle invariant broken: a thread operation on no thread")
        }
    }
}
