//! The schedulers of Shuttle. raddle runs strategies of its own in their place; the methods of [`Scheduler`] serve
//! schedulers of users that wrap one.

use std::path::Path;
use std::{fs, io};

use raddle::strategy::Rng;

use super::{Plan, Schedule, Scheduler, Task, TaskId};

/// Draws uniformly among runnable threads, for a number of executions.
#[derive(Clone, Debug)]
struct Draws {
    rng: Rng,
    seed: Option<u64>,
    left: u64,
}

impl Draws {
    fn new(seed: Option<u64>, runs: usize) -> Draws {
        Draws { rng: Rng::new(seed.unwrap_or(0)), seed, left: runs as u64 }
    }

    fn begin(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        Some(Schedule::new(self.seed.unwrap_or(0)))
    }

    fn plan(&self, strategy: String) -> Option<Plan> {
        Some(Plan { strategy, runs: Some(self.left.max(1)), seed: self.seed, replay: None })
    }

    fn task(&mut self, runnable: &[&Task]) -> Option<TaskId> {
        Some(runnable[self.rng.below(runnable.len())].id())
    }
}

/// Implements [`Scheduler`] for a type with a field `draws`, and the word of raddle's strategy.
macro_rules! draws {
    ($name:ident, |$this:ident| $strategy:expr) => {
        impl Scheduler for $name {
            fn new_execution(&mut self) -> Option<Schedule> {
                self.draws.begin()
            }

            fn next_task(
                &mut self,
                runnable_tasks: &[&Task],
                _current_task: Option<TaskId>,
                _is_yielding: bool,
            ) -> Option<TaskId> {
                self.draws.task(runnable_tasks)
            }

            fn next_u64(&mut self) -> u64 {
                self.draws.rng.bits()
            }

            fn __plan(&self) -> Option<Plan> {
                let $this = self;
                self.draws.plan($strategy)
            }
        }
    };
}

/// A random runnable thread at each step: raddle's `random`.
#[derive(Clone, Debug)]
pub struct RandomScheduler {
    draws: Draws,
}

impl RandomScheduler {
    /// Returns a scheduler for a number of executions.
    pub fn new(max_iterations: usize) -> RandomScheduler {
        RandomScheduler { draws: Draws::new(None, max_iterations) }
    }

    /// Returns a scheduler with this seed.
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> RandomScheduler {
        RandomScheduler { draws: Draws::new(Some(seed), max_iterations) }
    }
}

draws!(RandomScheduler, |_this| "random".to_owned());

/// Random priorities that change at some steps: raddle's `pct:D`.
#[derive(Clone, Debug)]
pub struct PctScheduler {
    depth: usize,
    draws: Draws,
}

impl PctScheduler {
    /// Returns a scheduler for bugs of this depth.
    pub fn new(max_depth: usize, max_iterations: usize) -> PctScheduler {
        PctScheduler { depth: max_depth, draws: Draws::new(None, max_iterations) }
    }

    /// Returns a scheduler with this seed.
    pub fn new_from_seed(seed: u64, max_depth: usize, max_iterations: usize) -> PctScheduler {
        PctScheduler { depth: max_depth, draws: Draws::new(Some(seed), max_iterations) }
    }
}

draws!(PctScheduler, |this| format!("pct:{}", this.depth));

/// All interleavings with nearly equal probability: raddle's `urw`.
#[derive(Clone, Debug)]
pub struct UrwRandomScheduler {
    draws: Draws,
}

impl UrwRandomScheduler {
    /// Returns a scheduler for a number of executions.
    pub fn new(max_iterations: usize) -> UrwRandomScheduler {
        UrwRandomScheduler { draws: Draws::new(None, max_iterations) }
    }

    /// Returns a scheduler with this seed.
    pub fn new_from_seed(seed: u64, max_iterations: usize) -> UrwRandomScheduler {
        UrwRandomScheduler { draws: Draws::new(Some(seed), max_iterations) }
    }
}

draws!(UrwRandomScheduler, |_this| "urw".to_owned());

/// Threads take turns: raddle's `round-robin`.
#[derive(Clone, Debug)]
pub struct RoundRobinScheduler {
    left: usize,
}

impl RoundRobinScheduler {
    /// Returns a scheduler for a number of executions, which are all the same: raddle makes one.
    pub fn new(max_iterations: usize) -> RoundRobinScheduler {
        RoundRobinScheduler { left: max_iterations }
    }
}

impl Scheduler for RoundRobinScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.left = self.left.checked_sub(1)?;
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        current_task: Option<TaskId>,
        _is_yielding: bool,
    ) -> Option<TaskId> {
        let after = runnable_tasks.iter().find(|task| Some(task.id()) > current_task);
        after.or(runnable_tasks.first()).map(|task| task.id())
    }

    fn next_u64(&mut self) -> u64 {
        0
    }

    fn __plan(&self) -> Option<Plan> {
        Some(Plan { strategy: "round-robin".to_owned(), runs: Some(1), ..Plan::default() })
    }
}

/// All executions: raddle's `dpor`.
#[derive(Clone, Debug)]
pub struct DfsScheduler {
    left: Option<usize>,
    allows_random_data: bool,
    /// For each choice so far: the option, and the number of options.
    path: Vec<(usize, usize)>,
    depth: usize,
    has_begun: bool,
}

impl DfsScheduler {
    /// Returns a scheduler for a number of executions. raddle refuses random numbers in searches, unless they are small.
    pub fn new(max_iterations: Option<usize>, allow_random_data: bool) -> DfsScheduler {
        DfsScheduler {
            left: max_iterations,
            allows_random_data: allow_random_data,
            path: Vec::new(),
            depth: 0,
            has_begun: false,
        }
    }
}

impl Scheduler for DfsScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        if self.has_begun {
            // The last choice that has another option takes it.
            while self.path.last().is_some_and(|(option, options)| option + 1 == *options) {
                self.path.pop();
            }
            self.path.last_mut()?.0 += 1;
        }
        self.has_begun = true;
        self.depth = 0;
        Some(Schedule::new(0))
    }

    fn next_task(
        &mut self,
        runnable_tasks: &[&Task],
        _current_task: Option<TaskId>,
        _is_yielding: bool,
    ) -> Option<TaskId> {
        if self.depth == self.path.len() {
            self.path.push((0, runnable_tasks.len()));
        }
        let (option, _) = self.path[self.depth];
        self.depth += 1;
        runnable_tasks.get(option).map(|task| task.id())
    }

    fn next_u64(&mut self) -> u64 {
        assert!(
            self.allows_random_data,
            "requested random data from DFS scheduler with allow_random_data = false"
        );
        self.depth as u64
    }

    fn __plan(&self) -> Option<Plan> {
        let runs = self.left.map(|left| left.max(1) as u64);
        Some(Plan { strategy: "dpor".to_owned(), runs, ..Plan::default() })
    }
}

/// Repeats an execution by raddle's token. Shuttle's schedules cannot be read.
#[derive(Clone, Debug)]
pub struct ReplayScheduler {
    token: String,
}

impl ReplayScheduler {
    /// Returns a scheduler for the token of a report.
    pub fn new_from_encoded(encoded_schedule: &str) -> ReplayScheduler {
        ReplayScheduler { token: encoded_schedule.trim().to_owned() }
    }

    /// Returns a scheduler for the token in a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn new_from_file<P: AsRef<Path>>(path: P) -> io::Result<ReplayScheduler> {
        Ok(ReplayScheduler::new_from_encoded(&fs::read_to_string(path)?))
    }

    /// Allows the execution to continue after the end of the schedule. No effect.
    pub fn set_allow_incomplete(&mut self) {}
}

impl Scheduler for ReplayScheduler {
    /// Returns `None`: a token can be replayed by a [`Runner`](crate::Runner) only.
    fn new_execution(&mut self) -> Option<Schedule> {
        None
    }

    fn next_task(
        &mut self,
        _runnable_tasks: &[&Task],
        _current_task: Option<TaskId>,
        _is_yielding: bool,
    ) -> Option<TaskId> {
        None
    }

    fn next_u64(&mut self) -> u64 {
        0
    }

    fn __plan(&self) -> Option<Plan> {
        Some(Plan { replay: Some(self.token.clone()), ..Plan::default() })
    }
}

/// Implements [`Scheduler`] by the field `inner`.
macro_rules! wrapper {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<S> {
            inner: S,
        }

        impl<S: Scheduler> $name<S> {
            /// Wraps a scheduler.
            pub fn new(inner: S) -> $name<S> {
                $name { inner }
            }
        }

        impl<S: Scheduler> Scheduler for $name<S> {
            fn new_execution(&mut self) -> Option<Schedule> {
                self.inner.new_execution()
            }

            fn next_task(
                &mut self,
                runnable_tasks: &[&Task],
                current_task: Option<TaskId>,
                is_yielding: bool,
            ) -> Option<TaskId> {
                self.inner.next_task(runnable_tasks, current_task, is_yielding)
            }

            fn next_u64(&mut self) -> u64 {
                self.inner.next_u64()
            }

            fn __plan(&self) -> Option<Plan> {
                self.inner.__plan()
            }
        }
    };
}

wrapper! {
    /// Checks that executions can be repeated. raddle does so with every scheduler.
    UncontrolledNondeterminismCheckScheduler
}

wrapper! {
    /// Writes annotations in Shuttle. raddle's reports contain the failing execution.
    AnnotationScheduler
}
