//! Data that runs change in place: where it is stored, and how it is reset between runs.
//!
//! The value of a static is copied when a run first uses it and restored after the run. The value that the run left is
//! overwritten without being dropped. This is sound if the value owns nothing that a run could free. That holds for a type
//! without a destructor, and for a value that is still the compiled one, as the program file shows. Other statics keep
//! their value: those used outside runs, and those set by a `LazyLock` of the standard library. Any other object that two
//! runs use would carry data from one to the other, and is refused.

use std::sync::atomic::{AtomicU64, Ordering};

use raddle_core::Site;

use crate::port;
use crate::statics::{self, Place, place};

/// The origin of the data of an object, stored in the object.
#[derive(Debug, Default)]
pub struct Origin {
    /// One of the constants below, or the last run that used the object, if it is not in a static.
    used: AtomicU64,
}

const NEW: u64 = 0;
/// The data was used outside runs, so it may own something. No run has the number 1 or 2.
const OUTSIDE: u64 = 1;
/// The data is in a static and, between runs, has its compiled value.
const COMPILED: u64 = 2;

impl Origin {
    /// Returns the origin of an object that has not been used.
    pub const fn new() -> Origin {
        Origin { used: AtomicU64::new(NEW) }
    }

    /// Returns whether the data may have been changed outside runs and no run has used it since.
    #[inline]
    pub fn is_outside(&self) -> bool {
        self.used.load(Ordering::Relaxed) == OUTSIDE
    }

    /// Notes that the data is used outside runs, where it may change.
    #[inline]
    pub fn used_outside(&self) {
        if !self.is_outside() {
            self.used.store(OUTSIDE, Ordering::Relaxed);
        }
    }

    /// Notes the first use of the object in the current run. `kind` is its type, for messages.
    ///
    /// # Safety
    /// `data` is the data of the object, and there is no reference to it before this function returns.
    ///
    /// # Panics
    /// Panics if an earlier run used the object and it is not in a static.
    pub unsafe fn used_in_run<T: ?Sized>(&self, data: *mut T, kind: &str, site: Site) {
        let used = self.used.load(Ordering::Relaxed);
        match place(data.cast::<u8>().addr()) {
            Place::Static => {
                // SAFETY: the caller promises that `data` is valid and that there is no other reference.
                let size = std::mem::size_of_val(unsafe { &*data });
                if !std::mem::needs_drop::<T>() || self.is_as_compiled(data.cast(), size) {
                    // SAFETY: `data` is valid and in a static, so it can still be written after the run. The value
                    // owns nothing that the run could free.
                    unsafe { port::restore_after_run(data.cast(), size) };
                }
            }
            Place::Unknown => {}
            Place::Elsewhere => {
                let here = port::run_number();
                if used != NEW && used != OUTSIDE && used != here {
                    used_by_earlier_run(kind, site);
                }
                self.used.store(here, Ordering::Relaxed);
            }
        }
    }

    /// Returns whether a static has its compiled value.
    fn is_as_compiled(&self, data: *const u8, size: usize) -> bool {
        match self.used.load(Ordering::Relaxed) {
            COMPILED => true,
            NEW => {
                let is = statics::is_as_compiled(data, size);
                self.used.store(if is { COMPILED } else { OUTSIDE }, Ordering::Relaxed);
                is
            }
            _ => false,
        }
    }
}

#[cold]
fn used_by_earlier_run(kind: &str, site: Site) -> ! {
    panic!(
        "raddle: the {kind} used at {site} was used by an earlier execution, which may have changed its \
         value. Every execution must begin in the same state: create the {kind} inside the check, or make \
         it a static, which raddle resets."
    )
}
