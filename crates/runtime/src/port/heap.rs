//! Memory of the program that a run has to know of.

use std::alloc::Layout;

use super::{PORT, active, flags, run};

/// Notes a block of memory that the program has allocated. To be called by an allocator; does nothing outside a run.
#[inline]
pub fn allocated(address: usize, size: usize) {
    if is_observed() {
        unobserved(|| run().allocated(address, size));
    }
}

/// Notes a block of memory that the program frees. Returns whether the system's allocator is not to free it now: the run
/// frees it at its end. To be called by an allocator; returns false outside a run.
#[inline]
pub fn freed(address: usize, layout: Layout) -> bool {
    is_observed() && unobserved(|| run().freed(address, layout))
}

fn is_observed() -> bool {
    active() && flags().heap && PORT.with(|port| !port.is_unobserved.get())
}

/// Does some work of raddle's own. Memory that it allocates is not the program's.
pub fn unobserved<R>(work: impl FnOnce() -> R) -> R {
    /// Restores what was before, also if the work unwinds because the run is over.
    struct Restore(bool);

    impl Drop for Restore {
        fn drop(&mut self) {
            PORT.with(|port| port.is_unobserved.set(self.0));
        }
    }

    let _restore = Restore(PORT.with(|port| port.is_unobserved.replace(true)));
    work()
}

/// Restores these bytes, as they are now, after the run.
///
/// # Safety
/// They can be read now and written after the run.
pub(crate) unsafe fn restore_after_run(place: *mut u8, size: usize) {
    // SAFETY: promised by the caller.
    unsafe { run().restore_after_run(place, size) }
}
