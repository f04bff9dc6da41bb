//! Documents in words: sentences and lines without layout, which texts and pages share.

pub(crate) mod backtrace;
pub(crate) mod clean;
pub(crate) mod coverage;
pub(crate) mod deadlock;
pub(crate) mod explanation;
pub(crate) mod failure;
pub(crate) mod failures;
mod freed;
pub(crate) mod names;
pub(crate) mod relevant;
pub(crate) mod repair;
pub(crate) mod rows;
pub(crate) mod stacks;
pub(crate) mod stale;
mod waiting;
