//! What the wakers of a future signal.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Wake;

use raddle_core::{Site, ThreadId};
use raddle_runtime::port;

use crate::naming::Named;
use crate::sync::Notify;

/// The wakers of one future share a signal, which its thread waits for.
pub(super) struct Signal {
    run: u64,
    /// The place of the future. Wakers do not know from where they are called.
    pub(super) site: Site,
    /// An object of raddle's own, whose end is no end of memory that the program uses.
    notify: ManuallyDrop<Notify>,
    /// The thread of the run that polls the future, or [`NO_THREAD`].
    poller: AtomicU32,
    /// Whether the next wait ends at once, whatever other threads do, as the future has woken itself in a poll. Only
    /// its own thread accesses this, so no access is a step.
    is_due: AtomicBool,
}

/// Returns `name` if the run records names, and an empty string if not.
pub(super) fn recorded(name: impl FnOnce() -> String) -> String {
    if port::records() { name() } else { String::new() }
}

/// The `poller` of a future that is not polled.
const NO_THREAD: u32 = u32::MAX;

impl Signal {
    /// Returns the signal of a future that is called `name`, which is asked in runs that record names. The wakers own
    /// `bytes` of memory until all are dropped.
    pub(super) fn new(name: impl FnOnce() -> String, bytes: usize, site: Site) -> Arc<Signal> {
        let notify = ManuallyDrop::new(Notify::made_at(site));
        notify.call(&recorded(name), site);
        notify.own(bytes, site);
        let poller = AtomicU32::new(NO_THREAD);
        Arc::new(Signal { run: port::run_number(), site, notify, poller, is_due: false.into() })
    }

    /// Lets the next wait end at once.
    pub(super) fn set_due(&self) {
        self.is_due.store(true, Ordering::Relaxed);
    }

    /// Waits until the future has woken itself or another thread wakes it. `spurious` says whether a wait that may block
    /// ends without a reason.
    pub(super) fn wait(&self, spurious: impl FnOnce() -> bool) {
        let is_due = self.is_due.swap(false, Ordering::Relaxed);
        if port::active() {
            // Takes the notification, if there is one: several wake-ups before a poll are one.
            self.notify.wait_at(is_due || spurious(), self.site);
        } else if !is_due {
            self.notify.wait_at(false, self.site);
        }
    }

    /// Begins a poll on the calling thread.
    pub(super) fn begin_poll(&self) -> SignalledPoll<'_> {
        if port::active() {
            self.poller.store(port::thread().0, Ordering::Relaxed);
        }
        SignalledPoll(self)
    }
}

/// A poll of the future of a signal, until it is dropped.
pub(super) struct SignalledPoll<'a>(&'a Signal);

impl Drop for SignalledPoll<'_> {
    fn drop(&mut self) {
        self.0.poller.store(NO_THREAD, Ordering::Relaxed);
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Signal>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Signal>) {
        if self.run == port::run_number() {
            let poller = ThreadId(self.poller.load(Ordering::Relaxed));
            if port::active() && poller == port::thread() {
                return self.set_due();
            }
            return self.notify.notify_at(self.site);
        }
        assert!(
            !port::active(),
            "raddle: a waker was used in another execution than the one that made it. A static or a \
             thread-local has kept it; let each execution make its own."
        );
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        if self.run == port::run_number() {
            self.notify.disown();
        }
    }
}
