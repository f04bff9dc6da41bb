//! The result of a check as data.
//!
//! A [`Report`] says what a check did and what it found; a [`Token`] replays one execution. A
//! [`Document`](document::Document) is a report that stands alone: it is written to JSON and read back, and
//! texts and pages are rendered from it. The crate holds data only.
#![forbid(unsafe_code)]

mod coverage;
pub mod document;
mod explanation;
mod failure;
mod json;
mod repair;
mod report;
pub mod token;
mod warning;

pub use coverage::{Accesses, Coverage, PatternSearch, VariableCoverage};
pub use explanation::{
    CauseEvent, Causes, Certificate, CutOff, Explanation, OrderedPair, RunSize, Shrunk, Sufficiency,
};
pub use failure::{Cause, Failure, Failures, Finding, Freed, Looked, Wait, WaitLoop};
pub use json::{Json, ReadError};
pub use repair::{Change, MovedLock, Region, Repair, StrongerOrder, Unknown};
pub use report::{
    BlindSpots, Bounds, Condition, HiddenState, Incomplete, MAX_LEAKED, MAX_LEAKED_BY_PROCESS,
    Phase, PhaseEnd, Progress, Report, Search, Verdict,
};
pub use token::{Token, TokenError};
pub use warning::{Leak, LockOrder, Warning, WarningKind};

/// Ends a match in another crate of raddle, which names every variant that there is. The compiler asks for one more
/// arm because users must not match completely: there will be more variants.
#[doc(hidden)]
#[cold]
pub fn new_variant() -> ! {
    unreachable!("raddle invariant broken: a match does not name a variant")
}
