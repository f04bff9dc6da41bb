//! Notifications that may be spurious.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A notification for one thread, which may wake up without one once.
///
/// ```
/// use loom::sync::Notify;
///
/// loom::model(|| {
///     let notify = Notify::new();
///     notify.notify();
///     notify.wait();
/// });
/// ```
#[derive(Debug, Default)]
pub struct Notify {
    notify: raddle::sync::Notify,
    is_waiting: AtomicBool,
    was_spurious: AtomicBool,
}

impl Notify {
    /// Returns a notification that is not set.
    #[track_caller]
    pub fn new() -> Notify {
        Notify::default()
    }

    /// Sets the notification, and wakes the thread that waits for it.
    #[track_caller]
    pub fn notify(&self) {
        self.notify.notify();
    }

    /// Waits for the notification and takes it. In some executions the first wait returns without one.
    ///
    /// # Panics
    /// Panics if another thread waits.
    #[track_caller]
    pub fn wait(&self) {
        let was_waiting = self.is_waiting.swap(true, SeqCst);
        assert!(!was_waiting, "only a single thread may wait on `Notify`");
        if self.was_spurious.load(SeqCst) {
            self.notify.wait();
        } else if raddle::drop_in::wait_spuriously(&self.notify) {
            self.was_spurious.store(true, SeqCst);
        }
        self.is_waiting.store(false, SeqCst);
    }
}
