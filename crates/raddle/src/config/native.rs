//! Settings for checks of native programs, which the `raddle` command makes.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use raddle_core::MemoryModel;
use raddle_explore::{Explain, Leaks, OnStepLimit, Strategy};

use super::{Config, DEFAULT_WATCHDOG, Watchdog};
use crate::environment::Environment;
use crate::settings::{Granularity, Panics, SettingError, Show, Variable, Word};

/// The settings of a check of a native program.
#[derive(Clone, Debug)]
pub struct NativeSettings {
    /// Lines of a name, `=` and a value, for the library in the program.
    pub plan: String,
    /// The time that the check may take.
    pub time: Option<Duration>,
    /// How long a run may go without a scheduling point.
    pub watchdog: Option<Duration>,
    /// The number of processes that share the check.
    pub threads: usize,
    /// Whether executions are sampled, so that processes can share them.
    pub samples: bool,
    /// Whether the strategy is `auto`.
    pub is_auto: bool,
    /// The seed of all randomness.
    pub seed: u64,
    /// The most executions.
    pub runs: u64,
    /// Whether to show the progress of the check.
    pub progress: bool,
    /// The token to replay instead of exploring.
    pub replay: Option<String>,
    /// The folder for reports.
    pub report: Option<PathBuf>,
    /// Whether to colour the report. `None` if that depends on where it goes.
    pub color: Option<bool>,
}

impl NativeSettings {
    /// Returns the settings of the environment, changed by `options`: pairs of a variable and its value.
    ///
    /// Returns an error if a variable is unknown, a value cannot be used, or a setting has no meaning for native
    /// programs.
    pub fn new(name: &str, options: &[(String, OsString)]) -> Result<NativeSettings, SettingError> {
        let config = Environment::get()?.apply(Config::new())?;
        let config = options.iter().try_fold(config, |config, (name, value)| {
            let variable = Variable::ALL.iter().find(|variable| variable.name == name);
            let unknown = || SettingError::new(format!("{name} is not a setting"));
            variable.ok_or_else(unknown)?.apply(config, value)
        })?;
        config.native(name)
    }

    /// Returns the variables, each with its possible values.
    pub fn variables() -> impl Iterator<Item = (&'static str, &'static str)> {
        Variable::ALL.iter().map(|variable| (variable.name, variable.values))
    }
}

impl Config {
    fn native(self, name: &str) -> Result<NativeSettings, SettingError> {
        let strategy = self.strategy?.strategy;
        if self.spurious > 0 || self.panics != Panics::Fail {
            return Err(SettingError::new(
                "native programs have no spurious wake-ups and no panics to join; leave RADDLE_SPURIOUS and \
                 RADDLE_PANICS out",
            ));
        }
        let is_replay = self.replay.is_some();
        let watchdog = match self.watchdog {
            // A replay may run in a debugger.
            Watchdog::Default => Some(DEFAULT_WATCHDOG).filter(|_| !is_replay),
            Watchdog::Set(limit) => limit,
        };
        let lock_order = self.lock_order.unwrap_or(strategy == Strategy::default());
        let mut plan = String::new();
        let mut line = |name: &str, value: &dyn std::fmt::Display| {
            let _ = writeln!(plan, "{name}={value}");
        };
        line("name", &self.name.as_ref().map_or(name, |given| &given.text));
        line("strategy", &strategy.word());
        line("memory", &word::<MemoryModel>(self.memory));
        line("seed", &self.seed);
        line("runs", &self.runs);
        line("max_steps", &self.max_steps);
        line("on_step_limit", &word::<OnStepLimit>(self.on_step_limit));
        line("races", &self.races);
        line("granularity", &word::<Granularity>(self.granularity));
        line("keep_going", &self.keep_going);
        line("leaks", &word::<Leaks>(self.leaks));
        line("lock_order", &lock_order);
        line("explain", &word::<Explain>(self.explain));
        if let Some(time) = self.time {
            line("time", &time.as_millis());
        }
        if let Some(limit) = watchdog {
            line("watchdog", &limit.as_millis());
        }
        Ok(NativeSettings {
            plan,
            time: self.time,
            watchdog,
            threads: self.threads,
            samples: strategy.can_keep_going(),
            is_auto: strategy == Strategy::default(),
            seed: self.seed,
            runs: self.runs,
            progress: match self.progress {
                Show::Always => true,
                Show::Never => false,
                Show::Auto => std::io::stderr().is_terminal(),
            },
            replay: self.replay,
            report: self.report,
            color: match self.color {
                Show::Always => Some(true),
                Show::Never => Some(false),
                Show::Auto => None,
            },
        })
    }
}

/// Returns the word of a value.
fn word<T: Word + PartialEq>(value: T) -> &'static str {
    let known = T::WORDS.iter().find(|known| known.1 == value);
    known.expect("raddle invariant broken: a value without a word").0
}
