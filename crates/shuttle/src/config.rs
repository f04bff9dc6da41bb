//! The settings of a test.

use std::path::PathBuf;
use std::time::Duration;

/// The settings of a test. [`raddle::Config`] has more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The size of each thread's stack in bytes, if larger than raddle's.
    pub stack_size: usize,
    /// What happens to the token of a failure.
    pub failure_persistence: FailurePersistence,
    /// The most steps of an execution.
    pub max_steps: MaxSteps,
    /// The most time.
    pub max_time: Option<Duration>,
    /// Whether Shuttle's warnings are left out. No effect.
    pub silence_warnings: bool,
    /// Whether steps are recorded in spans. No effect.
    pub record_steps_in_span: bool,
    /// How executions that fail are cleared away. No effect.
    pub ungraceful_shutdown_config: UngracefulShutdownConfig,
}

impl Config {
    /// Returns the default settings.
    pub fn new() -> Config {
        Config {
            stack_size: 256 * 1024,
            failure_persistence: FailurePersistence::Print,
            max_steps: MaxSteps::FailAfter(1_000_000),
            max_time: None,
            silence_warnings: false,
            record_steps_in_span: false,
            ungraceful_shutdown_config: UngracefulShutdownConfig::new(),
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}

/// What happens to the token of a failure, besides being in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePersistence {
    /// Nothing.
    None,
    /// Nothing: the report, which is printed, contains it.
    Print,
    /// The token is written to a new file in this folder, or in the current one.
    File(Option<PathBuf>),
}

/// The most steps of an execution, and what happens to one with more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MaxSteps {
    /// There is no limit.
    None,
    /// It fails.
    FailAfter(usize),
    /// It is discarded.
    ContinueAfter(usize),
}

/// How executions that fail are cleared away. No effect.
#[derive(Copy, Clone, Debug, Default)]
#[non_exhaustive]
pub struct UngracefulShutdownConfig {
    /// Whether a panic ends the execution at once.
    pub immediately_return_on_panic: bool,
    /// What happens to functions of threads that have not started.
    pub continuation_function_behavior: ContinuationFunctionBehavior,
}

impl UngracefulShutdownConfig {
    /// Returns the default.
    pub const fn new() -> UngracefulShutdownConfig {
        UngracefulShutdownConfig {
            immediately_return_on_panic: false,
            continuation_function_behavior: ContinuationFunctionBehavior::new(),
        }
    }
}

/// What happens to functions of threads that have not started. No effect.
#[derive(Copy, Clone, Debug, Default)]
#[non_exhaustive]
pub enum ContinuationFunctionBehavior {
    /// They are dropped.
    Drop,
    /// They are leaked.
    #[default]
    Leak,
}

impl ContinuationFunctionBehavior {
    /// Returns the default.
    pub const fn new() -> ContinuationFunctionBehavior {
        ContinuationFunctionBehavior::Leak
    }
}
