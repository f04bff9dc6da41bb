//! Reports as text, which a person reads when a check is over, as a page for a browser, and as JSON,
//! which other programs read.
//!
//! [`text`], [`html`] and [`json`] are pure functions of a [`Report`](raddle_results::Report). As text, a failure becomes a headline, the
//! run that failed with one lane for each thread, what explains it, and the line that replays it; a
//! clean result becomes one sentence that claims no more than was tried.
#![forbid(unsafe_code)]

mod backtrace;
mod census;
mod circles;
mod clean;
mod coverage;
mod deadlock;
mod excerpt;
mod failure;
mod fold;
mod html;
mod json;
mod lanes;
mod names;
mod number;
mod oddity;
mod operation;
mod paint;
mod progress;
mod race;
mod stale;
mod steps;
mod text;

pub use html::html;
pub use json::json;
pub use paint::Paint;
pub use progress::progress;
pub use text::{text, text_with};
