//! Runs tests.

use std::env;
use std::panic::Location;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use raddle::{Config, Leaks, Memory, Verdict};

/// The time for one test, unless the settings say otherwise.
const DEFAULT_TIME: Duration = Duration::from_secs(20);

/// The number of executions of one test, unless the settings say otherwise.
const DEFAULT_RUNS: u64 = 10_000_000;

/// The number of steps of an execution, unless the settings ask for more.
const DEFAULT_STEPS: usize = 100_000;

/// The settings of a test.
///
/// Their default values come from the environment, as in Loom. Settings whose meaning is not the same:
///
/// | setting | variable | in raddle |
/// | --- | --- | --- |
/// | `max_threads` | | no effect: there is no limit |
/// | `max_branches` | `LOOM_MAX_BRANCHES` | the most steps of an execution, if larger than 100,000 |
/// | `max_permutations` | `LOOM_MAX_PERMUTATIONS` | the most executions; 10,000,000 by default |
/// | `max_duration` | `LOOM_MAX_DURATION` | the most time; 20 s by default. A search that is not expected to end in time is not made; random executions fill the time, and the result says so |
/// | `preemption_bound` | `LOOM_MAX_PREEMPTIONS` | the bound on preemptions of a search of all execution graphs. The result is exhaustive if the bound has left nothing out. If the search does not fit the time, random executions follow, and the result says so |
/// | `checkpoint_file`, `checkpoint_interval` | `LOOM_CHECKPOINT_FILE`, `LOOM_CHECKPOINT_INTERVAL` | no effect: `RADDLE_REPLAY` with the token of the report repeats a failure |
/// | `expect_explicit_explore` | | no effect: everything is explored |
/// | `location`, `log` | `LOOM_LOCATION`, `LOOM_LOG` | no effect: every report contains the failing execution with its locations |
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// The most threads. No effect.
    pub max_threads: usize,
    /// The most steps of an execution, if larger than raddle's limit.
    pub max_branches: usize,
    /// The most executions.
    pub max_permutations: Option<usize>,
    /// The most time.
    pub max_duration: Option<Duration>,
    /// The most preemptions of an execution.
    pub preemption_bound: Option<usize>,
    /// Where the search is saved. No effect.
    pub checkpoint_file: Option<PathBuf>,
    /// How often the search is saved. No effect.
    pub checkpoint_interval: usize,
    /// Whether the test says where exploration begins. No effect.
    pub expect_explicit_explore: bool,
    /// Whether locations are recorded. No effect.
    pub location: bool,
    /// Whether executions are logged. No effect.
    pub log: bool,
}

impl Builder {
    /// Returns the settings of the environment.
    ///
    /// # Panics
    /// Panics if a variable has no valid value.
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: variable("LOOM_MAX_BRANCHES").unwrap_or(1_000),
            max_permutations: variable("LOOM_MAX_PERMUTATIONS"),
            max_duration: variable("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: variable("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: variable("LOOM_CHECKPOINT_FILE"),
            checkpoint_interval: variable("LOOM_CHECKPOINT_INTERVAL").unwrap_or(20_000),
            expect_explicit_explore: false,
            location: env::var("LOOM_LOCATION").is_ok(),
            log: env::var("LOOM_LOG").is_ok(),
        }
    }

    /// Sets the checkpoint file. No effect.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Runs a test.
    ///
    /// # Panics
    /// Panics with a report if an execution fails.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let program = Arc::new(move || {
            f();
            raddle::drop_in::drop_statics();
        });
        let caller = Location::caller();
        let check = |config: Config| {
            let program = program.clone();
            raddle::drop_in::check(config, caller, move || program())
        };
        let config = self.config().memory(Memory::Rc11);
        if let Some(bound) = self.preemption_bound {
            let report = check(config.clone().strategy(&*format!("bpor:{bound}")));
            if report.is_ok_and(|report| !matches!(report.verdict, Verdict::Sampled)) {
                return;
            }
            // The search does not fit the time, or such a program.
        }
        if let Err(error) = check(config) {
            panic!("raddle: {error}");
        }
    }

    fn config(&self) -> Config {
        Config::new()
            .runs(self.max_permutations.map_or(DEFAULT_RUNS, |runs| runs as u64))
            .time(self.max_duration.unwrap_or(DEFAULT_TIME))
            .max_steps(self.max_branches.max(DEFAULT_STEPS))
            .leaks(Leaks::Fail)
    }
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

/// Runs a test with the settings of the environment.
///
/// # Panics
/// Panics with a report if an execution fails.
///
/// ```
/// loom::model(|| {
///     let other = loom::thread::spawn(|| 7);
///     assert_eq!(other.join().unwrap(), 7);
/// });
/// ```
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}

/// Returns the value of a variable, or `None` if it is not set.
fn variable<T: FromStr>(name: &str) -> Option<T> {
    let value = env::var(name).ok()?;
    match value.parse() {
        Ok(value) => Some(value),
        Err(_) => panic!("invalid value for `{name}`: {value:?}"),
    }
}
