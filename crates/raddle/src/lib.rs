//! raddle tests concurrent programs. It controls every thread, runs the program many times, and chooses at
//! each step which thread runs next. It finds the interleaving that breaks the program and replays it
//! exactly. If it finds none, it reports what it has ruled out.
//!
//! Write a test with [`sync`] and [`thread`], which mirror `std`, and pass it to [`check`]:
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
//!     assert_eq!(n.load(Ordering::SeqCst), 2); // an update can be lost
//! });
//! ```
//!
//! Outside a check, everything in [`sync`], [`thread`], [`hint`] and [`time`] behaves as in `std`.

// First, because its macros document other modules.
mod settings;

mod alloc;
mod assume;
mod conditions;
mod config;
mod done;
mod environment;
mod files;
mod index;
mod live;
mod naming;
mod origin;
mod print;
mod remembered;
mod report;
mod run_cell;
mod sources;
mod turn;

#[doc(hidden)]
pub mod __test;
pub mod cell;
#[doc(hidden)]
pub mod drop_in;
pub mod future;
pub mod hint;
pub mod strategy;
pub mod sync;
pub mod thread;
pub mod time;

pub use alloc::Alloc;
pub use assume::assume;
pub use config::Config;
#[doc(hidden)]
pub use config::NativeSettings;
#[doc(hidden)]
pub use index::add_to_index;
pub use naming::{Named, name};
pub use raddle_core::{Chooser, MemoryModel as Memory, Order};
pub use raddle_explore::{
    Explain, Explorer, Leaks, OnStepLimit, ReplayError, Strategy, StrategyError,
};
pub use raddle_report::text;
pub use raddle_results::{
    Accesses, Causes, Certificate, Change, Condition, Coverage, CutOff, Explanation, Failure,
    Finding, Incomplete, Leak, LockOrder, MovedLock, OrderedPair, PatternSearch, Region, Repair,
    Shrunk, StrongerOrder, Sufficiency, Unknown, Verdict, Warning, WarningKind,
};
pub use report::Report;
pub use settings::{Granularity, Panics, SettingError, Sometimes};

/// Makes a function a test, as `#[test]` does, and runs its body under many interleavings.
///
/// ```
/// use raddle::sync::atomic::{AtomicUsize, Ordering};
/// use raddle::thread;
///
/// #[raddle::test]
/// fn no_update_is_lost() {
///     let count = AtomicUsize::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| count.fetch_add(1, Ordering::Relaxed));
///         count.fetch_add(1, Ordering::Relaxed);
///     });
///     assert_eq!(count.into_inner(), 2);
/// }
///
/// #[raddle::test(strategy = "pct:3", runs = 1_000, time = "5s")]
/// #[should_panic = "seven"]
/// fn finds_seven() {
///     assert!(raddle::choose(10) != 7, "seven");
/// }
///
/// #[raddle::test(strategy = "dpor")]
/// fn a_result_is_checked() -> Result<(), std::num::ParseIntError> {
///     let thread = thread::spawn(|| "12".parse::<u32>());
///     assert_eq!(thread.join().unwrap()?, 12);
///     Ok(())
/// }
/// ```
///
/// Its settings are those of [`Config`] that have a method there, written as `name = value`. Words and times
/// are texts, such as `granularity = "all"` and `time = "500ms"`. A value can also be any expression of the type
/// that the method takes, such as `granularity = Granularity::All`. Variables of the environment override
/// these settings too.
///
/// `#[ignore]` and `#[should_panic]` work as for `#[test]`. The text that `#[should_panic]` expects is searched
/// in the whole report. A test may return a `Result`; an `Err` is a failure of the execution. A test may be an
/// `async fn`, which [`future::block_on`] runs.
///
/// Mistakes are compile errors:
///
/// ```compile_fail
/// #[raddle::test(strategie = "pct:3")] // unknown setting `strategie`
/// fn misspelt() {}
/// ```
/// ```compile_fail
/// #[raddle::test]
/// fn arguments(count: usize) {}
/// ```
pub use raddle_macros::test;

use raddle_core::{Action, Effect, ObjectId, Op, Question, Site};
use raddle_runtime::port::{self, Kind};

/// Runs `program` with the default settings.
///
/// # Panics
/// Panics with a report if an execution fails.
///
/// See [`Config`] for the settings and the environment variables that override them.
///
/// ```
/// use raddle::sync::{Arc, Mutex};
///
/// raddle::check(|| {
///     let total = Arc::new(Mutex::new(0));
///     let other = {
///         let total = total.clone();
///         raddle::thread::spawn(move || *total.lock().unwrap() += 1)
///     };
///     *total.lock().unwrap() += 1;
///     other.join().unwrap();
///     assert_eq!(*total.lock().unwrap(), 2);
/// });
/// ```
#[track_caller]
pub fn check<F>(program: F)
where
    F: Fn() + Send + Sync + 'static,
{
    Config::new().check(program);
}

/// Returns a number below `bound` that the strategy chooses. Outside a check it is 0.
///
/// ```
/// let report = raddle::Config::new().strategy("dfs").run(|| {
///     assert!(raddle::choose(3) < 3);
/// });
/// assert_eq!(report.executions, 3);
/// ```
///
/// # Panics
/// Panics if `bound` is 0.
#[track_caller]
pub fn choose(bound: u32) -> u32 {
    assert!(
        bound > 0,
        "raddle::choose(0): there is nothing to choose from; the bound must be at least 1"
    );
    if !port::active() {
        return 0;
    }
    let op = Op::new(ObjectId::NONE, Action::Choose { bound, question: Question::Number });
    match port::submit(Kind::Any, op, Site::caller()) {
        Effect::Value(value) => value as u32,
        other => unexpected(other),
    }
}

/// Panics because the engine returned an effect that the operation cannot have.
#[cold]
fn unexpected(effect: Effect) -> ! {
    panic!("raddle invariant broken: an operation had the effect {effect:?}")
}
