//! Time, as in [`std::time`].

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::OnceLock;

use raddle_runtime::port;

pub use std::time::{Duration, TryFromFloatSecsError};

/// A point in time, as [`std::time::Instant`].
///
/// Inside a check time is virtual, and each thread has a clock. A thread's clock advances when it sleeps or its
/// wait times out, by the time that it asked for. Synchronisation carries the time from thread to thread.
///
/// ```
/// use raddle::thread;
/// use raddle::time::{Duration, Instant};
///
/// let report = raddle::Config::new().runs(1).run(|| {
///     let before = Instant::now();
///     thread::sleep(Duration::from_secs(1000));
///     assert_eq!(before.elapsed(), Duration::from_secs(1000));
/// });
/// assert!(report.failure().is_none());
/// ```
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(std::time::Instant);

/// The start of the virtual time of every run.
static START: OnceLock<std::time::Instant> = OnceLock::new();

/// Advances the virtual time of the calling thread, which must be part of a run.
pub(crate) fn pass(time: Duration) {
    port::advance(nanos(time));
}

/// The time in nanoseconds, the engine's unit. Saturates.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Instant {
    /// Returns the current time, as [`std::time::Instant::now`].
    ///
    /// ```
    /// use raddle::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_secs(1);
    /// assert!(Instant::now() >= first);
    /// ```
    pub fn now() -> Instant {
        if !port::active() {
            return Instant(std::time::Instant::now());
        }
        let start = *START.get_or_init(std::time::Instant::now);
        let passed = Duration::from_nanos(port::time());
        Instant(start.checked_add(passed).unwrap_or(start))
    }

    /// Returns the time from `earlier` to this instant, or zero if `earlier` is later, as
    /// [`std::time::Instant::duration_since`].
    ///
    /// ```
    /// use raddle::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_secs(1);
    /// assert_eq!(second.duration_since(first), Duration::from_secs(1));
    /// assert_eq!(first.duration_since(second), Duration::ZERO);
    /// ```
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.duration_since(earlier.0)
    }

    /// Returns the time from `earlier` to this instant, or `None` if `earlier` is later, as
    /// [`std::time::Instant::checked_duration_since`].
    ///
    /// ```
    /// use raddle::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_secs(1);
    /// assert_eq!(second.checked_duration_since(first), Some(Duration::from_secs(1)));
    /// assert_eq!(first.checked_duration_since(second), None);
    /// ```
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// Returns the time from `earlier` to this instant, or zero if `earlier` is later, as
    /// [`std::time::Instant::saturating_duration_since`].
    ///
    /// ```
    /// use raddle::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_secs(1);
    /// assert_eq!(first.saturating_duration_since(second), Duration::ZERO);
    /// ```
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// Returns the time since this instant, as [`std::time::Instant::elapsed`].
    ///
    /// ```
    /// use raddle::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_secs(1);
    /// assert!(first.elapsed() >= Duration::ZERO && second.elapsed() < Duration::from_secs(9));
    /// ```
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// Returns the instant that is `duration` later, or `None` if it cannot be represented, as
    /// [`std::time::Instant::checked_add`].
    ///
    /// ```
    /// use raddle::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_secs(1);
    /// assert_eq!(first.checked_add(Duration::from_secs(1)), Some(second));
    /// ```
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_add(duration).map(Instant)
    }

    /// Returns the instant that is `duration` earlier, or `None` if it cannot be represented, as
    /// [`std::time::Instant::checked_sub`].
    ///
    /// ```
    /// use raddle::time::{Duration, Instant};
    ///
    /// let first = Instant::now();
    /// let second = first + Duration::from_secs(1);
    /// assert_eq!(second.checked_sub(Duration::from_secs(1)), Some(first));
    /// ```
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.0.checked_sub(duration).map(Instant)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    fn add(self, other: Duration) -> Instant {
        Instant(self.0 + other)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, other: Duration) {
        self.0 += other;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    fn sub(self, other: Duration) -> Instant {
        Instant(self.0 - other)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, other: Duration) {
        self.0 -= other;
    }
}

impl Sub<Instant> for Instant {
    type Output = Duration;

    fn sub(self, other: Instant) -> Duration {
        self.duration_since(other)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
