//! A value that is set once, as [`std::sync::OnceLock`].

use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;

use raddle_core::Site;
use raddle_runtime::port;

use super::once::{Course, Start};

/// A value that is set once, as [`std::sync::OnceLock`].
///
/// What was set outside a check is set in it too; what is set in an execution is not set in the
/// next. The value that an execution gave to a static is then forgotten and not dropped: there may
/// still be references to it.
///
/// ```
/// static NAME: raddle::sync::OnceLock<String> = raddle::sync::OnceLock::new();
/// assert!(NAME.get().is_none());
/// assert_eq!(NAME.get_or_init(|| "first".to_owned()), "first");
/// assert_eq!(NAME.set("second".to_owned()), Err("second".to_owned()));
/// ```
pub struct OnceLock<T> {
    course: Course,
    outside: std::sync::OnceLock<T>,
    /// Belongs to the run that `course` is about: written by the one who is at it, and read by others
    /// once it is complete.
    inside: UnsafeCell<Inside<T>>,
}

/// A value that was set in a run.
struct Inside<T> {
    run: u64,
    /// In memory of its own, which stays in place when a later run sets another.
    value: Option<NonNull<T>>,
    _owns: PhantomData<T>,
}

// SAFETY: the values go with it; as for `std::sync::OnceLock`.
unsafe impl<T: Send> Send for OnceLock<T> {}
// SAFETY: outside runs as for `std::sync::OnceLock`. Inside a run `inside` is written by the one to
// whom the engine said to begin and read after that is complete, both on the OS thread of the run;
// `Name` refuses other runs meanwhile. References to a value may be on any thread, so that `T` has to
// be `Sync`, and it may be dropped on another than it was made on, so that it has to be `Send`.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T: UnwindSafe> UnwindSafe for OnceLock<T> {}
impl<T: RefUnwindSafe + UnwindSafe> RefUnwindSafe for OnceLock<T> {}

impl<T> OnceLock<T> {
    /// Nothing is set yet.
    pub const fn new() -> OnceLock<T> {
        OnceLock {
            course: Course::new(),
            outside: std::sync::OnceLock::new(),
            inside: UnsafeCell::new(Inside { run: 0, value: None, _owns: PhantomData }),
        }
    }

    /// The value, if it is set, as [`std::sync::OnceLock::get`].
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        if let Some(value) = self.outside.get() {
            return Some(value);
        }
        self.course.is_complete(Site::caller()).then(|| self.value_in_run())
    }

    /// The value, if it is set: nobody else can have a reference.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if let Some(value) = self.outside.get_mut() {
            return Some(value);
        }
        let mut value = self.inside.get_mut().current()?;
        // SAFETY: the value is there until `self` is dropped or set anew, and `self` is borrowed
        // mutably: nobody else has a reference.
        Some(unsafe { value.as_mut() })
    }

    /// Sets the value, or returns it if one is set, as [`std::sync::OnceLock::set`].
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.initialise(|| value.take().expect("called once"), Site::caller());
        match value {
            None => Ok(()),
            Some(value) => Err(value),
        }
    }

    /// The value, which `f` makes if none is set, as [`std::sync::OnceLock::get_or_init`].
    #[track_caller]
    pub fn get_or_init<F: FnOnce() -> T>(&self, f: F) -> &T {
        self.initialise(f, Site::caller())
    }

    /// The value, if it is set.
    pub fn into_inner(mut self) -> Option<T> {
        self.take()
    }

    /// The value, if it is set; afterwards none is.
    pub fn take(&mut self) -> Option<T> {
        if let Some(value) = self.outside.take() {
            return Some(value);
        }
        let inside = self.inside.get_mut();
        let value = inside.current()?;
        inside.value = None;
        self.course.forget();
        // SAFETY: it was made from a box in `initialise`, and nobody knows of it any more.
        Some(*unsafe { Box::from_raw(value.as_ptr()) })
    }

    /// Whether it is set in the current run or outside of any; looking is no operation.
    pub(super) fn peek(&self) -> Option<&T> {
        if let Some(value) = self.outside.get() {
            return Some(value);
        }
        if !port::active() || !self.course.is_known() {
            return None;
        }
        // SAFETY: the current run knows it, so that nobody on another OS thread writes to it, and
        // nobody on this one is in the middle of that.
        let value = unsafe { (*self.inside.get()).current() }?;
        // SAFETY: as in `value_in_run`.
        Some(unsafe { value.as_ref() })
    }

    pub(super) fn initialise(&self, f: impl FnOnce() -> T, site: Site) -> &T {
        if let Some(value) = self.outside.get() {
            return value;
        }
        match self.course.begin(site) {
            Start::Outside => self.outside.get_or_init(|| {
                let _hold = self.course.hold_outside(site);
                f()
            }),
            Start::Done => self.value_in_run(),
            Start::First(running) => {
                let value = NonNull::from(Box::leak(Box::new(f())));
                let new =
                    Inside { run: port::run_number(), value: Some(value), _owns: PhantomData };
                // SAFETY: nobody else is at it, and nobody reads before it is complete. What an
                // earlier run has set is not dropped, see `OnceLock`.
                unsafe { self.inside.get().write(new) };
                running.complete();
                // SAFETY: as in `value_in_run`.
                unsafe { value.as_ref() }
            }
        }
    }

    /// The value, which is set in the current run.
    fn value_in_run(&self) -> &T {
        // SAFETY: the initialisation is complete, and nobody writes after that.
        let value = unsafe { (*self.inside.get()).current() };
        let value = value.expect("raddle invariant broken: complete without a value");
        // SAFETY: the value stays in place until somebody has `self` for himself, which nobody has
        // while it is borrowed.
        unsafe { value.as_ref() }
    }
}

impl<T> Inside<T> {
    /// What was set in the current run.
    fn current(&self) -> Option<NonNull<T>> {
        self.value.filter(|_| port::active() && self.run == port::run_number())
    }
}

impl<T> Drop for Inside<T> {
    fn drop(&mut self) {
        if let Some(value) = self.value.take() {
            // SAFETY: it was made from a box in `initialise`, and whoever drops this has it for
            // himself, with all references gone.
            drop(unsafe { Box::from_raw(value.as_ptr()) });
        }
    }
}

impl<T> Default for OnceLock<T> {
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
    fn from(value: T) -> OnceLock<T> {
        let lock = OnceLock::new();
        // A value that was there from the beginning needs no operation.
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
