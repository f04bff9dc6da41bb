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
    /// By step: the steps that come right after it.
    after: Vec<Vec<usize>>,
    /// By step: the index of its thread.
    thread: Vec<usize>,
}

impl Equivalents {
    /// Finds what orders the steps of `trace`.
    pub fn of(trace: &Trace) -> Equivalents {
        let steps = trace.events.len();
        let thread = trace.events.iter().map(|event| event.id.thread.index()).collect();
        let mut order =
            Equivalents { before: vec![0; steps], after: vec![Vec::new(); steps], thread };
        let threads = trace.threads.iter().map(|thread| thread.id.index() + 1).max().unwrap_or(0);
        // By thread: its last step, or the step that spawned it.
        let mut last_of_thread: Vec<Option<usize>> = vec![None; threads];
        let mut objects = vec![Uses::default(); trace.objects.len()];
        for (step, event) in trace.events.iter().enumerate() {
            let thread = event.id.thread.index();
            if let Some(earlier) = last_of_thread[thread].replace(step) {
                order.add(earlier, step);
            }
            let object = event.op.object();
            if object == ObjectId::NONE {
                continue;
            }
            let uses = &mut objects[object.index()];
            let access = event.access();
            for &(other, earlier) in &uses.since_update {
                if access.conflicts(other) {
                    order.add(earlier, step);
                }
            }
            if access == Access::Update {
                uses.since_update.clear();
            }
            uses.since_update.push((access, step));
            if let (Action::Thread(ThreadOp::Spawn), ObjectKind::Thread(child)) =
                (event.op.action(), trace.objects[object.index()].kind)
            {
                last_of_thread[child.index()] = Some(step);
            }
        }
        order
    }

    /// Draws one of the orders: positions in the events of the run. Each time, every thread that may have the
    /// next step has it with the same probability.
    pub fn draw(&self, rng: &mut Rng) -> Vec<usize> {
        self.arrange(|ready| rng.below(ready.len()))
    }

    /// Draws one of the orders in which threads run for as long as they can: the threads have random priorities.
    pub fn draw_in_blocks(&self, rng: &mut Rng) -> Vec<usize> {
        let threads = self.thread.iter().max().map_or(0, |last| last + 1);
        let priorities: Vec<u64> = (0..threads).map(|_| rng.bits()).collect();
        self.arrange(|ready| {
            let steps = 0..ready.len();
            steps.max_by_key(|&index| priorities[self.thread[ready[index]]]).unwrap_or(0)
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
            for &next in &self.after[step] {
                before[next] -= 1;
                if before[next] == 0 {
                    ready.push(next);
                }
            }
        }
        order
    }

    fn add(&mut self, earlier: usize, later: usize) {
        self.after[earlier].push(later);
        self.before[later] += 1;
    }
}

/// The steps that used an object.
#[derive(Clone, Debug, Default)]
struct Uses {
    /// The last update, and the accesses since.
    since_update: Vec<(Access, usize)>,
}
