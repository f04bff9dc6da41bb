//! Executions equivalent to one that was made: the same steps in another order that dependence allows.
//!
//! Steps of one thread keep their order, so do conflicting steps, and a thread has no step before the one that
//! spawned it. Every such order of a run that finished is a run of the same class, unless threads share state
//! that raddle does not see.

use raddle_core::{Access, Action, ObjectId, ObjectKind, Rng, ThreadOp, Trace};

/// The orders of the steps of one run that are equivalent to the run.
#[derive(Clone, Debug)]
pub struct Equivalents {
    /// By step: the number of steps that come right before it.
    before: Vec<u32>,
    /// The steps that come right after each step, those of the first step first.
    after: Vec<usize>,
    /// By step: where its part of `after` begins. The last entry is the end.
    begin: Vec<usize>,
    /// By step: the index of its thread.
    thread: Vec<usize>,
}

impl Equivalents {
    /// Finds what orders the steps of `trace`.
    pub fn of(trace: &Trace) -> Equivalents {
        let thread: Vec<usize> = trace.events.iter().map(|event| event.id.thread.index()).collect();
        let threads = trace.threads.iter().map(|thread| thread.id.index() + 1).max().unwrap_or(0);
        // By thread: its last step, or the step that spawned it.
        let mut last_of_thread: Vec<Option<usize>> = vec![None; threads];
        // By object: its last use. By step: the use before, unless the step is an update.
        let mut last_use: Vec<Option<usize>> = vec![None; trace.objects.len()];
        let mut use_before: Vec<Option<usize>> = vec![None; thread.len()];
        // A step, and one that comes right before it.
        let mut edges = Vec::with_capacity(2 * thread.len());
        for (step, event) in trace.events.iter().enumerate() {
            edges.extend(last_of_thread[thread[step]].replace(step).map(|earlier| (step, earlier)));
            let object = event.op.object();
            if object == ObjectId::NONE {
                continue;
            }
            let access = event.access();
            let last = last_use[object.index()].replace(step);
            let uses = std::iter::successors(last, |&earlier| use_before[earlier]);
            let conflicting = |&earlier: &usize| access.conflicts(trace.events[earlier].access());
            edges.extend(uses.filter(conflicting).map(|earlier| (step, earlier)));
            if access != Access::Update {
                use_before[step] = last;
            }
            if let (Action::Thread(ThreadOp::Spawn), ObjectKind::Thread(child)) =
                (event.op.action(), trace.objects[object.index()].kind)
            {
                last_of_thread[child.index()] = Some(step);
            }
        }
        Equivalents::from_edges(&edges, thread)
    }

    /// Sorts `edges` by the earlier step.
    fn from_edges(edges: &[(usize, usize)], thread: Vec<usize>) -> Equivalents {
        let mut before = vec![0; thread.len()];
        let mut begin = vec![0; thread.len() + 1];
        for &(step, earlier) in edges {
            before[step] += 1;
            begin[earlier + 1] += 1;
        }
        for step in 0..thread.len() {
            begin[step + 1] += begin[step];
        }
        let (mut after, mut next) = (vec![0; edges.len()], begin.clone());
        for &(step, earlier) in edges {
            after[next[earlier]] = step;
            next[earlier] += 1;
        }
        Equivalents { before, after, begin, thread }
    }

    /// Draws one of the orders: positions in the events of the run. Each time, every thread that may have the
    /// next step has it with the same probability.
    pub fn draw(&self, rng: &mut Rng) -> Vec<usize> {
        self.arrange(|ready| rng.below(ready.len()))
    }

    /// Draws one of the orders in which threads run for as long as they can: the threads have random priorities, and at
    /// one step, drawn too, the thread that would have it gets the lowest one.
    pub fn draw_in_blocks(&self, rng: &mut Rng) -> Vec<usize> {
        let threads = self.thread.iter().max().map_or(0, |last| last + 1);
        let mut priorities: Vec<u64> = (0..threads).map(|_| rng.bits() | 1).collect();
        let mut steps_to_change = rng.below(self.before.len().max(1));
        self.arrange(|ready| {
            let first = |priorities: &[u64]| {
                let steps = 0..ready.len();
                steps.max_by_key(|&index| priorities[self.thread[ready[index]]]).unwrap_or(0)
            };
            let chosen = first(&priorities);
            let Some(left) = steps_to_change.checked_sub(1) else {
                steps_to_change = usize::MAX;
                priorities[self.thread[ready[chosen]]] = 0;
                return first(&priorities);
            };
            steps_to_change = left;
            chosen
        })
    }

    /// Returns the order in which `choose` selects among the steps that may come next, by their index.
    fn arrange(&self, mut choose: impl FnMut(&[usize]) -> usize) -> Vec<usize> {
        let mut before = self.before.clone();
        let mut ready: Vec<usize> = (0..before.len()).filter(|&step| before[step] == 0).collect();
        let mut order = Vec::with_capacity(before.len());
        while !ready.is_empty() {
            let step = ready.swap_remove(choose(&ready));
            order.push(step);
            for &next in &self.after[self.begin[step]..self.begin[step + 1]] {
                before[next] -= 1;
                if before[next] == 0 {
                    ready.push(next);
                }
            }
        }
        order
    }
}
