//! raddle tests concurrent programs. It takes control of every thread, runs the program many times,
//! and chooses at each step which thread goes next. It finds the interleaving that breaks the
//! program, replays it exactly, and, when it finds nothing, says what has been ruled out.
//!
//! Write a test against [`sync`] and [`thread`], which mirror `std`, and hand it to [`check`]:
//!
//! ```should_panic
//! use raddle::sync::Arc;
//! use raddle::sync::atomic::{AtomicUsize, Ordering};
//!
//! raddle::check(|| {
//!     let n = Arc::new(AtomicUsize::new(0));
//!     let other = {
//!         let n = n.clone();
//!         raddle::thread::spawn(move || {
//!             let seen = n.load(Ordering::SeqCst);
//!             n.store(seen + 1, Ordering::SeqCst);
//!         })
//!     };
//!     let seen = n.load(Ordering::SeqCst);
//!     n.store(seen + 1, Ordering::SeqCst);
//!     other.join().unwrap();
//!     assert_eq!(n.load(Ordering::SeqCst), 2); // an update can get lost
//! });
//! ```
//!
//! Outside a check, everything in [`sync`], [`thread`], [`hint`] and [`time`] behaves as in `std`.

mod config;
mod environment;

pub mod cell;
pub mod hint;
pub mod sync;
pub mod thread;
pub mod time;

pub use config::{Config, Granularity};
pub use environment::SettingError;
pub use raddle_core::{Chooser, Failure, Finding, Report, Verdict};
pub use raddle_explore::{Explorer, OnStepLimit, ReplayError, Strategy, StrategyError};
pub use raddle_report::text;

use raddle_core::{Action, Effect, ObjectId, Op, Site};
use raddle_runtime::port;

/// Runs `program` under the default settings; panics with a report if an execution fails.
///
/// See [`Config`] for the settings and the environment variables that override them.
#[track_caller]
pub fn check<F>(program: F)
where
    F: Fn() + Send + Sync + 'static,
{
    Config::new().check(program);
}

/// A number below `bound`, as the strategy chooses. Outside a check it is 0.
///
/// ```
/// let report = raddle::Config::new().strategy("dfs").run(|| {
///     assert!(raddle::choose(3) < 3);
/// });
/// assert_eq!(report.executions, 3);
/// ```
///
/// # Panics
/// If `bound` is 0.
#[track_caller]
pub fn choose(bound: u32) -> u32 {
    assert!(bound > 0, "raddle::choose(0): there is nothing to choose from");
    if !port::active() {
        return 0;
    }
    let op = Op::new(ObjectId::NONE, Action::Choose { bound });
    match port::submit(op, Site::caller()) {
        Effect::Value(value) => value as u32,
        other => unexpected(other),
    }
}

/// The engine answered with an effect that the operation cannot have.
#[cold]
fn unexpected(effect: Effect) -> ! {
    panic!("raddle invariant broken: an operation had the effect {effect:?}")
}
