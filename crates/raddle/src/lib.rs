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

mod alloc;
mod config;
mod done;
mod environment;
mod files;
mod live;
mod moved;
mod naming;
mod settings;
mod sources;

#[doc(hidden)]
pub mod __test;
pub mod cell;
pub mod hint;
pub mod sync;
pub mod thread;
pub mod time;

pub use alloc::Alloc;
pub use config::Config;
pub use environment::SettingError;
pub use naming::{Named, name};
pub use raddle_core::{Chooser, MemoryModel as Memory};
pub use raddle_explore::{Explorer, Leaks, OnStepLimit, ReplayError, Strategy, StrategyError};
pub use raddle_report::{json, text};
pub use raddle_results::{
    Accesses, Coverage, Failure, Finding, Leak, LockOrder, PatternSearch, Report, Verdict, Warning,
    WarningKind,
};
pub use settings::{Granularity, Panics};

/// Makes a function a test that raddle checks: as `#[test]`, but the body runs under many
/// interleavings.
///
/// ```
/// use raddle::sync::atomic::{AtomicUsize, Ordering};
/// use raddle::thread;
///
/// #[raddle::test]
/// fn nothing_gets_lost() {
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
/// fn results_are_looked_at() -> Result<(), std::num::ParseIntError> {
///     let thread = thread::spawn(|| "12".parse::<u32>());
///     assert_eq!(thread.join().unwrap()?, 12);
///     Ok(())
/// }
/// ```
///
/// Settings are those of [`Config`], with the environment going before them:
///
/// | setting | value, for example |
/// | --- | --- |
/// | `strategy` | `"pct:3"`, or a [`Strategy`] |
/// | `memory` | `"rc11"`, `"sc"`, or a [`Memory`] |
/// | `coverage` | `"site"`, `"event"`, or [`Accesses`] |
/// | `runs`, `seed`, `max_steps`, `stack_size`, `spurious` | `10_000` |
/// | `time`, `watchdog` | `"500ms"`, or a [`Duration`](std::time::Duration) |
/// | `granularity` | `"sync"`, `"racy"`, `"all"`, or a [`Granularity`] |
/// | `panics` | `"fail"`, `"join"`, or a [`Panics`] |
/// | `leaks` | `"ignore"`, `"note"`, `"fail"`, or a [`Leaks`] |
/// | `races`, `lock_order` | `true` or `false` |
/// | `threads` | `2` |
/// | `on_step_limit` | `"fail"`, `"discard"`, or an [`OnStepLimit`] |
/// | `keep_going` | `true` or `false` |
/// | `name` | a text; by default the path of the test |
/// | `replay` | the token of a report: the test runs this execution only |
///
/// `#[ignore]` and `#[should_panic]` are as for `#[test]`; what is expected of a panic is looked for in
/// the whole report. A test may return a `Result`, whose `Err` is a failure of the execution.
///
/// What will not do is a compile error:
///
/// ```compile_fail
/// #[raddle::test(strategie = "pct:3")] // unknown setting `strategie`
/// fn misspelt() {}
/// ```
/// ```compile_fail
/// #[raddle::test]
/// async fn asynchronous() {}
/// ```
/// ```compile_fail
/// #[raddle::test]
/// fn arguments(count: usize) {}
/// ```
pub use raddle_macros::test;

use raddle_core::{Action, Effect, ObjectId, Op, Site};
use raddle_runtime::port::{self, Kind};

/// Runs `program` under the default settings; panics with a report if an execution fails.
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

/// The report as one page of HTML that needs no other files: what was found, the failing execution step
/// by step with its source, and the check in numbers.
///
/// With `RADDLE_REPORT=folder` every check writes one.
///
/// ```
/// let report = raddle::Config::new().run(|| assert!(raddle::choose(10) != 7, "seven"));
/// assert!(raddle::html(&report).contains("seven"));
/// ```
pub fn html(report: &Report) -> String {
    page(&raddle_report::document(report))
}

fn page(document: &raddle_results::document::Document) -> String {
    let sources = sources::Sources::default();
    raddle_report::html(document, &|file, line| sources.line(file, line))
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
    match port::submit(Kind::Any, op, Site::caller()) {
        Effect::Value(value) => value as u32,
        other => unexpected(other),
    }
}

/// The engine answered with an effect that the operation cannot have.
#[cold]
fn unexpected(effect: Effect) -> ! {
    panic!("raddle invariant broken: an operation had the effect {effect:?}")
}
