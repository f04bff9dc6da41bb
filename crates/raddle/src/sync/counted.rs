//! References whose numbers count, as [`std::sync::Arc`] and [`std::sync::Weak`].
//!
//! [`raddle::sync::Arc`](crate::sync::Arc) is `std`'s: to clone and to drop it is no operation, and
//! threads come and go with their references between the operations there are. That is all that most programs
//! need. One that *asks* how many references there are, by [`Arc::strong_count`], [`Arc::get_mut`],
//! [`Arc::try_unwrap`], [`Arc::into_inner`], [`Arc::make_mut`] or [`Weak::upgrade`], depends on the order in which
//! they come and go, and is tested for all of these orders with the types of this module:
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
//!     assert!(is_mine || is_theirs, "nobody has it"); // use `into_inner`
//! });
//! assert!(report.failure().is_some());
//! ```
//!
//! Inside a check each clone, drop, downgrade, upgrade and question about a count is what it is in `std`: one or
//! a few operations on two atomic variables, the strong count and the weak count, with `std`'s orderings. That
//! makes for more executions, and so is something to ask for. Two that drop are in conflict: which
//! of them was the last matters.
//!
//! - A value that was made outside a check has no counts in it: its references are `std`'s, and
//!   coming and going is no operation. So it is for a value of an execution after that, in
//!   another or outside.
//! - An `Arc<T>` does not become an `Arc<dyn Trait>` or `Arc<[T]>` by itself, as only `std`'s own can on stable Rust.
//!   [`Arc::from_std`] and `From<Box<T>>` make such. Nor can it be the type of `self` in a method.
//! - There are no `into_raw`, `from_raw`, `increment_strong_count` and the like: a raw pointer carries no counts.
//! - The end of a reference stands in a report with the line where the reference was made, because a
//!   destructor has no line of its own.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc as Real;

use raddle_core::Site;

use counts::{Handle, Owner};
use ending::{Ending, Stage};

mod convert;
mod counts;
mod ending;
mod traits;
mod weak;

pub use weak::Weak;

/// A reference to a value that others may have too, as [`std::sync::Arc`].
///
/// ```
/// use raddle::sync::counted::Arc;
///
/// let first = Arc::new(7);
/// let second = first.clone();
/// assert_eq!((*second, Arc::strong_count(&first)), (7, 2));
/// ```
pub struct Arc<T: ?Sized> {
    /// Nothing only while its end is under way. Invariant: in the run that the counts belong to, references come
    /// and go directly after they are counted, so that what is allowed by the counts can be done. Whether the
    /// memory is there depends on this alone.
    value: Option<Real<T>>,
    handle: Handle,
}

impl<T> Arc<T> {
    /// The first reference to `value`, as [`std::sync::Arc::new`].
    ///
    /// ```
    /// assert_eq!(*raddle::sync::counted::Arc::new(7), 7);
    /// ```
    #[track_caller]
    pub fn new(value: T) -> Arc<T> {
        Arc::count(Real::new(value), Site::caller())
    }

    /// The first reference to a value that refers to itself, as [`std::sync::Arc::new_cyclic`].
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
        let handle = Handle::new(0, Site::caller());
        let value = Real::new_cyclic(|weak| {
            let weak = Weak::counted(weak.clone(), handle.share(handle.site));
            let value = data_fn(&weak);
            // It becomes the one that all strong references have together.
            weak.discount();
            value
        });
        if let Some(counts) = handle.here() {
            counts.begin();
        }
        Arc { value: Some(value), handle }
    }

    /// The first reference to `value`, which is never moved, as [`std::sync::Arc::pin`].
    ///
    /// ```
    /// assert_eq!(*raddle::sync::counted::Arc::pin(7), 7);
    /// ```
    #[track_caller]
    pub fn pin(data: T) -> Pin<Arc<T>> {
        // SAFETY: as for `std::sync::Arc`, which the value is in: a pinned reference gives neither the value nor
        // itself away, and another one to the same value, which would, cannot be made of it.
        unsafe { Pin::new_unchecked(Arc::new(data)) }
    }

    /// The value, if this is the only strong reference, as [`std::sync::Arc::try_unwrap`].
    ///
    /// If several threads try at the same time, all may fail; [`Arc::into_inner`] gives it to one of them.
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
    /// If there are others.
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
        let mut ending = this.end(Stage::Last, Site::caller());
        ending.count();
        let inner = Real::try_unwrap(taken(&mut ending.value));
        drop(ending);
        // Others have it only if threads that raddle does not control made references of their own.
        inner.map_err(|value| Arc { value: Some(value), handle: Handle::uncounted() })
    }

    /// The value, if this is the last strong reference, which is gone in any case, as
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
        let mut ending = this.end(Stage::Counted, Site::caller());
        let is_last = ending.count();
        let inner = Real::into_inner(taken(&mut ending.value));
        drop(ending);
        inner.filter(|_| is_last)
    }

    /// The value, or a clone if there are other strong references, as [`std::sync::Arc::unwrap_or_clone`].
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
    /// The value, to be changed; a clone of it if there are other strong references, as
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
                Owner::CallerOfLate => {
                    // Nobody must come to see a reference without a value, so there is no operation in between.
                    let value = Real::unwrap_or_clone(taken(&mut this.value));
                    let mut old = std::mem::replace(this, Arc::count(Real::new(value), site));
                    drop(old.end(Stage::Alone, site));
                }
                Owner::Caller => {}
            }
        }
        // In the execution that it belongs to it is now the only one, and nothing is cloned.
        Real::make_mut(present(&mut this.value))
    }
}

impl<T: ?Sized> Arc<T> {
    /// The first counted reference to the value of a reference of `std`. This is how to make one to a `dyn Trait`
    /// or a slice.
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
    /// If there are other references, strong or weak, which nobody would count.
    #[track_caller]
    pub fn from_std(mut std: std::sync::Arc<T>) -> Arc<T> {
        assert!(
            Real::get_mut(&mut std).is_some(),
            "`Arc::from_std` was given one of several references; the others would not be counted"
        );
        Arc::count(std, Site::caller())
    }

    /// The value, to be changed, if there is no other reference, strong or weak, as
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

    /// How many strong references there are, as [`std::sync::Arc::strong_count`].
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

    /// How many weak references there are, as [`std::sync::Arc::weak_count`].
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

    /// A reference that does not keep the value, as [`std::sync::Arc::downgrade`].
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

    /// Whether both are references to the same value, as [`std::sync::Arc::ptr_eq`].
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

    /// A pointer to the value, as [`std::sync::Arc::as_ptr`].
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

    /// The first reference to `value`, which has no other, made at `site`.
    fn count(value: Real<T>, site: Site) -> Arc<T> {
        Arc { value: Some(value), handle: Handle::new(1, site) }
    }

    /// Begins the end of the reference, at `site`, which has come so far already.
    fn end(&mut self, stage: Stage, site: Site) -> Ending<T> {
        let handle = std::mem::replace(&mut self.handle, Handle::uncounted());
        Ending::new(self.value.take(), handle, stage, site)
    }

    fn value(&self) -> &Real<T> {
        self.value.as_ref().unwrap_or_else(|| ended())
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// The same reference, if the value is a `T`, as [`std::sync::Arc::downcast`].
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
    /// If it is not.
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
            drop(self.end(Stage::Counted, self.handle.site));
        }
    }
}

fn taken<R>(value: &mut Option<R>) -> R {
    value.take().unwrap_or_else(|| ended())
}

fn present<R>(value: &mut Option<R>) -> &mut R {
    value.as_mut().unwrap_or_else(|| ended())
}

#[cold]
fn ended() -> ! {
    unreachable!("raddle invariant broken: a reference was used after its end")
}
