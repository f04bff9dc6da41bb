//! The result of a check as data.
//!
//! A [`Report`] says what a check did and what it found; a [`Token`] replays one execution. Nothing here
//! acts: explorers fill these types in, and reports are rendered from them.
#![forbid(unsafe_code)]

mod coverage;
mod failure;
mod report;
pub mod token;
mod warning;

pub use coverage::{Accesses, Coverage, PatternSearch, VariableCoverage};
pub use failure::{Cause, Failure, Failures, Finding, Wait};
pub use report::{Bounds, Phase, PhaseEnd, Progress, Report, Search, Verdict};
pub use token::{Token, TokenError};
pub use warning::{Leak, LockOrder, Warning, WarningKind};
