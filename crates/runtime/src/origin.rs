//! Data that runs change in place: where it comes from, and how it begins each run anew.
//!
//! What a static holds is copied when a run first uses it and put back afterwards; what the run left there
//! is forgotten, not dropped. That is sound if the value owns nothing that a run could free: because it is
//! of a type without a destructor, or because it still is what the compiler put there, which is looked up in
//! the program file. A static whose data is neither (one that was used outside of runs, or is set up by a
//! `LazyLock` of the standard library) is left as it is. Anything else that is used in two runs carries data
//! from one to the other, and is refused.

use std::sync::atomic::{AtomicU64, Ordering};

use raddle_core::Site;

use crate::port;
use crate::statics::{self, Place, place};

/// Where the data of an object comes from; a part of the object.
#[derive(Debug, Default)]
pub struct Origin {
    /// One of the constants below; or the last run that used it, if it is not in a static.
    used: AtomicU64,
}

const NEW: u64 = 0;
/// It may own something. No run has this number, nor the next.
const OUTSIDE: u64 = 1;
/// In a static, and between runs what the compiler put there.
const COMPILED: u64 = 2;

impl Origin {
    /// That of an object nobody has used yet.
    pub const fn new() -> Origin {
        Origin { used: AtomicU64::new(NEW) }
    }

    /// Whether the data may have been changed outside of runs, and no run used it since.
    #[inline]
    pub fn is_outside(&self) -> bool {
        self.used.load(Ordering::Relaxed) == OUTSIDE
    }

    /// The data may be changed outside of runs from now on.
    #[inline]
    pub fn used_outside(&self) {
        if !self.is_outside() {
            self.used.store(OUTSIDE, Ordering::Relaxed);
        }
    }

    /// The object, a `kind` of thing, is used for the first time in the current run.
    ///
    /// # Safety
    /// `data` is that of the object, and nobody has a reference to it before this returns.
    ///
    /// # Panics
    /// If an earlier run used it, and it is not in a static.
    pub unsafe fn used_in_run<T: ?Sized>(&self, data: *mut T, kind: &str, site: Site) {
        let used = self.used.load(Ordering::Relaxed);
        match place(data.cast::<u8>().addr()) {
            Place::Static => {
                // SAFETY: it is valid, and nobody has another reference.
                let size = std::mem::size_of_val(unsafe { &*data });
                if !std::mem::needs_drop::<T>() || self.is_as_compiled(data.cast(), size) {
                    // SAFETY: likewise; it is in a static and so still there after the run; and the
                    // value owns nothing that could be freed during the run.
                    unsafe { port::restore_after_run(data.cast(), size) };
                }
            }
            Place::Unknown => {}
            Place::Elsewhere => {
                let here = port::run_number();
                if used != NEW && used != OUTSIDE && used != here {
                    survives(kind, site);
                }
                self.used.store(here, Ordering::Relaxed);
            }
        }
    }

    /// Whether a static holds what the compiler put there.
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
fn survives(kind: &str, site: Site) -> ! {
    panic!(
        "raddle: the {kind} used at {site} was used by an earlier execution, which may have changed what \
         it holds. Every execution must begin alike: make it inside the check, or let it be a static, \
         which raddle resets."
    )
}
