//! Explorers: the algorithms that decide between runs, and the session that drives them.
//!
//! An [`Explorer`] writes the plan of the next run and learns from its trace. [`Session`] runs plans
//! until something fails, the explorer has nothing left, or the budget is used up, and says in a
//! [`Report`](raddle_results::Report) what that means.
#![forbid(unsafe_code)]

mod bounded;
mod bpor;
mod branches;
mod classes;
mod deepening;
mod dfs;
mod directed;
mod dpor;
mod explorer;
mod graphs;
mod mcr;
mod parallel;
mod past;
mod pcr;
mod racing_lines;
mod refusal;
mod repeat;
mod replay;
mod session;
mod shelf;
mod strategy;
mod wakeup;
mod wilson;

pub use bounded::{BoundedDfs, BoundedDfsChooser, Limit};
pub use bpor::{Bound, Bpor, Counts, Mistake, ReducedChooser, Reduction};
pub use classes::Classes;
pub use deepening::{Completed, Deepening};
pub use dfs::{Dfs, DfsChooser};
pub use dpor::{Dpor, DporChooser};
pub use explorer::{Covered, Explorer};
pub use graphs::{Graphs, GraphsChooser};
pub use mcr::Mcr;
pub use parallel::{DporWorker, Next, ParallelDpor, Sharing};
pub use pcr::{Guided, Pcr, Rules};
pub use racing_lines::racing_lines;
pub use raddle_analysis::{MapCoverage, race};
pub use refusal::{Refusal, WIDEST_CHOICE};
pub use repeat::Repeat;
pub use replay::{Stop, replay, replay_weak};
pub use session::{Budget, Leaks, Oddities, OnStepLimit, ReplayError, Session, Settings, Workers};
pub use strategy::{Strategy, StrategyError};
pub use wilson::wilson;
