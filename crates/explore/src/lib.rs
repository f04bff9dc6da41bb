//! Explorers: the algorithms that decide between runs, and the session that drives them.
//!
//! An [`Explorer`] plans the next run and learns from its trace. A [`Session`] makes the runs until one
//! fails, the explorer has none left, or the budget is used up, and writes a
//! [`Report`](raddle_results::Report). A [`Strategy`] is the user's word for an explorer.
#![forbid(unsafe_code)]

mod alone;
mod bounded;
mod bpor;
mod branches;
mod classes;
mod custom;
mod deepening;
mod dfs;
mod directed;
mod dpor;
mod engine_cache;
mod executor;
mod explain;
mod explorer;
mod graphs;
mod in_order;
mod mcr;
mod parallel;
mod past;
mod pcr;
mod racing_lines;
mod refusal;
mod repeat;
mod replay;
mod session;
mod strategy;
mod trust;
mod wakeup;
mod wilson;

pub use bounded::{BoundedDfs, Limit};
pub use bpor::{Bound, Bpor, Counts, Mistake, Reduction, Ties};
pub use classes::Classes;
pub use custom::Custom;
pub use deepening::{Completed, Deepening};
pub use dfs::Dfs;
pub use dpor::Dpor;
pub use explain::Explain;
pub use explorer::{Covered, Explorer};
pub use graphs::Graphs;
pub use in_order::InOrder;
pub use mcr::Mcr;
pub use parallel::{DporWorker, Next, ParallelDpor, Sharing};
pub use pcr::{Pcr, Rules};
pub use racing_lines::racing_lines;
pub use raddle_analysis::{MapCoverage, race};
pub use refusal::{Refusal, WIDEST_CHOICE};
pub use repeat::Repeat;
pub use replay::{Replay, Stop};
pub use session::{
    Budget, Elapsed, Leaks, OnStepLimit, ReplayError, Session, Settings, Warnings, Workers,
};
pub use strategy::{Kind, Models, Row, Strategy, StrategyError};
pub use trust::{ParallelTrust, Trust, TrustWorker};
pub use wilson::wilson;
