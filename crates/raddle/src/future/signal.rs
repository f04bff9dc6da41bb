//! What the wakers of a future signal.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::Wake;

use raddle_core::Site;
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
}

impl Signal {
    /// Returns the signal of a future that is called `name`. The wakers own `bytes` of memory until all are dropped.
    pub(super) fn new(name: &str, bytes: usize, site: Site) -> Arc<Signal> {
        let notify = ManuallyDrop::new(Notify::new());
        notify.call(name, site);
        notify.own(bytes, site);
        Arc::new(Signal { run: port::run_number(), site, notify })
    }

    /// Waits for the signal. Returns at once if `is_spurious`.
    pub(super) fn wait(&self, is_spurious: bool) {
        self.notify.wait_at(is_spurious, self.site);
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Signal>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Signal>) {
        if self.run == port::run_number() {
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
