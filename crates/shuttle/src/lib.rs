//! The API of [Shuttle](https://docs.rs/shuttle/0.9) on raddle.
//!
//! Shuttle tests run unchanged, with `shuttle = { package = "raddle-shuttle" }` in place of `shuttle`:
//!
//! ```should_panic
//! use shuttle::sync::{Arc, Mutex};
//!
//! shuttle::check_random(
//!     || {
//!         let lock = Arc::new(Mutex::new(0));
//!         let other = {
//!             let lock = lock.clone();
//!             shuttle::thread::spawn(move || *lock.lock().unwrap() = 1)
//!         };
//!         assert_eq!(*lock.lock().unwrap(), 0, "the other thread was first");
//!         other.join().unwrap();
//!     },
//!     100,
//! );
//! ```
//!
//! A failure is raddle's report, with a token that [`replay`] takes. The settings of raddle's environment
//! (`RADDLE_STRATEGY`, `RADDLE_MEMORY` and others) work too.
//!
//! # Differences
//!
//! - Schedules are raddle's tokens. Shuttle's cannot be read.
//! - [`check_dfs`] leaves out executions that are equivalent to others, and refuses random numbers.
//! - Atomics have the memory orderings of the program if `RADDLE_MEMORY=rc11`. Otherwise they are sequentially consistent.
//! - Some executions are made twice, to confirm that they can be replayed.
//! - Threads that are blocked when main ends are noted in the report and are no failure.
//! - [`scheduler::PctScheduler`] and [`scheduler::UrwRandomScheduler`] draw uniformly if a scheduler of your own calls them.
//! - There are no vector clocks, annotations and signatures of resources.

#![forbid(unsafe_code)]

mod check;
mod config;
pub mod current;
pub mod future;
pub mod hint;
pub mod lazy_static;
mod macros;
pub mod rand;
mod runner;
pub mod scheduler;
pub mod sync;
pub mod thread;

pub use check::{
    check, check_dfs, check_pct, check_random, check_random_with_seed,
    check_uncontrolled_nondeterminism, check_urw, replay, replay_from_file,
};
pub use config::{
    Config, ContinuationFunctionBehavior, FailurePersistence, MaxSteps, UngracefulShutdownConfig,
};
pub use raddle::thread_local;
pub use runner::{PortfolioRunner, Runner};

/// The name of a variable of Shuttle. No effect.
pub const CAPTURE_BACKTRACE: &str = "SHUTTLE_CAPTURE_BACKTRACE";
/// The name of a variable of Shuttle. No effect.
pub const SILENCE_WARNINGS: &str = "SHUTTLE_SILENCE_WARNINGS";
/// The name of a variable of Shuttle. No effect.
pub const ANNOTATION_FILE: &str = "SHUTTLE_ANNOTATION_FILE";
