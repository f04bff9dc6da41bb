//! Conditions that are to hold in some execution: `raddle::sometimes!`.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use raddle_core::Site;
use raddle_results::Condition;
use raddle_runtime::port;

/// States a condition that holds in some execution: `sometimes!(condition, "name")`.
///
/// A result without a failure says which of these conditions never held. If all executions were tried, such a condition
/// cannot hold. With `sometimes = "fail"` ([`Config::sometimes`](crate::Config::sometimes)) the check fails. So a test
/// can show that it reaches what it is about.
///
/// A condition is known from the first execution that comes to it: one that none comes to is not reported. Outside a
/// check the condition is evaluated and nothing else happens.
///
/// ```
/// use raddle::sync::Arc;
/// use raddle::sync::atomic::{AtomicU32, Ordering::Relaxed};
///
/// let report = raddle::Config::new().name("meet").strategy("dpor").run(|| {
///     let value = Arc::new(AtomicU32::new(0));
///     let other = value.clone();
///     let thread = raddle::thread::spawn(move || other.store(1, Relaxed));
///     let seen = value.load(Relaxed);
///     raddle::sometimes!(seen == 1, "sees the store");
///     raddle::sometimes!(seen == 2, "sees something else");
///     thread.join().unwrap();
/// });
/// assert_eq!(report.conditions.iter().map(|one| one.held).collect::<Vec<_>>(), [true, false]);
/// assert!(report.to_string().contains("cannot hold: `sees something else`"));
/// ```
#[macro_export]
macro_rules! sometimes {
    ($condition:expr, $name:expr $(,)?) => {{
        static SEEN: ::std::sync::atomic::AtomicU64 = ::std::sync::atomic::AtomicU64::new(0);
        let holds: bool = $condition;
        $crate::__test::sometimes(&SEEN, holds, $name)
    }};
}

/// What the executions of a check showed of conditions.
#[derive(Debug)]
pub(crate) struct Conditions {
    /// Tells checks apart. Invariant: not zero.
    number: u64,
    known: Mutex<Vec<Condition>>,
}

thread_local! {
    /// The conditions of the check whose execution this OS thread runs.
    static CURRENT: RefCell<Option<Arc<Conditions>>> = const { RefCell::new(None) };
}

impl Conditions {
    pub(crate) fn new() -> Arc<Conditions> {
        static CHECKS: AtomicU64 = AtomicU64::new(0);
        let number = CHECKS.fetch_add(1, Ordering::Relaxed) + 1;
        Arc::new(Conditions { number, known: Mutex::new(Vec::new()) })
    }

    /// Notes that the execution that begins on this OS thread is of this check.
    pub(crate) fn enter(self: &Arc<Conditions>) {
        CURRENT.with_borrow_mut(|current| {
            if !current.as_ref().is_some_and(|current| Arc::ptr_eq(current, self)) {
                port::unobserved(|| *current = Some(self.clone()));
            }
        });
    }

    /// Returns all conditions that an execution came to, in the order of their places.
    pub(crate) fn list(&self) -> Vec<Condition> {
        let mut all = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.sort_by_cached_key(|one| {
            let place = one.site.location().map(|at| (at.file(), at.line(), at.column()));
            (place, one.name.clone())
        });
        all
    }

    fn note(&self, site: Site, name: &str, holds: bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known.iter_mut().find(|one| one.site == site && one.name == name) {
            Some(one) => one.held |= holds,
            None => port::unobserved(|| {
                known.push(Condition { name: name.to_owned(), site, held: holds });
            }),
        }
    }
}

/// Notes whether a condition holds. `seen` belongs to its place, and remembers in which check it held last, or did not:
/// twice the number of the check, and one more if it held.
#[track_caller]
pub fn sometimes(seen: &AtomicU64, holds: bool, name: &str) {
    if !port::active() {
        return;
    }
    let site = Site::caller();
    CURRENT.with_borrow(|current| {
        let Some(current) = current else { return };
        let known = seen.load(Ordering::Relaxed);
        let now = 2 * current.number + u64::from(holds);
        let is_new = known < now || known / 2 != current.number;
        // After the end of an execution, destructors see what no execution shows.
        if is_new && !port::is_over() {
            current.note(site, name, holds);
            seen.store(now, Ordering::Relaxed);
        }
    });
}
