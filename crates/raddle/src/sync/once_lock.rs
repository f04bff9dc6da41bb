//! A value that is set once, as [`std::sync::OnceLock`].

use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use raddle_core::Site;
use raddle_runtime::port;

use super::once::{Initialisation, Start};

/// A value that is set once, as [`std::sync::OnceLock`].
///
/// A value that was set outside a check is set inside too. A value that was set in an execution is not set in the next.
/// A static then leaks the value of the execution, because references to the value may still exist.
///
/// ```
/// static NAME: raddle::sync::OnceLock<String> = raddle::sync::OnceLock::new();
/// assert!(NAME.get().is_none());
/// assert_eq!(NAME.get_or_init(|| "first".to_owned()), "first");
/// assert_eq!(NAME.set("second".to_owned()), Err("second".to_owned()));
/// ```
pub struct OnceLock<T> {
    initialisation: Initialisation,
    outside: std::sync::OnceLock<T>,
    in_run: InRun<T>,
}

/// A value that was set in a run.
struct InRun<T> {
    run: AtomicU64,
    /// Null, or made from a box. A later run leaks the value and sets another.
    ///
    /// Written by the thread that initialises, and read after the initialisation is complete.
    value: AtomicPtr<T>,
    _owns: PhantomData<T>,
}

impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Returns a lock without a value.
    #[track_caller]
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            initialisation: Initialisation::new(),
            outside: std::sync::OnceLock::new(),
            in_run: InRun {
                run: AtomicU64::new(0),
                value: AtomicPtr::new(std::ptr::null_mut()),
                _owns: PhantomData,
            },
        }
    }

    /// Returns the value, or `None` if it is not set, as [`std::sync::OnceLock::get`].
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if let Some(value) = self.outside.get() {
            return Some(value);
        }
        self.initialisation.is_complete(Site::caller()).then(|| self.value_in_run())
    }

    /// Returns the value, or `None` if it is not set: the caller has the only reference.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if let Some(value) = self.outside.get_mut() {
            return Some(value);
        }
        // SAFETY: the value is freed only with `self`, which is borrowed mutably, so there is no other reference.
        unsafe { self.in_run.current().as_mut() }
    }

    /// Sets the value, or returns `value` if one is set already, as [`std::sync::OnceLock::set`].
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.initialise(|| value.take().expect("called once"), Site::caller());
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// Returns the value, after setting it to the result of `f` if it is not set, as
    /// [`std::sync::OnceLock::get_or_init`].
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.initialise(f, Site::caller())
    }

    /// Returns the value, or `None` if it is not set.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// Takes the value out. Returns `None` if it is not set.
    pub fn take(&mut self) -> Option<T> {
        if let Some(value) = self.outside.take() {
            return Some(value);
        }
        let value = self.in_run.current();
        if value.is_null() {
            return None;
        }
        *self.in_run.value.get_mut() = std::ptr::null_mut();
        self.initialisation.forget();
        // SAFETY: `initialise` made the pointer from a box, and the only copy of the pointer has been removed.
        Some(*unsafe { Box::from_raw(value) })
    }

    /// Returns the value that is set in the current run or outside any. This is not an operation of the program.
    pub(super) fn peek(&self) -> Option<&T> {
        let is_used = port::active() && self.initialisation.is_known();
        self.outside.get().or_else(|| if is_used { self.current() } else { None })
    }

    pub(super) fn initialise(&self, f: impl FnOnce() -> T, site: Site) -> &T {
        if let Some(value) = self.outside.get() {
            return value;
        }
        match self.initialisation.begin(site) {
            Start::Outside => self.outside.get_or_init(|| {
                let _hold = self.initialisation.hold_outside(site);
                f()
            }),
            Start::Done => self.value_in_run(),
            Start::First(running) => {
                let value = Box::into_raw(Box::new(f()));
                // The value of an earlier run is leaked, see `OnceLock`.
                self.in_run.value.store(value, Ordering::Relaxed);
                self.in_run.run.store(port::run_number(), Ordering::Relaxed);
                running.complete();
                self.value_in_run()
            }
        }
    }

    /// Returns the value, which is set in the current run.
    fn value_in_run(&self) -> &T {
        self.current().expect("raddle invariant broken: complete without a value")
    }

    /// Returns the value, if it is set in the current run.
    fn current(&self) -> Option<&T> {
        // SAFETY: the pointer is null or made from a box, which is freed only by a caller with a mutable reference.
        unsafe { self.in_run.current().as_ref() }
    }
}

impl<T> InRun<T> {
    /// Returns the value that was set in the current run, or null.
    fn current(&self) -> *mut T {
        if port::active() && self.run.load(Ordering::Relaxed) == port::run_number() {
            self.value.load(Ordering::Relaxed)
        } else {
            std::ptr::null_mut()
        }
    }
}

impl<T> Drop for InRun<T> {
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: `initialise` made the pointer from a box, and all references have ended.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

impl<T> Default for OnceLock<T> {
    #[track_caller]
    fn default() -> OnceLock<T> {
        OnceLock::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_tuple("OnceLock");
        match self.peek() {
            Some(value) => text.field(value),
            None => text.field(&format_args!("<uninit>")),
        };
        text.finish()
    }
}

impl<T: Clone> Clone for OnceLock<T> {
    #[track_caller]
    fn clone(&self) -> OnceLock<T> {
        match self.get() {
            Some(value) => OnceLock::from(value.clone()),
            None => OnceLock::new(),
        }
    }
}

impl<T> From<T> for OnceLock<T> {
    #[track_caller]
    fn from(value: T) -> OnceLock<T> {
        let lock = OnceLock::new();
        // A value that is there from the beginning needs no operation.
        if lock.outside.set(value).is_err() {
            unreachable!("a new lock has no value");
        }
        lock
    }
}

impl<T: PartialEq> PartialEq for OnceLock<T> {
    #[track_caller]
    fn eq(&self, other: &OnceLock<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: Eq> Eq for OnceLock<T> {}
