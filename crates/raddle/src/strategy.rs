//! Algorithms of your own: what decides inside a run, and between runs.
//!
//! A [`Chooser`] answers every question inside one execution, such as which thread comes next. Give it to
//! [`Config::chooser`](crate::Config::chooser) to sample with it. An [`Explorer`] decides which execution comes
//! next, with a chooser of its own inside each. Give it to [`Config::explorer`](crate::Config::explorer).
//!
//! The example `own_strategy` has one of each:
//!
//! ```sh
//! cargo run -p raddle --example own_strategy
//! ```

pub use raddle_core::{
    Access, Action, Choice, Choices, Chooser, Effect, Ending, Event, EventId, Guarantee, Needs,
    ObjectId, Op, Pending, Pick, Point, Rng, Schedule, ThreadId, ThreadInfo, Threads, Trace,
};
pub use raddle_engine::ThreadIds;
pub use raddle_explore::{Covered, Explorer, Refusal};
pub use raddle_results::{Bounds, Search};
