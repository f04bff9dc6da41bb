//! The error for a setting that cannot be used.

use std::convert::Infallible;
use std::fmt;

use raddle_explore::{Refusal, ReplayError, StrategyError};

/// A setting that cannot be used, with what to use instead.
///
/// ```
/// let error = raddle::Config::new().runs(0).try_run(|| ()).unwrap_err();
/// assert!(error.to_string().contains("zero runs check nothing"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingError {
    message: String,
}

impl SettingError {
    pub(crate) fn new(message: impl Into<String>) -> SettingError {
        SettingError { message: message.into() }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SettingError {}

impl From<StrategyError> for SettingError {
    fn from(error: StrategyError) -> SettingError {
        SettingError::new(error.to_string())
    }
}

impl From<Refusal> for SettingError {
    fn from(refusal: Refusal) -> SettingError {
        SettingError::new(refusal.to_string())
    }
}

impl From<ReplayError> for SettingError {
    fn from(error: ReplayError) -> SettingError {
        SettingError::new(error.to_string())
    }
}

impl From<Infallible> for SettingError {
    fn from(never: Infallible) -> SettingError {
        match never {}
    }
}
