//! Plain shared memory.

use std::sync::{Mutex, PoisonError};

use raddle_core::{ObjectId, Site};
use raddle_engine::Initial;
use raddle_runtime::Origin;
use raddle_runtime::port::{self, Name};

use crate::naming::Named;

mod access;

pub use access::Access;

/// A plain shared variable, for modelling programs that access memory without synchronisation.
///
/// Two unordered accesses by different threads, one of them a write, are a data race. A race is a failure, unless
/// [`Config::races`](crate::Config::races) is off. The accesses are scheduling points under
/// [`Granularity::All`](crate::Granularity::All).
///
/// ```
/// let x = raddle::cell::Shared::new(1);
/// x.set(x.get() + 1);
/// assert_eq!(x.get(), 2);
/// ```
#[derive(Debug, Default)]
pub struct Shared<T> {
    name: Name,
    /// Never contended inside a run. Outside runs it makes accesses atomic.
    value: Mutex<T>,
    origin: Origin,
}

impl<T: Copy> Shared<T> {
    /// Returns a variable that holds `value`.
    ///
    /// ```
    /// static COUNT: raddle::cell::Shared<u32> = raddle::cell::Shared::new(7);
    /// assert_eq!(COUNT.get(), 7);
    /// ```
    #[track_caller]
    pub const fn new(value: T) -> Shared<T> {
        Shared { name: Name::new(), value: Mutex::new(value), origin: Origin::new() }
    }

    /// Returns the value.
    ///
    /// ```
    /// assert_eq!(raddle::cell::Shared::new(7).get(), 7);
    /// ```
    #[track_caller]
    pub fn get(&self) -> T {
        self.touch(false, Site::caller());
        *self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the value.
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
        if port::touch(&self.name, || self.begin(site), writes, site).is_none() {
            self.origin.used_outside();
        }
    }

    /// Prepares the variable for its first use in the current run.
    #[cold]
    fn begin(&self, site: Site) {
        port::declares::<Self>();
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: this thread holds the mutex, so there is no other reference to the value.
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

/// An [`std::cell::UnsafeCell`] that reports accesses to raddle.
///
/// Two unordered accesses by different threads, one of them a write, are a data race, which is a failure. An access by
/// [`with`](UnsafeCell::with) lasts until the function returns, and one by [`reading`](UnsafeCell::reading) until the
/// [`Access`] is dropped. [`get`](UnsafeCell::get) is an access at that moment, so use its pointer at once.
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
///     // SAFETY: raddle runs one thread at a time.
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
    /// Returns a cell that holds `value`.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// assert_eq!(cell.into_inner(), 7);
    /// ```
    #[track_caller]
    pub const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell {
            name: Name::new(),
            origin: Origin::new(),
            value: std::cell::UnsafeCell::new(value),
        }
    }

    /// Returns the value.
    ///
    /// ```
    /// assert_eq!(raddle::cell::UnsafeCell::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Returns a pointer to the value. This counts as a write, because the pointer can be written through. Use
    /// [`with`](UnsafeCell::with) for a read.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// // SAFETY: there is no other reference to the cell.
    /// unsafe { *cell.get() += 1 };
    /// assert_eq!(cell.into_inner(), 8);
    /// ```
    #[track_caller]
    pub fn get(&self) -> *mut T {
        self.touch(true, Site::caller());
        self.value.get()
    }

    /// Returns the value: the caller has the only reference.
    ///
    /// ```
    /// let mut cell = raddle::cell::UnsafeCell::new(7);
    /// *cell.get_mut() += 1;
    /// assert_eq!(cell.into_inner(), 8);
    /// ```
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Calls `read` with a pointer for reading. The access lasts until `read` returns.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// // SAFETY: there is no other reference to the cell.
    /// assert_eq!(cell.with(|number| unsafe { *number }), 7);
    /// ```
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        let _access = self.access(false, Site::caller());
        read(self.value.get())
    }

    /// Calls `write` with a pointer for writing. The access lasts until `write` returns.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// // SAFETY: there is no other reference to the cell.
    /// cell.with_mut(|number| unsafe { *number += 1 });
    /// assert_eq!(cell.into_inner(), 8);
    /// ```
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        let _access = self.access(true, Site::caller());
        write(self.value.get())
    }

    /// Returns a pointer for reading, and the access, which lasts until it is dropped.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// let (number, _access) = cell.reading();
    /// // SAFETY: there is no other reference to the cell.
    /// assert_eq!(unsafe { *number }, 7);
    /// ```
    #[track_caller]
    pub fn reading(&self) -> (*const T, Access) {
        let access = self.access(false, Site::caller());
        (self.value.get(), access)
    }

    /// Returns a pointer for writing, and the access, which lasts until it is dropped.
    ///
    /// ```
    /// let cell = raddle::cell::UnsafeCell::new(7);
    /// let (number, access) = cell.writing();
    /// // SAFETY: there is no other reference to the cell.
    /// unsafe { *number += 1 };
    /// drop(access);
    /// assert_eq!(cell.into_inner(), 8);
    /// ```
    #[track_caller]
    pub fn writing(&self) -> (*mut T, Access) {
        let access = self.access(true, Site::caller());
        (self.value.get(), access)
    }

    fn access(&self, writes: bool, site: Site) -> Access {
        Access::begin(self.touch(writes, site), writes, site)
    }

    fn touch(&self, writes: bool, site: Site) -> Option<ObjectId> {
        let object = port::touch(&self.name, || self.begin(site), writes, site);
        if object.is_none() {
            self.origin.used_outside();
        }
        object
    }

    /// Prepares the cell for its first use in the current run.
    #[cold]
    fn begin(&self, site: Site) {
        port::declares::<Self>();
        // SAFETY: the threads of a run run one at a time, and none of them has a pointer to the value yet. Code outside the
        // run that used an older pointer now would violate the contract of `UnsafeCell`.
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
    #[track_caller]
    fn from(value: T) -> UnsafeCell<T> {
        UnsafeCell::new(value)
    }
}
