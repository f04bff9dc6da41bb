//! Runs a test with a scheduler.

use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use raddle::OnStepLimit;

use crate::scheduler::{Plan, Scheduler, bridge};
use crate::{Config, FailurePersistence, MaxSteps, current};

/// Runs a test with a scheduler.
///
/// ```
/// use shuttle::scheduler::RandomScheduler;
///
/// let runner = shuttle::Runner::new(RandomScheduler::new(10), shuttle::Config::new());
/// let executions = runner.run(|| {
///     shuttle::thread::spawn(|| ()).join().unwrap();
/// });
/// assert_eq!(executions, 10);
/// ```
#[derive(Debug)]
pub struct Runner<S: ?Sized + Scheduler> {
    config: Config,
    scheduler: Box<S>,
}

impl<S: Scheduler + 'static> Runner<S> {
    /// Returns a runner.
    pub fn new(scheduler: S, config: Config) -> Runner<S> {
        Runner { config, scheduler: Box::new(scheduler) }
    }

    /// Runs a test, and returns the number of executions.
    ///
    /// # Panics
    /// Panics with a report if an execution fails.
    #[track_caller]
    pub fn run<F>(self, f: F) -> usize
    where
        F: Fn() + Send + Sync + 'static,
    {
        run(self.scheduler, &self.config, Arc::new(f), Location::caller())
    }
}

fn run(
    scheduler: Box<dyn Scheduler>,
    config: &Config,
    f: Arc<dyn Fn() + Send + Sync>,
    caller: &Location<'_>,
) -> usize {
    let plan = scheduler.__plan();
    let name = name(caller);
    let settings = settings(config).name(name.clone());
    let settings = match plan {
        Some(Plan { replay: Some(token), .. }) => {
            settings.replay(raddle::drop_in::token_for(&name, &token))
        }
        Some(plan) => {
            let seed = env::var("SHUTTLE_RANDOM_SEED").ok().and_then(|seed| seed.parse().ok());
            let settings = settings.strategy(&*plan.strategy).runs(plan.runs.unwrap_or(u64::MAX));
            settings.seed(plan.seed.or(seed).unwrap_or(0))
        }
        None => bridge::install(settings, scheduler),
    };
    let program = move || {
        f();
        raddle::drop_in::drop_statics();
    };
    let report = match settings.try_run(program) {
        Ok(report) => report,
        Err(error) => panic!("raddle: {error}"),
    };
    let text = raddle::text(&report);
    if let Some(failure) = report.failure() {
        if let FailurePersistence::File(folder) = &config.failure_persistence {
            let file = persist(folder.as_deref(), &failure.token);
            panic!("{text}\n  the token is in {}", file.display());
        }
        panic!("{text}");
    }
    println!("{text}");
    usize::try_from(report.executions).unwrap_or(usize::MAX)
}

/// The name of the test, which test harnesses give to the OS thread, or the caller's source file.
fn name(caller: &Location<'_>) -> String {
    match std::thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        Some(_) | None => caller.file().to_owned(),
    }
}

fn settings(config: &Config) -> raddle::Config {
    // Shuttle makes all executions, also if they are all the same.
    let settings = raddle::Config::new().explore_trivial(true);
    let settings = raddle::drop_in::on_spawn(settings, current::inherit);
    let settings = settings.stack_size(config.stack_size.max(256 * 1024));
    let settings = match config.max_time {
        Some(time) => settings.time(time),
        None => settings.unlimited_time(),
    };
    match config.max_steps {
        MaxSteps::None => settings.max_steps(usize::MAX),
        MaxSteps::FailAfter(steps) => settings.max_steps(steps.max(1)),
        MaxSteps::ContinueAfter(steps) => {
            settings.max_steps(steps.max(1)).on_step_limit(OnStepLimit::Discard)
        }
    }
}

/// Writes the token to a new file, and returns the file.
fn persist(folder: Option<&Path>, token: &str) -> PathBuf {
    let folder = folder.map_or_else(|| PathBuf::from("."), Path::to_owned);
    let free = |number: &u32| !folder.join(format!("schedule{number:03}.txt")).exists();
    let number = (0..u32::MAX).find(free).unwrap_or(0);
    let file = folder.join(format!("schedule{number:03}.txt"));
    if let Err(error) = fs::write(&file, token) {
        eprintln!("raddle: the token cannot be written to {}: {error}", file.display());
    }
    file
}

/// Runs a test with several schedulers, one after the other.
pub struct PortfolioRunner {
    schedulers: Vec<Box<dyn Scheduler + Send>>,
    stop_on_first_failure: bool,
    config: Config,
}

impl PortfolioRunner {
    /// Returns a runner without schedulers.
    pub fn new(stop_on_first_failure: bool, config: Config) -> PortfolioRunner {
        PortfolioRunner { schedulers: Vec::new(), stop_on_first_failure, config }
    }

    /// Adds a scheduler.
    pub fn add(&mut self, scheduler: impl Scheduler + Send + 'static) {
        self.schedulers.push(Box::new(scheduler));
    }

    /// Runs a test with each scheduler.
    ///
    /// # Panics
    /// Panics with a report if an execution fails, at once or after all schedulers have run.
    #[track_caller]
    pub fn run<F>(self, f: F)
    where
        F: Fn() + Send + Sync + 'static,
    {
        let (f, caller): (Arc<dyn Fn() + Send + Sync>, _) = (Arc::new(f), Location::caller());
        let mut first = None;
        for scheduler in self.schedulers {
            let run = || run(scheduler, &self.config, f.clone(), caller);
            match catch_unwind(AssertUnwindSafe(run)) {
                Err(failure) if self.stop_on_first_failure => resume_unwind(failure),
                Err(failure) => first = first.or(Some(failure)),
                Ok(_) => {}
            }
        }
        if let Some(failure) = first {
            resume_unwind(failure);
        }
    }
}

impl std::fmt::Debug for PortfolioRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PortfolioRunner").finish_non_exhaustive()
    }
}
