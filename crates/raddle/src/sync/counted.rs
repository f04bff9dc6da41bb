//! Reference counting whose changes are operations, as [`std::sync::Arc`] and [`std::sync::Weak`].
//!
//! [`raddle::sync::Arc`](crate::sync::Arc) is that of `std`: cloning and dropping it are no operations. Most programs need
//! no more. A program that *reads* the counts depends on the order of clones and drops: by [`Arc::strong_count`],
//! [`Arc::get_mut`], [`Arc::try_unwrap`], [`Arc::into_inner`], [`Arc::make_mut`] or [`Weak::upgrade`]. With the types of
//! this module, raddle explores these orders:
//!
//! ```
//! use raddle::sync::counted::Arc;
//! use raddle::thread;
//!
//! let report = raddle::Config::new().strategy("dpor").run(|| {
//!     let mine = Arc::new(7);
//!     let theirs = Arc::clone(&mine);
//!     let other = thread::spawn(move || Arc::try_unwrap(theirs).is_ok());
//!     let is_mine = Arc::try_unwrap(mine).is_ok();
//!     let is_theirs = other.join().unwrap();
//!     assert!(is_mine || is_theirs, "the value is lost"); // use `into_inner`
//! });
//! assert!(report.failure().is_some());
//! ```
//!
//! Inside a check each clone, drop, downgrade, upgrade and read of a count is what it is in `std`: one or more operations on
//! two atomic variables, the strong count and the weak count, with the orderings of `std`. This makes more executions
//! necessary, so it is optional. Two drops conflict, because it matters which is the last.
//!
//! - A value that was created outside a check has no counts inside: cloning and dropping its references are no
//!   operations. The same holds for a value of one execution that is used in another or outside.
//! - An `Arc<T>` is not coerced to an `Arc<dyn Trait>` or `Arc<[T]>`, which stable Rust allows for `std`'s type only. Use
//!   [`Arc::from_std`] or `From<Box<T>>`. It cannot be the type of `self` in a method either.
//! - A `Weak` has no `into_raw` and `from_raw`.
//! - A report shows the drop of a reference with the line where the reference was created, because a destructor has no
//!   line of its own.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc as Real;

use raddle_core::Site;

use counts::{Handle, Owner};
use release::{Release, Stage};

mod convert;
mod counts;
mod raw;
mod release;
mod traits;
mod weak;

pub use weak::Weak;

/// A counted reference to a shared value, as [`std::sync::Arc`].
///
/// ```
/// use raddle::sync::counted::Arc;
///
/// let first = Arc::new(7);
/// let second = first.clone();
/// assert_eq!((*second, Arc::strong_count(&first)), (7, 2));
/// ```
pub struct Arc<T: ?Sized> {
    /// `None` only while the reference is dropped.
    ///
    /// Invariant: in the run of the counts, a reference of `std` is cloned or dropped directly after the count is changed.
    /// So what the counts allow is possible. The memory is managed by this reference alone.
    value: Option<Real<T>>,
    handle: Handle,
}

impl<T> Arc<T> {
    /// Returns the first reference to `value`, as [`std::sync::Arc::new`].
    ///
    /// ```
    /// assert_eq!(*raddle::sync::counted::Arc::new(7), 7);
    /// ```
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::count(Real::new(value), Site::caller())
    }

    /// Returns the first reference to a value that refers to itself, as [`std::sync::Arc::new_cyclic`].
    ///
    /// ```
    /// use raddle::sync::counted::{Arc, Weak};
    ///
    /// struct Node(Weak<Node>);
    ///
    /// let node = Arc::new_cyclic(|me| {
    ///     assert!(me.upgrade().is_none());
    ///     Node(me.clone())
    /// });
    /// assert!(Arc::ptr_eq(&node, &node.0.upgrade().unwrap()));
    /// ```
    #[track_caller]
    pub fn new_cyclic<F>(data_fn: F) -> Arc<T>
    where
        F: FnOnce(&Weak<T>) -> T,
    {
        let handle = Handle::new(0, size_of::<T>(), Site::caller());
        let value = Real::new_cyclic(|weak| {
            let weak = Weak::counted(weak.clone(), handle.share(handle.site));
            let value = data_fn(&weak);
            // It becomes the weak reference that all strong references own together.
            weak.forget_count();
            value
        });
        if let Some(counts) = handle.here() {
            counts.begin();
        }
        Arc { value: Some(value), handle }
    }

    /// Returns the first reference to `value`, which is never moved, as [`std::sync::Arc::pin`].
    ///
    /// ```
    /// assert_eq!(*raddle::sync::counted::Arc::pin(7), 7);
    /// ```
    #[track_caller]
    pub fn pin(data: T) -> Pin<Arc<T>> {
        // SAFETY: the value is in a `std::sync::Arc`, which does not move it. A pinned reference gives out neither the value
        // nor an unpinned reference to it.
        unsafe { Pin::new_unchecked(Arc::new(data)) }
    }

    /// Returns the value if this is the only strong reference, as [`std::sync::Arc::try_unwrap`].
    ///
    /// If several threads call it at the same time, all may fail. [`Arc::into_inner`] returns the value to one of them.
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let first = Arc::new(7);
    /// let second = first.clone();
    /// let first = Arc::try_unwrap(first).unwrap_err();
    /// drop(second);
    /// assert_eq!(Arc::try_unwrap(first), Ok(7));
    /// ```
    ///
    /// # Errors
    /// Returns the reference if there are other strong references.
    #[track_caller]
    pub fn try_unwrap(mut this: Arc<T>) -> Result<T, Arc<T>> {
        let Some(counts) = this.handle.here() else {
            return Real::try_unwrap(taken(&mut this.value)).map_err(|value| {
                this.value = Some(value);
                this
            });
        };
        if !counts.drop_last() {
            return Err(this);
        }
        let mut release = this.begin_drop(Stage::Last, Site::caller());
        release.count();
        let inner = Real::try_unwrap(taken(&mut release.value));
        drop(release);
        // There are other references only if threads that raddle does not control have cloned one.
        inner.map_err(|value| Arc { value: Some(value), handle: Handle::uncounted() })
    }

    /// Drops the reference, and returns the value if it was the last strong reference, as
    /// [`std::sync::Arc::into_inner`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let first = Arc::new(7);
    /// let second = first.clone();
    /// assert_eq!(Arc::into_inner(first), None);
    /// assert_eq!(Arc::into_inner(second), Some(7));
    /// ```
    #[track_caller]
    pub fn into_inner(mut this: Arc<T>) -> Option<T> {
        let mut release = this.begin_drop(Stage::Counted, Site::caller());
        let is_last = release.count();
        let inner = Real::into_inner(taken(&mut release.value));
        drop(release);
        inner.filter(|_| is_last)
    }

    /// Returns the value, or a clone if there are other strong references, as [`std::sync::Arc::unwrap_or_clone`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let first = Arc::new("a".to_owned());
    /// let second = first.clone();
    /// assert_eq!(Arc::unwrap_or_clone(first), Arc::unwrap_or_clone(second));
    /// ```
    #[track_caller]
    pub fn unwrap_or_clone(this: Arc<T>) -> T
    where
        T: Clone,
    {
        match Arc::try_unwrap(this) {
            Ok(value) => value,
            Err(shared) => T::clone(&shared),
        }
    }
}

impl<T: Clone> Arc<T> {
    /// Returns the value, after replacing it by a clone if there are other strong references, as
    /// [`std::sync::Arc::make_mut`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let mut first = Arc::new(7);
    /// let second = first.clone();
    /// *Arc::make_mut(&mut first) += 1;
    /// assert_eq!((*first, *second), (8, 7));
    /// ```
    #[track_caller]
    pub fn make_mut(this: &mut Arc<T>) -> &mut T {
        let site = Site::caller();
        if let Some(counts) = this.handle.here() {
            match counts.claim() {
                Owner::Several => *this = Arc::count(Real::new(T::clone(this)), site),
                Owner::CallerUncounted => {
                    // No thread may see a reference without a value, so there is no operation in between.
                    let value = Real::unwrap_or_clone(taken(&mut this.value));
                    let mut old = std::mem::replace(this, Arc::count(Real::new(value), site));
                    drop(old.begin_drop(Stage::Exclusive, site));
                }
                Owner::Caller => {}
            }
        }
        // In the run of the counts this is now the only reference, so nothing is cloned.
        Real::make_mut(present(&mut this.value))
    }
}

impl<T: ?Sized> Arc<T> {
    /// Returns the first counted reference to the value of `std`. It may be a `dyn Trait` or a slice.
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let words: std::sync::Arc<dyn Fn() -> u32 + Send + Sync> = std::sync::Arc::new(|| 7);
    /// let counted = Arc::from_std(words);
    /// assert_eq!(counted.clone()(), 7);
    /// ```
    ///
    /// # Panics
    /// Panics if there are other references, strong or weak, which would not be counted.
    #[track_caller]
    pub fn from_std(mut std: std::sync::Arc<T>) -> Arc<T> {
        assert!(
            Real::get_mut(&mut std).is_some(),
            "`Arc::from_std` takes the only reference to a value; other references would not be counted"
        );
        Arc::count(std, Site::caller())
    }

    /// Returns the value, or `None` if there are other references, strong or weak, as
    /// [`std::sync::Arc::get_mut`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let mut first = Arc::new(7);
    /// *Arc::get_mut(&mut first).unwrap() += 1;
    /// let second = first.clone();
    /// assert_eq!(Arc::get_mut(&mut first), None);
    /// assert_eq!(*second, 8);
    /// ```
    #[track_caller]
    pub fn get_mut(this: &mut Arc<T>) -> Option<&mut T> {
        match this.handle.here() {
            Some(counts) if !counts.is_unique() => None,
            Some(_) | None => Real::get_mut(present(&mut this.value)),
        }
    }

    /// Returns the number of strong references, as [`std::sync::Arc::strong_count`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let first = Arc::new(7);
    /// let _second = first.clone();
    /// assert_eq!(Arc::strong_count(&first), 2);
    /// ```
    #[track_caller]
    pub fn strong_count(this: &Arc<T>) -> usize {
        match this.handle.here() {
            Some(counts) => counts.strong(),
            None => Real::strong_count(this.value()),
        }
    }

    /// Returns the number of weak references, as [`std::sync::Arc::weak_count`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let strong = Arc::new(7);
    /// let _weak = Arc::downgrade(&strong);
    /// assert_eq!(Arc::weak_count(&strong), 1);
    /// ```
    #[track_caller]
    pub fn weak_count(this: &Arc<T>) -> usize {
        match this.handle.here() {
            Some(counts) => counts.weak(),
            None => Real::weak_count(this.value()),
        }
    }

    /// Returns a reference that does not keep the value alive, as [`std::sync::Arc::downgrade`].
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
    pub fn downgrade(this: &Arc<T>) -> Weak<T> {
        if let Some(counts) = this.handle.here() {
            counts.downgrade();
        }
        Weak::counted(Real::downgrade(this.value()), this.handle.share(Site::caller()))
    }

    /// Returns whether both refer to the same value, as [`std::sync::Arc::ptr_eq`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let first = Arc::new(7);
    /// assert!(Arc::ptr_eq(&first, &first.clone()));
    /// assert!(!Arc::ptr_eq(&first, &Arc::new(7)));
    /// ```
    pub fn ptr_eq(this: &Arc<T>, other: &Arc<T>) -> bool {
        Real::ptr_eq(this.value(), other.value())
    }

    /// Returns a pointer to the value, as [`std::sync::Arc::as_ptr`].
    ///
    /// ```
    /// use raddle::sync::counted::Arc;
    ///
    /// let number = Arc::new(7);
    /// assert_eq!(Arc::as_ptr(&number), &*number);
    /// ```
    pub fn as_ptr(this: &Arc<T>) -> *const T {
        Real::as_ptr(this.value())
    }

    /// Returns the first counted reference to `value`, created at `site`.
    #[track_caller]
    fn count(value: Real<T>, site: Site) -> Arc<T> {
        let handle = Handle::new(1, size_of_val(&*value), site);
        Arc { value: Some(value), handle }
    }

    /// Begins to drop the reference, at `site` and from `stage` on.
    fn begin_drop(&mut self, stage: Stage, site: Site) -> Release<T> {
        let handle = std::mem::replace(&mut self.handle, Handle::uncounted());
        Release::new(self.value.take(), handle, stage, site)
    }

    fn value(&self) -> &Real<T> {
        self.value.as_ref().unwrap_or_else(|| dropped())
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// Converts the reference if the value is a `T`, as [`std::sync::Arc::downcast`].
    ///
    /// ```
    /// use std::any::Any;
    ///
    /// use raddle::sync::counted::Arc;
    ///
    /// let any: Arc<dyn Any + Send + Sync> = Arc::from_std(std::sync::Arc::new(7));
    /// let any = any.downcast::<String>().unwrap_err();
    /// assert_eq!(*any.downcast::<i32>().unwrap(), 7);
    /// ```
    ///
    /// # Errors
    /// Returns the reference if the value is of another type.
    pub fn downcast<T: Any + Send + Sync>(mut self) -> Result<Arc<T>, Arc<dyn Any + Send + Sync>> {
        match taken(&mut self.value).downcast() {
            Ok(value) => {
                let handle = std::mem::replace(&mut self.handle, Handle::uncounted());
                Ok(Arc { value: Some(value), handle })
            }
            Err(value) => {
                self.value = Some(value);
                Err(self)
            }
        }
    }
}

impl<T: ?Sized> Clone for Arc<T> {
    #[track_caller]
    fn clone(&self) -> Arc<T> {
        if let Some(counts) = self.handle.here() {
            counts.add_strong();
        }
        Arc { value: Some(self.value().clone()), handle: self.handle.share(Site::caller()) }
    }
}

impl<T: ?Sized> Drop for Arc<T> {
    fn drop(&mut self) {
        if self.value.is_some() {
            drop(self.begin_drop(Stage::Counted, self.handle.site));
        }
    }
}

fn taken<R>(value: &mut Option<R>) -> R {
    value.take().unwrap_or_else(|| dropped())
}

fn present<R>(value: &mut Option<R>) -> &mut R {
    value.as_mut().unwrap_or_else(|| dropped())
}

#[cold]
fn dropped() -> ! {
    unreachable!("raddle invariant broken: a reference was used after it was dropped")
}
