//! One check: makes runs until something fails or there is no reason to continue.
//!
//! [`Session`] is generic over the substrate; everything behind it is compiled once. [`plans`] turns a
//! strategy into explorers, [`run_loop`] makes the runs of one explorer, [`verdicts`] decides what a run
//! means, and [`report`] writes the result down.

use std::borrow::Cow;
use std::rc::Rc;
use std::time::Duration;

use raddle_core::MemoryModel;
use raddle_engine::{KnownLoop, Substrate};
use raddle_results::{Accesses, Progress, Report};
use raddle_strategy::Sampler;

use crate::executor::{Executor, OnSubstrate};
use crate::strategy::Plan;
use crate::{Custom, Explain, Explorer, Refusal, Strategy};

mod auto;
mod census;
mod deadline;
mod explain;
mod freed;
mod gaps;
mod hidden_state;
mod loops;
mod parallel;
mod plans;
mod probes;
mod replay;
mod report;
mod run_loop;
mod sampling;
mod stacks;
mod tally;
mod verdicts;
mod warnings;
mod words;

pub use parallel::Workers;
pub use warnings::{Leaks, Warnings};
pub use words::ReplayError;

/// The word of the search that several OS threads can share.
const DPOR: &str = "dpor";

/// What a check is to do.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the check.
    pub name: Cow<'static, str>,
    /// How executions are chosen.
    pub strategy: Strategy,
    /// An algorithm that chooses executions in place of `strategy`.
    pub custom: Option<Custom>,
    /// What threads may see of each other's stores.
    pub memory: MemoryModel,
    /// The seed of all random choices.
    pub seed: u64,
    /// The most runs.
    pub runs: u64,
    /// The most events of a run.
    pub max_steps: usize,
    /// What a run with more events is.
    pub on_step_limit: OnStepLimit,
    /// Whether data races are failures.
    pub races: bool,
    /// Whether reading a lock twice at once, while another thread may wait to write it, is a failure.
    pub read_twice: bool,
    /// Whether accesses to plain variables are scheduling points, and so among the events.
    pub plain_points: bool,
    /// Whether to continue after a failure, with strategies that sample, and count failures by cause.
    pub keep_going: bool,
    /// What else to look for.
    pub warnings: Warnings,
    /// Whether a search that claims something first looks for state that raddle does not see.
    pub hidden_state: bool,
    /// How much to do to explain a failure.
    pub explain: Explain,
    /// Whether to make all runs although the first shows that there is only one execution.
    pub explore_trivial: bool,
    /// The OS threads to search on, for strategies that can; see [`Session::run_with`].
    pub workers: Workers,
    /// Whether to report which memory-access patterns were seen, and how accesses are identified.
    pub coverage: Option<Accesses>,
}

impl Settings {
    /// Returns the default settings.
    pub fn new(name: impl Into<Cow<'static, str>>, strategy: Strategy) -> Settings {
        Settings {
            name: name.into(),
            strategy,
            custom: None,
            memory: MemoryModel::Sc,
            seed: 0,
            runs: 10_000,
            max_steps: 1_000_000,
            on_step_limit: OnStepLimit::Fail,
            races: true,
            read_twice: true,
            plain_points: false,
            keep_going: false,
            warnings: Warnings::default(),
            hidden_state: true,
            explain: Explain::Off,
            explore_trivial: false,
            workers: Workers::ONE,
            coverage: None,
        }
    }

    /// Returns the word that stands for what chooses executions.
    fn word(&self) -> Cow<'static, str> {
        self.custom.as_ref().map_or_else(|| self.strategy.word(), Custom::word)
    }

    /// Returns a new sampler. `None` if executions are not sampled by one.
    fn sampler(&self) -> Option<Box<dyn Sampler>> {
        self.custom.as_ref().map_or_else(|| self.strategy.sampler(), Custom::sampler)
    }

    /// Returns a new explorer, or the plan that makes several.
    fn explorer(&self) -> Result<Box<dyn Explorer>, Plan> {
        match (&self.custom, self.strategy.plan()) {
            (Some(custom), _) => Ok(custom.make_explorer(self.seed)),
            (None, Some(plan)) => Err(plan),
            (None, None) => {
                let explorer = self.strategy.explorer(self.memory, self.seed);
                Ok(explorer.expect("raddle invariant broken: neither an explorer nor a plan"))
            }
        }
    }

    /// Refuses a strategy that cannot do what is asked for.
    fn check(&self) -> Result<(), Refusal> {
        let can_keep_going = match &self.custom {
            Some(custom) => custom.sampler().is_some(),
            None => {
                self.strategy.check_memory(self.memory)?;
                self.strategy.can_keep_going()
            }
        };
        if self.keep_going && !can_keep_going {
            return Err(Refusal::CannotKeepGoing { strategy: self.word() });
        }
        Ok(())
    }

    /// Returns which member of a portfolio makes a run, counted from zero.
    fn member(&self, run: u64) -> usize {
        (run % self.strategy.members().len().max(1) as u64) as usize
    }
}

/// What a run that reaches the step limit is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OnStepLimit {
    /// A failure.
    Fail,
    /// Set aside and counted.
    Discard,
}

/// A clock that shows the time since a check began.
pub type Elapsed = Rc<dyn Fn() -> Duration>;

/// The time that a check may take, by a clock of the caller, who is also informed of its progress.
pub trait Budget: Sync {
    /// Returns the time since the check began.
    fn elapsed(&self) -> Duration;

    /// Returns the time that the check may take.
    fn limit(&self) -> Option<Duration>;

    /// Returns the time that the first execution may take. A check without any execution is refused.
    fn first_limit(&self) -> Option<Duration> {
        self.limit()
    }

    /// Returns a clock to be read inside of executions. If the check is to end at once, the clock shows
    /// [`Duration::MAX`]. Returns `None` if executions are not cut off.
    fn clock(&self) -> Option<Elapsed> {
        None
    }

    /// Receives the progress of the check, whenever it reads the clock after more than one run.
    fn on_progress(&self, progress: &Progress) {
        let _ = progress;
    }
}

/// A check of one program on one substrate.
pub struct Session<'a, S: Substrate> {
    substrate: &'a mut S,
    program: &'a S::Program,
    settings: &'a Settings,
    budget: &'a dyn Budget,
}

impl<'a, S: Substrate> Session<'a, S> {
    /// Makes a check of `program` on `substrate`.
    pub fn new(
        substrate: &'a mut S,
        program: &'a S::Program,
        settings: &'a Settings,
        budget: &'a dyn Budget,
    ) -> Session<'a, S> {
        Session { substrate, program, settings, budget }
    }

    /// Explores as the settings say, on this OS thread.
    pub fn run(self) -> Result<Report, Refusal> {
        self.with(|check| check.run())
    }

    /// Explores with any explorer.
    pub fn explore(self, explorer: &mut dyn Explorer) -> Result<Report, Refusal> {
        self.with(|check| check.explore(explorer))
    }

    /// Replays the execution of a token. Explains its failure only if everything is to be done for it, because a replay
    /// may run in a debugger.
    pub fn replay(self, token: &str) -> Result<Report, ReplayError> {
        let explain = match self.settings.explain {
            Explain::Off | Explain::Quick => Explain::Off,
            Explain::Full => Explain::Full,
        };
        self.with(|check| check.replay(token, explain, replay::REPLAY))
    }

    /// Replays an execution that an earlier check has kept, and explains its failure as one that was just found.
    pub fn repeat(self, token: &str) -> Result<Report, ReplayError> {
        let explain = self.settings.explain;
        self.with(|check| check.replay(token, explain, replay::KEPT))
    }

    fn with<R>(self, act: impl FnOnce(&mut Check<'_>) -> R) -> R {
        let Session { substrate, program, settings, budget } = self;
        let mut executor = OnSubstrate::<&mut S, S> { substrate, program };
        act(&mut Check::new(&mut executor, settings, budget))
    }
}

impl<S: Substrate> Session<'_, S>
where
    S::Program: Sync,
{
    /// Explores as the settings say, on as many OS threads as they say, if the strategy can: `dpor`, and
    /// samplers whose runs are independent. All others use one OS thread, and so do checks under RC11,
    /// those that continue after failures, and those that report patterns.
    ///
    /// `make` makes the substrates of the other OS threads.
    pub fn run_with(self, make: &(dyn Fn() -> S + Sync)) -> Result<Report, Refusal> {
        let program = self.program;
        let with_executor = |work: &mut dyn FnMut(&mut dyn Executor)| {
            work(&mut OnSubstrate::<S, S> { substrate: make(), program });
        };
        self.with(|check| check.run_with(&with_executor))
    }
}

/// A check, without the type of its substrate.
struct Check<'a> {
    executor: &'a mut dyn Executor,
    settings: &'a Settings,
    budget: &'a dyn Budget,
    /// What is known of loops in which threads wait.
    loops: Vec<KnownLoop>,
}

impl<'a> Check<'a> {
    fn new(
        executor: &'a mut dyn Executor,
        settings: &'a Settings,
        budget: &'a dyn Budget,
    ) -> Check<'a> {
        Check { executor, settings, budget, loops: Vec::new() }
    }
}

/// Calls its argument with a new executor of the same program.
type WithExecutor<'a> = dyn Fn(&mut dyn FnMut(&mut dyn Executor)) + Sync + 'a;
