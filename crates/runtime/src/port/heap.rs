//! Memory of the program that a run has to know of.

use super::{Entries, port};

/// The program has allocated memory. To be called by an allocator; nothing outside a run.
#[inline]
pub fn allocated(address: usize, size: usize) {
    // SAFETY: the entry may be called with any block.
    note(|run, entries| unsafe { (entries.allocated)(run, address, size) });
}

/// The program frees memory. To be called by an allocator; nothing outside a run.
#[inline]
pub fn freed(address: usize) {
    // SAFETY: the entry may be called with any address.
    note(|run, entries| unsafe { (entries.freed)(run, address) });
}

/// Tells the run of memory, unless it is the run's own for doing so.
#[inline]
fn note(tell: impl FnOnce(*const (), &'static Entries)) {
    let port = port();
    if port.epoch.get() == 0 || !port.ways.get().heap || port.is_noting.replace(true) {
        return;
    }
    let (run, entries) = port.get();
    tell(run, entries);
    port.is_noting.set(false);
}

/// Does something of raddle's own for which memory may be needed that is not the program's.
pub(crate) fn unnoted<R>(work: impl FnOnce() -> R) -> R {
    let before = port().is_noting.replace(true);
    let result = work();
    port().is_noting.set(before);
    result
}

/// Puts back after the run what is now at `place`.
///
/// # Safety
/// There are so many bytes that can be read, and it does no harm to put them back after the run.
pub(crate) unsafe fn keep(place: *mut u8, size: usize) {
    let (run, entries) = port().get();
    // SAFETY: both were set together by `connect`, for a run that has not ended; the caller promises the
    // rest.
    unsafe { (entries.keep)(run, place, size) }
}
