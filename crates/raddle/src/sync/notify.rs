//! A notification for one waiting thread.

use std::fmt;
use std::sync::{Condvar, Mutex, PoisonError};

use raddle_core::{Action, Effect, ObjectId, Op, ParkOp, Site};
use raddle_engine::Initial;
use raddle_runtime::port::{self, Kind, Name};

use crate::naming::Named;

/// A notification: [`wait`](Notify::wait) blocks until [`notify`](Notify::notify) was called, and takes the
/// notification. Several calls of `notify` before that are one notification.
///
/// What happened before a call of `notify` happens before the return of the `wait` that takes the notification.
///
/// ```
/// use raddle::sync::{Arc, Notify};
///
/// let report = raddle::Config::new().run(|| {
///     let is_ready = Arc::new(Notify::new());
///     let other = {
///         let is_ready = is_ready.clone();
///         raddle::thread::spawn(move || is_ready.notify())
///     };
///     is_ready.wait();
///     other.join().unwrap();
/// });
/// assert!(report.failure().is_none());
/// ```
#[derive(Default)]
pub struct Notify {
    name: Name,
    /// Whether there is a notification, outside runs.
    outside: Mutex<bool>,
    notified: Condvar,
}

impl Notify {
    /// Returns a notification that is not set.
    ///
    /// ```
    /// let notify = raddle::sync::Notify::new();
    /// notify.notify();
    /// notify.wait();
    /// ```
    #[track_caller]
    pub const fn new() -> Notify {
        Notify::made_at(Site::caller())
    }

    /// [`new`](Notify::new) at `made`.
    pub(crate) const fn made_at(made: Site) -> Notify {
        Notify { name: Name::made_at(made), outside: Mutex::new(false), notified: Condvar::new() }
    }

    /// Sets the notification, and wakes the thread that waits for it.
    ///
    /// ```
    /// let notify = raddle::sync::Notify::new();
    /// notify.notify();
    /// notify.notify();
    /// notify.wait();
    /// ```
    #[track_caller]
    pub fn notify(&self) {
        self.notify_at(Site::caller());
    }

    /// Waits for the notification and takes it. May return without one if
    /// [`Config::spurious`](crate::Config::spurious) allows it.
    ///
    /// ```
    /// let notify = raddle::sync::Notify::new();
    /// notify.notify();
    /// notify.wait();
    /// ```
    #[track_caller]
    pub fn wait(&self) {
        let site = Site::caller();
        self.wait_at(port::spurious(site), site);
    }

    /// [`notify`](Notify::notify) at `site`.
    pub(crate) fn notify_at(&self, site: Site) {
        if self.operate(ParkOp::Unpark, site).is_none() {
            *self.outside.lock().unwrap_or_else(PoisonError::into_inner) = true;
            self.notified.notify_one();
        }
    }

    /// [`wait`](Notify::wait) at `site`. Returns at once if `timed`, with or without a notification.
    pub(crate) fn wait_at(&self, timed: bool, site: Site) {
        if self.operate(ParkOp::Park { timed }, site).is_none() {
            let is_set = self.outside.lock().unwrap_or_else(PoisonError::into_inner);
            let is_set = self.notified.wait_while(is_set, |is_set| !*is_set);
            *is_set.unwrap_or_else(PoisonError::into_inner) = false;
        }
    }

    fn operate(&self, op: ParkOp, site: Site) -> Option<Effect> {
        let op = Op::new(ObjectId::NONE, Action::Park(op));
        port::operate(Kind::Any, &self.name, || self.begin(), op, site)
    }

    fn begin(&self) -> Option<Initial> {
        port::declares::<Self>();
        Some(Initial::Notify)
    }

    /// Notes that the notification owns `bytes` of memory, see [`port::own`].
    pub(crate) fn own(&self, bytes: usize, site: Site) {
        port::own(&self.name, || self.begin(), bytes, site);
    }

    /// Notes that the notification owns no memory any more.
    pub(crate) fn disown(&self) {
        port::disown(&self.name);
    }
}

impl Named for Notify {
    fn call(&self, name: &str, site: Site) {
        port::name_object(&self.name, || self.begin(), name, site);
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify").finish_non_exhaustive()
    }
}
