//! A cell whose accesses last.

use raddle::cell::Access;

/// An [`std::cell::UnsafeCell`] whose accesses are checked for data races. An access lasts until its function returns, or
/// its pointer is dropped.
///
/// ```
/// use loom::cell::UnsafeCell;
///
/// loom::model(|| {
///     let cell = UnsafeCell::new(7);
///     // SAFETY: there is no other reference to the cell.
///     cell.with_mut(|number| unsafe { *number += 1 });
///     assert_eq!(cell.into_inner(), 8);
/// });
/// ```
#[derive(Debug, Default)]
pub struct UnsafeCell<T: ?Sized>(raddle::cell::UnsafeCell<T>);

impl<T> UnsafeCell<T> {
    /// Returns a cell that holds `data`.
    #[track_caller]
    pub const fn new(data: T) -> UnsafeCell<T> {
        UnsafeCell(raddle::cell::UnsafeCell::new(data))
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T: ?Sized> UnsafeCell<T> {
    /// Calls `f` with a pointer for reading.
    #[track_caller]
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        self.0.with(f)
    }

    /// Calls `f` with a pointer for writing.
    #[track_caller]
    pub fn with_mut<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        self.0.with_mut(f)
    }

    /// Returns a pointer for reading. The access lasts until the pointer is dropped.
    #[track_caller]
    pub fn get(&self) -> ConstPtr<T> {
        let (pointer, access) = self.0.reading();
        ConstPtr { pointer, _access: access }
    }

    /// Returns a pointer for writing. The access lasts until the pointer is dropped.
    #[track_caller]
    pub fn get_mut(&self) -> MutPtr<T> {
        let (pointer, access) = self.0.writing();
        MutPtr { pointer, _access: access }
    }
}

impl<T> From<T> for UnsafeCell<T> {
    #[track_caller]
    fn from(data: T) -> UnsafeCell<T> {
        UnsafeCell::new(data)
    }
}

/// A pointer to the value of an [`UnsafeCell`] for reading.
#[derive(Debug)]
pub struct ConstPtr<T: ?Sized> {
    pointer: *const T,
    _access: Access,
}

impl<T: ?Sized> ConstPtr<T> {
    /// Returns the value.
    ///
    /// # Safety
    /// The cell exists, and no other thread writes the value meanwhile.
    pub unsafe fn deref(&self) -> &T {
        // SAFETY: promised by the caller.
        unsafe { &*self.pointer }
    }

    /// Calls `f` with the pointer.
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*const T) -> R,
    {
        f(self.pointer)
    }
}

/// A pointer to the value of an [`UnsafeCell`] for writing.
#[derive(Debug)]
pub struct MutPtr<T: ?Sized> {
    pointer: *mut T,
    _access: Access,
}

impl<T: ?Sized> MutPtr<T> {
    /// Returns the value.
    ///
    /// # Safety
    /// The cell exists, and there is no other reference to the value.
    #[expect(clippy::mut_from_ref, reason = "stands for a raw pointer, as in Loom")]
    pub unsafe fn deref(&self) -> &mut T {
        // SAFETY: promised by the caller.
        unsafe { &mut *self.pointer }
    }

    /// Calls `f` with the pointer.
    pub fn with<F, R>(&self, f: F) -> R
    where
        F: FnOnce(*mut T) -> R,
    {
        f(self.pointer)
    }
}
