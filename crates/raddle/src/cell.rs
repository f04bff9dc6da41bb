//! Plain shared memory.

use std::sync::{Mutex, PoisonError};

use raddle_core::Site;
use raddle_engine::Initial;
use raddle_runtime::Origin;
use raddle_runtime::port::{self, Name};

use crate::naming::Named;

/// A plain shared variable, for modelling programs that access memory without synchronisation.
///
/// Two accesses by different threads that nothing orders, one of them a write, are a data race: a
/// failure, unless [`Config::races`](crate::Config::races) says otherwise. Its accesses are scheduling
/// points under [`Granularity::All`](crate::Granularity::All).
///
/// ```
/// let x = raddle::cell::Shared::new(1);
/// x.set(x.get() + 1);
/// assert_eq!(x.get(), 2);
/// ```
#[derive(Debug, Default)]
pub struct Shared<T> {
    name: Name,
    /// Never contended inside a run; outside one it keeps the accesses whole.
    value: Mutex<T>,
    origin: Origin,
}

impl<T: Copy> Shared<T> {
    /// A variable that holds `value`.
    ///
    /// ```
    /// static COUNT: raddle::cell::Shared<u32> = raddle::cell::Shared::new(7);
    /// assert_eq!(COUNT.get(), 7);
    /// ```
    pub const fn new(value: T) -> Shared<T> {
        Shared { name: Name::new(), value: Mutex::new(value), origin: Origin::new() }
    }

    /// Reads it.
    ///
    /// ```
    /// assert_eq!(raddle::cell::Shared::new(7).get(), 7);
    /// ```
    #[track_caller]
    pub fn get(&self) -> T {
        self.touch(false, Site::caller());
        *self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes it.
    ///
    /// ```
    /// let number = raddle::cell::Shared::new(7);
    /// number.set(8);
    /// assert_eq!(number.get(), 8);
    /// ```
    #[track_caller]
    pub fn set(&self, value: T) {
        self.touch(true, Site::caller());
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
    }

    fn touch(&self, writes: bool, site: Site) {
        if !port::touch(&self.name, || self.begin(site), writes, site) {
            self.origin.used_outside();
        }
    }

    /// The run under way uses the variable for the first time.
    #[cold]
    fn begin(&self, site: Site) {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the lock is held, and the reference is used for nothing else.
        unsafe { self.origin.used_in_run(&mut *value, "Shared", site) };
    }
}

impl<T: Copy> Named for Shared<T> {
    fn call(&self, name: &str, site: Site) {
        let begin = || {
            self.begin(site);
            Some(Initial::Cell)
        };
        port::name_object(&self.name, begin, name, site);
    }
}

/// [`std::cell::UnsafeCell`] that tells raddle of accesses to it.
///
/// Two accesses by different threads that nothing orders, one of them a write, are a data race: a
/// failure. Where the pointer is taken counts as the access; use it at once.
///
/// ```
/// use raddle::cell::UnsafeCell;
/// use raddle::sync::Arc;
/// use raddle::thread;
///
/// struct Counter(UnsafeCell<u32>);
/// // SAFETY: wrong on purpose.
/// unsafe impl Sync for Counter {}
///
/// let report = raddle::Config::new().run(|| {
///     let counter = Arc::new(Counter(UnsafeCell::new(0)));
///     let other = {
///         let counter = counter.clone();
///         // SAFETY: raddle runs one thread at a time.
///         thread::spawn(move || counter.0.with_mut(|number| unsafe { *number += 1 }))
///     };
///     // SAFETY: as above.
///     counter.0.with_mut(|number| unsafe { *number += 1 });
///     other.join().unwrap();
/// });
/// assert!(matches!(report.failure().unwrap().finding, raddle::Finding::Race { .. }));
/// ```
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized> {
    name: Name,
    origin: Origin,
    value: std::cell::UnsafeCell<T>,
}

impl<T> UnsafeCell<T> {
    /// A cell that holds `value`.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// assert_eq!(cell.into_inner(), 7);
    /// ```
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell {
            name: Name::new(),
            origin: Origin::new(),
            value: std::cell::UnsafeCell::new(value),
        }
    }

    /// The value.
    ///
    /// ```
    /// assert_eq!(raddle::cell::UnsafeCell::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// A pointer to the value. It counts as a write, because it could be used for one; for a read
    /// say [`with`](UnsafeCell::with).
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// // SAFETY: nobody else has the cell.
    /// unsafe { *cell.get() += 1 };
    /// assert_eq!(cell.into_inner(), 8);
    /// ```
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.touch(true, Site::caller());
        self.value.get()
    }

    /// The value, by a reference that nobody else has.
    ///
    /// ```
    /// let mut cell = raddle::cell::UnsafeCell::new(7);
    /// *cell.get_mut() += 1;
    /// assert_eq!(cell.into_inner(), 8);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Hands a pointer to read from to `read`.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// // SAFETY: nobody else has the cell.
    /// assert_eq!(cell.with(|number| unsafe { *number }), 7);
    /// ```
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        self.touch(false, Site::caller());
        read(self.value.get())
    }

    /// Hands a pointer to write to to `write`.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// // SAFETY: nobody else has the cell.
    /// cell.with_mut(|number| unsafe { *number += 1 });
    /// assert_eq!(cell.into_inner(), 8);
    /// ```
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        self.touch(true, Site::caller());
        write(self.value.get())
    }

    fn touch(&self, writes: bool, site: Site) {
        if !port::touch(&self.name, || self.begin(site), writes, site) {
            self.origin.used_outside();
        }
    }

    /// The run under way uses the cell for the first time.
    #[cold]
    fn begin(&self, site: Site) {
        // SAFETY: threads of a run go one at a time, and this one has no pointer to the value yet that it
        // could be using now. One of a run before, or of outside, would break the promise of whoever
        // has it not to use it while others do.
        unsafe { self.origin.used_in_run(self.value.get(), "UnsafeCell", site) };
    }
}

impl<T: ?Sized> Named for UnsafeCell<T> {
    fn call(&self, name: &str, site: Site) {
        let begin = || {
            self.begin(site);
            Some(Initial::Cell)
        };
        port::name_object(&self.name, begin, name, site);
    }
}

impl<T> From<T> for UnsafeCell<T> {
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}
