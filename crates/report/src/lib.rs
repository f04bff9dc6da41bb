//! Reports as text: what a person reads when a check is over.
//!
//! [`text`] is a pure function of a [`Report`](raddle_core::Report). A failure becomes a headline, the
//! run that failed with one lane for each thread, what explains it, and the line that replays it; a
//! clean result becomes one sentence that claims no more than was tried.
#![forbid(unsafe_code)]

mod backtrace;
mod clean;
mod deadlock;
mod failure;
mod fold;
mod lanes;
mod links;
mod names;
mod number;
mod operation;
mod race;
mod steps;
mod text;

pub use text::text;
