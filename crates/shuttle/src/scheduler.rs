//! Schedulers: what chooses the next thread.
//!
//! The schedulers of this module run as raddle's own strategies. A [`Scheduler`] of your own is asked at every step.

pub(crate) mod bridge;
mod built_in;

pub use crate::current::TaskId;
pub use built_in::{
    AnnotationScheduler, DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler,
    RoundRobinScheduler, UncontrolledNondeterminismCheckScheduler, UrwRandomScheduler,
};

/// Chooses the next thread at each step of each execution, and the random numbers that the program asks for.
pub trait Scheduler {
    /// Begins an execution. Returns `None` if the test ends.
    fn new_execution(&mut self) -> Option<Schedule>;

    /// Returns the next thread, or `None` if the execution is to be given up.
    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId>;

    /// Returns the next random number.
    fn next_u64(&mut self) -> u64;

    /// Returns the strategy of raddle that does the same.
    #[doc(hidden)]
    fn __plan(&self) -> Option<Plan> {
        None
    }
}

impl<S: Scheduler + ?Sized> Scheduler for Box<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        (**self).new_execution()
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        (**self).next_task(runnable_tasks, current_task, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }

    fn __plan(&self) -> Option<Plan> {
        (**self).__plan()
    }
}

/// What raddle runs in place of a scheduler.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub(crate) strategy: String,
    pub(crate) runs: Option<u64>,
    pub(crate) seed: Option<u64>,
    pub(crate) replay: Option<String>,
}

/// A thread or task that can run.
#[derive(Debug)]
pub struct Task {
    id: TaskId,
}

impl Task {
    /// Returns the id of the thread.
    pub fn id(&self) -> TaskId {
        self.id
    }
}

/// The choices of an execution, as a scheduler of your own may return them at its begin. raddle records the choices
/// itself, so this has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    seed: u64,
    steps: Vec<Option<TaskId>>,
}

impl Schedule {
    /// Returns a schedule without steps.
    pub fn new(seed: u64) -> Schedule {
        Schedule { seed, steps: Vec::new() }
    }

    /// Returns a schedule of these threads.
    pub fn new_from_task_ids<T: Into<TaskId>>(
        seed: u64,
        task_ids: impl IntoIterator<Item = T>,
    ) -> Schedule {
        Schedule { seed, steps: task_ids.into_iter().map(|task| Some(task.into())).collect() }
    }

    /// Adds a step of a thread.
    pub fn push_task(&mut self, task: TaskId) {
        self.steps.push(Some(task));
    }

    /// Adds a random number.
    pub fn push_random(&mut self) {
        self.steps.push(None);
    }

    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }
}

/// A source of numbers for schedulers of your own.
pub trait DataSource: std::fmt::Debug {
    /// What the numbers depend on.
    type Seed: Clone;

    /// Returns a source with this seed.
    fn initialize(seed: Self::Seed) -> Self;

    /// Begins anew, and returns the seed.
    fn reinitialize(&mut self) -> Self::Seed;

    /// Returns the next number.
    fn next_u64(&mut self) -> u64;
}

/// Random numbers.
#[derive(Debug)]
pub struct RandomDataSource {
    rng: raddle::strategy::Rng,
}

impl DataSource for RandomDataSource {
    type Seed = u64;

    fn initialize(seed: u64) -> RandomDataSource {
        RandomDataSource { rng: raddle::strategy::Rng::new(seed) }
    }

    fn reinitialize(&mut self) -> u64 {
        let seed = self.rng.bits();
        self.rng = raddle::strategy::Rng::new(seed);
        seed
    }

    fn next_u64(&mut self) -> u64 {
        self.rng.bits()
    }
}
