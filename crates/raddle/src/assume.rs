//! Assumptions of the program under test.

use raddle_core::Site;
use raddle_runtime::port;

/// Stops the calling thread if `condition` is false: it goes no further in this execution.
///
/// The other threads continue, and their failures count. Such executions are counted apart
/// ([`Report::incomplete`](crate::Report)). A thread that waits for a stopped one does not fail for that.
/// Values that the thread owns are dropped after the end of the execution. Outside a check nothing happens.
///
/// Use it to leave out executions that a test is not about, or in place of a loop that waits:
///
/// ```
/// use raddle::sync::Arc;
/// use raddle::sync::atomic::{AtomicUsize, Ordering};
///
/// let report = raddle::Config::new().strategy("dpor").run(|| {
///     let data = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
///     let other = data.clone();
///     raddle::thread::spawn(move || {
///         other.0.store(7, Ordering::Relaxed);
///         other.1.store(1, Ordering::Release);
///     });
///     raddle::assume(data.1.load(Ordering::Acquire) == 1);
///     assert_eq!(data.0.load(Ordering::Relaxed), 7);
/// });
/// assert!(report.failure().is_none());
/// assert_eq!((report.executions, report.incomplete.assumed), (1, 1));
/// ```
#[inline]
#[track_caller]
pub fn assume(condition: bool) {
    if !condition {
        port::stop(Site::caller());
    }
}
