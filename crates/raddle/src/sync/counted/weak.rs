//! Weak references.

use std::fmt;
use std::sync::Weak as Real;

use raddle_core::Site;

use super::Arc;
use super::counts::Handle;

/// A reference that does not keep the value alive, as [`std::sync::Weak`].
///
/// ```
/// use raddle::sync::counted::{Arc, Weak};
///
/// let strong = Arc::new(7);
/// let weak: Weak<i32> = Arc::downgrade(&strong);
/// assert_eq!(weak.upgrade().as_deref(), Some(&7));
/// drop(strong);
/// assert!(weak.upgrade().is_none());
/// ```
pub struct Weak<T: ?Sized> {
    value: Real<T>,
    handle: Handle,
}

impl<T> Weak<T> {
    /// Returns a reference to no value, as [`std::sync::Weak::new`].
    ///
    /// ```
    /// assert!(raddle::sync::counted::Weak::<u8>::new().upgrade().is_none());
    /// ```
    pub const fn new() -> Weak<T> {
        Weak { value: Real::new(), handle: Handle::uncounted() }
    }
}

impl<T: ?Sized> Weak<T> {
    /// Returns a reference that has been counted.
    pub(super) fn counted(value: Real<T>, handle: Handle) -> Weak<T> {
        Weak { value, handle }
    }

    /// Drops the reference without changing the count.
    pub(super) fn forget_count(mut self) {
        self.handle = Handle::uncounted();
    }

    /// Returns a strong reference, or `None` if all have been dropped, as [`std::sync::Weak::upgrade`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let strong = Arc::new(7);
    /// let weak = Arc::downgrade(&strong);
    /// assert_eq!(weak.upgrade(), Some(strong));
    /// assert_eq!(weak.upgrade(), None);
    /// ```
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        match self.handle.here() {
            Some(counts) if !counts.upgrade() => return None,
            Some(_) | None => {}
        }
        let value = Some(self.value.upgrade()?);
        Some(Arc { value, handle: self.handle.share(Site::caller()) })
    }

    /// Returns the number of strong references, as [`std::sync::Weak::strong_count`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let strong = Arc::new(7);
    /// let weak = Arc::downgrade(&strong);
    /// assert_eq!(weak.strong_count(), 1);
    /// drop(strong);
    /// assert_eq!(weak.strong_count(), 0);
    /// ```
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        match self.handle.here() {
            Some(counts) => counts.strong(),
            None => self.value.strong_count(),
        }
    }

    /// Returns the number of weak references, or 0 if there is no strong one, as
    /// [`std::sync::Weak::weak_count`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let strong = Arc::new(7);
    /// let weak = Arc::downgrade(&strong);
    /// assert_eq!(weak.clone().weak_count(), 2);
    /// drop(strong);
    /// assert_eq!(weak.weak_count(), 0);
    /// ```
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        match self.handle.here() {
            Some(counts) => counts.weak_seen_by_weak(),
            None => self.value.weak_count(),
        }
    }

    /// Returns whether both refer to the same value, as [`std::sync::Weak::ptr_eq`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let strong = Arc::new(7);
    /// assert!(Arc::downgrade(&strong).ptr_eq(&Arc::downgrade(&strong)));
    /// ```
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        self.value.ptr_eq(&other.value)
    }

    /// Returns a pointer to the value, which may have been dropped, as [`std::sync::Weak::as_ptr`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let strong = Arc::new(7);
    /// assert_eq!(Arc::downgrade(&strong).as_ptr(), Arc::as_ptr(&strong));
    /// ```
    pub fn as_ptr(&self) -> *const T {
        self.value.as_ptr()
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        if let Some(counts) = self.handle.here() {
            counts.add_weak();
        }
        Weak { value: self.value.clone(), handle: self.handle.share(Site::caller()) }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    fn drop(&mut self) {
        if let Some(counts) = self.handle.here() {
            counts.drop_weak(self.handle.site);
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}
